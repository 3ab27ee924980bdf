use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::links::Filled;
use super::super::place::Placed;
use super::super::select::Refusal;
use super::super::unused_rules;
use super::cause::{Cause, Causes};
use super::group::{self, Group};
use super::{Left, allowed, remedy};
use crate::Unowned;
use base::names::{ArtifactName, Component, PackageName};
use base::source::{Capped, Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use binary::BinaryKind;
use catalog::Catalog;
use manifest::Manifest;

const FILES: usize = 2;
const NAMES: usize = 4;
const OTHERS: usize = 2;

pub(in crate::resolve) struct Ownership<'r, 'a> {
    pub manifest: &'a Manifest,
    pub catalog: &'a Catalog,
    pub filled: &'r [Filled<'a>],
    pub allow: bool,
    /// Unowned files that follow from these are not reported again.
    pub known: &'r Problems,
}

pub(in crate::resolve) fn check<'a>(
    ownership: &Ownership<'_, 'a>,
    unowned: &[Left<'a>],
    causes: &mut Causes<'a>,
) -> (Vec<Unowned>, Problems) {
    let listed = unowned.iter().map(|left| listed(left, causes)).collect();
    let mut problems = allowed::warnings(ownership.manifest, unowned);
    let proposed = ownership.proposed();
    let at_fault = unowned.iter().filter(|left| left.allowed.is_none()).map(|left| left.item);
    let at_fault = at_fault.filter(|item| !proposed.contains(&item.artifact.id.name));
    let mut groups = group::groups(at_fault, causes);
    let blamed = ownership.blamed();
    groups.retain(|group| !lines(&group.cause).any(|place| blamed.contains(&position(place))));
    if groups.is_empty() || ownership.lacks_targets() {
        return (listed, problems);
    }
    let shippers = shippers(ownership.filled);
    if ownership.allow {
        problems.push(warning(&groups));
    } else {
        let mut capped = Capped::default();
        for group in &groups {
            capped.report(|| error(ownership.manifest, group, &shippers));
        }
        problems.extend(capped.into_problems());
    }
    (listed, problems)
}

fn listed<'a>(left: &Left<'a>, causes: &mut Causes<'a>) -> Unowned {
    let mut cause =
        || causes.causes(&left.item).first().map(|cause| cause.describe(&left.item.artifact.id));
    let reason = match left.allowed {
        Some(rule) => format!("allowed by {}: {}", rule.glob.place, rule.reason),
        None => cause().unwrap_or_default(),
    };
    Unowned { origin: left.item.origin(), size: left.item.entry.size(), reason }
}

impl<'a> Ownership<'_, 'a> {
    fn proposed(&self) -> BTreeSet<&'a ArtifactName> {
        let packages = self.manifest.packages.values();
        packages.flat_map(|package| unused_rules::proposed(self.catalog, package)).collect()
    }

    /// Files of missing targets are necessarily unowned.
    fn lacks_targets(&self) -> bool {
        let codes = [Code::UnknownTarget, Code::MissingTarget];
        let mut errors = self.known.iter().filter(|problem| problem.is_error());
        errors.any(|problem| codes.contains(&problem.code()) && problem.labels().is_empty())
    }

    fn blamed(&self) -> HashSet<(String, usize)> {
        let errors = self.known.iter().filter(|problem| problem.is_error());
        errors.flat_map(Problem::labels).map(|(place, _)| position(place)).collect()
    }
}

fn position(place: &Place) -> (String, usize) {
    (place.source().name().to_owned(), place.start())
}

fn lines<'a>(cause: &Cause<'a>) -> impl Iterator<Item = &'a Place> {
    let includes = match cause {
        Cause::Refused(of, Refusal::NotIncluded(_)) => Some(&of.includes),
        _ => None,
    };
    cause
        .place()
        .into_iter()
        .chain(includes.into_iter().flat_map(|i| i.iter()).map(|r| &r.glob.place))
}

fn shippers<'a>(filled: &[Filled<'a>]) -> BTreeMap<&'a ArtifactName, &'a PackageName> {
    let mut shippers = BTreeMap::new();
    for one in filled {
        for (placed, _) in one.runtime.placed.values() {
            if let Placed::File(item) = placed
                && item.entry.binary().is_some_and(|facts| facts.kind == BinaryKind::Library)
            {
                shippers.entry(&item.artifact.id.name).or_insert(&one.dist.package.name.value);
            }
        }
    }
    shippers
}

fn warning(groups: &[Group<'_>]) -> Problem {
    let files: usize = groups.iter().map(|group| group.items.len()).sum();
    let bytes = human_size(groups.iter().map(Group::size).sum());
    let verb = if files == 1 { "is" } else { "are" };
    let message = format!(
        "{} ({bytes}) {verb} in no package; allowed by --allow unowned-files",
        counted(files, "file")
    );
    let labelled = groups.iter().filter_map(|group| Some((group, group.cause.place()?)));
    let problem = Problem::warning(Code::UnownedFiles, message).help(
        "take them in a package, or drop them with a reason; run without it for the \
         lines to write",
    );
    labelled.take(NAMES).fold(problem, |problem, (group, place)| {
        problem.label(place, label(&group.cause, Some(group)))
    })
}

fn error(
    manifest: &Manifest,
    group: &Group<'_>,
    shippers: &BTreeMap<&ArtifactName, &PackageName>,
) -> Problem {
    let verb = if group.items.len() == 1 { "is" } else { "are" };
    let message = format!("{} {verb} in no package: {}", subject(group, shippers), first(group));
    let mut problem = Problem::error(Code::UnownedFiles, message);
    if let Some(place) = group.cause.place() {
        problem = problem.label(place, label(&group.cause, Some(group)));
    }
    if let Cause::OtherFamily { room: Some(room), .. } = group.cause {
        let text = format!("no line of `{}` takes {}", room.name.value, group.pronoun());
        problem = problem.label(&room.name.place, text);
    }
    for other in group.others.iter().take(OTHERS) {
        if let Some(place) = other.place() {
            problem = problem.label(place, label(other, None));
        }
    }
    let is_shipped = group.artifacts().iter().any(|name| shippers.contains_key(name));
    problem.help(remedy::text(group, manifest, is_shipped && !group.families().is_empty()))
}

fn subject(group: &Group<'_>, shippers: &BTreeMap<&ArtifactName, &PackageName>) -> String {
    let artifacts = group.artifacts();
    let families = group.families();
    let kind = if families.is_empty() {
        String::new()
    } else {
        format!(" with device code for {}", first_names(families.iter().copied()))
    };
    let noun = match artifacts.len() {
        1 => "artifact",
        _ => "artifacts",
    };
    let names = first_names(artifacts.iter().map(|name| name.as_str()));
    let owners: BTreeSet<&str> =
        artifacts.iter().filter_map(|name| shippers.get(*name)).map(|p| p.as_str()).collect();
    let whose = match owners.first() {
        Some(first)
            if owners.len() == 1 && artifacts.iter().all(|name| shippers.contains_key(*name)) =>
        {
            format!(", the libraries of which are in package `{first}`,")
        }
        _ => String::new(),
    };
    let is_dev = families.is_empty() && group.component() == Some(Component::Dev);
    let files = counted(group.items.len(), if is_dev { "development file" } else { "file" });
    format!("{files} ({}){kind} of {noun} {names}{whose}", human_size(group.size()))
}

fn first_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    let shown: Vec<String> = names.take(NAMES).map(|name| format!("`{name}`")).collect();
    match count.saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn first(group: &Group<'_>) -> String {
    let shown = group.items.iter().take(FILES);
    let shown: Vec<String> =
        shown.map(|item| format!("`{}` of {}", item.entry.path, item.artifact.id)).collect();
    match group.items.len().saturating_sub(FILES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn label(cause: &Cause<'_>, group: Option<&Group<'_>>) -> String {
    let files = group.map_or_else(|| "some files".to_owned(), |g| counted(g.items.len(), "file"));
    match *cause {
        Cause::Refused(of, Refusal::Excluded(_)) => {
            format!("excludes {files} from `{}`", of.name.value)
        }
        Cause::Refused(of, Refusal::WithoutArtifact(_) | Refusal::WithoutComponent(_)) => {
            format!("leaves {files} out of `{}`", of.name.value)
        }
        Cause::Refused(of, Refusal::NotIncluded(_)) => {
            format!("no include line of `{}` matches {files}", of.name.value)
        }
        Cause::Refused(_, Refusal::OtherComponents(_)) => "names other components".to_owned(),
        Cause::NotInherited { of, .. } => format!("`{}` is not among these", of.name.value),
        Cause::OtherTarget(..) => "applies in another mode or on another system".to_owned(),
        Cause::OtherFamily { .. } => "takes artifacts of other targets".to_owned(),
        Cause::Unnamed { .. } => "no line of this package takes it".to_owned(),
    }
}
