//! Which entries of which artifacts a distribution takes, and by which rule.

use std::collections::{BTreeMap, BTreeSet};

use super::Absent;
use super::instance::Instance;
use super::view::Item;
use crate::catalog::{Artifact, ArtifactId, Catalog, Entry, EntryKind};
use crate::manifest::{Manifest, Package, PathRule, applies};
use crate::names::{ArtifactName, Component, Mode, RelPath};
use crate::source::{Place, Problem, Problems};

/// An entry with the rule that took it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected<'a> {
    pub item: Item<'a>,
    pub rule: &'a Place,
}

/// What a distribution takes, once a path, directories apart.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    pub files: BTreeMap<&'a RelPath, Selected<'a>>,
    pub directories: BTreeMap<&'a RelPath, Selected<'a>>,
    /// Paths that several artifacts supply with the same bytes.
    pub shared: Vec<(&'a RelPath, Vec<ArtifactId>)>,
    /// What an exclude rule keeps out: that rule, and the one that would have taken it.
    pub excluded: BTreeMap<&'a RelPath, (&'a Place, &'a Place)>,
    /// Every entry that counts as taken, those of shared paths included.
    pub owned: Vec<&'a Entry>,
}

impl Selection<'_> {
    /// What is kept out, as the plan says it.
    pub fn absent(&self) -> impl Iterator<Item = Absent> {
        self.excluded.iter().map(|(path, (exclude, rule))| Absent {
            path: (*path).clone(),
            reason: format!("excluded by {exclude}"),
            rule: rule.to_string(),
        })
    }
}

/// Which artifacts and globs matched something in any distribution of a package.
#[derive(Debug, Default)]
pub(super) struct Matched<'a> {
    artifacts: BTreeSet<(&'a ArtifactName, Component)>,
    globs: BTreeSet<*const PathRule>,
}

impl<'a> Matched<'a> {
    fn artifact(&mut self, id: &'a ArtifactId) {
        self.artifacts.insert((&id.name, id.component));
    }

    /// Whether something was taken of this component of an artifact.
    pub fn took(&self, name: &ArtifactName, component: Component) -> bool {
        self.artifacts.contains(&(name, component))
    }

    /// Whether the rule counted for any path.
    pub fn used(&self, rule: &PathRule) -> bool {
        self.globs.contains(&std::ptr::from_ref(rule))
    }
}

/// What a runtime distribution takes.
pub(super) fn runtime<'a>(
    catalog: &'a Catalog,
    instance: &Instance<'a>,
    mode: Mode,
    matched: &mut Matched<'a>,
    problems: &mut Problems,
) -> Selection<'a> {
    let mut taken = Taken::default();
    for artifact in catalog.artifacts.iter().filter(|a| instance.fits(&a.id)) {
        for rule in instance.package.artifacts.iter().filter(|r| applies(r.mode, mode) && *r.name == artifact.id.name) {
            if rule.components.iter().any(|c| **c == artifact.id.component) {
                matched.artifact(&artifact.id);
                take(artifact, &rule.name.place, instance.package, mode, matched, &mut taken);
            }
        }
    }
    own(taken, instance, problems)
}

/// What a devel distribution takes.
pub(super) fn devel<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    instance: &Instance<'a>,
    mode: Mode,
    matched: &mut Matched<'a>,
    problems: &mut Problems,
) -> Selection<'a> {
    let package = instance.package;
    let names = devel_artifacts(manifest, package, mode);
    let without = |id: &ArtifactId| {
        let component = |c: &crate::manifest::ComponentRule| applies(c.mode, mode) && *c.component == id.component;
        package.without_artifacts.iter().any(|a| **a == id.name) || package.without_components.iter().any(component)
    };
    let mut taken = Taken::default();
    for artifact in catalog.artifacts.iter().filter(|a| instance.fits(&a.id) && !without(&a.id)) {
        if let Some(rule) = names.get(&artifact.id.name) {
            matched.artifact(&artifact.id);
            take(artifact, rule, package, mode, matched, &mut taken);
        }
    }
    own(taken, instance, problems)
}

/// The artifacts that a devel package names or inherits, with the rule to blame.
fn devel_artifacts<'a>(manifest: &'a Manifest, package: &'a Package, mode: Mode) -> BTreeMap<&'a ArtifactName, &'a Place> {
    let inherited = package.artifacts_of.iter().filter_map(|p| manifest.packages.get(&p.value).map(|other| (other, &p.place)));
    let inherited = inherited.flat_map(|(other, place)| other.artifacts.iter().map(move |rule| (rule, place)));
    let own = package.artifacts.iter().map(|rule| (rule, &rule.name.place));
    inherited.chain(own).filter(|(rule, _)| applies(rule.mode, mode)).map(|(rule, place)| (&rule.name.value, place)).collect()
}

#[derive(Default)]
struct Taken<'a> {
    files: BTreeMap<&'a RelPath, Vec<Selected<'a>>>,
    directories: BTreeMap<&'a RelPath, Selected<'a>>,
    excluded: BTreeMap<&'a RelPath, (&'a Place, &'a Place)>,
}

fn take<'a>(artifact: &'a Artifact, rule: &'a Place, package: &'a Package, mode: Mode, matched: &mut Matched<'a>, taken: &mut Taken<'a>) {
    for entry in &artifact.entries {
        let item = Item { artifact, entry };
        let is_directory = matches!(entry.kind, EntryKind::Directory);
        match narrow(package, &entry.path, mode, matched) {
            Narrowed::In(_) if is_directory => _ = taken.directories.entry(&entry.path).or_insert(Selected { item, rule }),
            Narrowed::In(place) => taken.files.entry(&entry.path).or_default().push(Selected { item, rule: place.unwrap_or(rule) }),
            Narrowed::Excluded(exclude) if !is_directory => _ = taken.excluded.entry(&entry.path).or_insert((exclude, rule)),
            Narrowed::Excluded(_) | Narrowed::NotIncluded => {}
        }
    }
}

enum Narrowed<'a> {
    /// Taken; by an include rule, when there are any.
    In(Option<&'a Place>),
    Excluded(&'a Place),
    NotIncluded,
}

/// What the include and exclude rules say of a path; every rule that matches counts as used.
fn narrow<'a>(package: &'a Package, path: &RelPath, mode: Mode, matched: &mut Matched<'a>) -> Narrowed<'a> {
    let mut fits = |rules: &'a [PathRule]| {
        let mut first = None;
        for rule in rules.iter().filter(|r| applies(r.mode, mode) && r.glob.matches(path)) {
            matched.globs.insert(std::ptr::from_ref(rule));
            first = first.or(Some(&rule.glob.place));
        }
        first
    };
    let (included, excluded) = (fits(&package.includes), fits(&package.excludes));
    match (excluded, included) {
        (Some(place), _) => Narrowed::Excluded(place),
        (None, None) if package.includes.iter().any(|r| applies(r.mode, mode)) => Narrowed::NotIncluded,
        (None, place) => Narrowed::In(place),
    }
}

/// One entry for each path. Several are fine when they are the same; otherwise both artifacts are named.
fn own<'a>(taken: Taken<'a>, instance: &Instance<'a>, problems: &mut Problems) -> Selection<'a> {
    let mut selection = Selection { directories: taken.directories, excluded: taken.excluded, ..Selection::default() };
    for (path, candidates) in taken.files {
        // Of equal files one that may be executed counts: no program may lose that by its artifact's name.
        let Some(first) = candidates.iter().find(|c| c.item.entry.is_executable()).or(candidates.first()).copied() else { continue };
        if let Some(other) = candidates.iter().find(|c| !same(first.item.entry, c.item.entry)) {
            problems.push(conflict(instance, path, &first, other));
        } else if candidates.len() > 1 {
            selection.shared.push((path, candidates.iter().map(|c| c.item.artifact.id.clone()).collect()));
        }
        selection.owned.extend(candidates.iter().map(|c| c.item.entry));
        selection.files.insert(path, first);
    }
    selection
}

fn same(one: &Entry, other: &Entry) -> bool {
    match (&one.kind, &other.kind) {
        (EntryKind::File { size: a, .. }, EntryKind::File { size: b, .. }) => {
            std::ptr::eq(one, other) || a == b && one.sha256.is_some() && one.sha256 == other.sha256
        }
        (EntryKind::Symlink { target: a }, EntryKind::Symlink { target: b }) => a == b,
        _ => false,
    }
}

fn conflict(instance: &Instance<'_>, path: &RelPath, one: &Selected<'_>, other: &Selected<'_>) -> Problem {
    let (a, b) = (&one.item.artifact.id, &other.item.artifact.id);
    if a == b {
        let (from, and) = (&one.item.entry.base, &other.item.entry.base);
        let what = format!("artifact `{a}` supplies `{path}` of {} from `{from}` and from `{and}` with different content", instance.name);
        return Problem::error(what)
            .label(one.rule, "takes both")
            .help("one path can have one content: mend the build that installs it twice");
    }
    let problem = Problem::error(format!("artifacts `{a}` and `{b}` supply `{path}` of {} with different content", instance.name));
    let problem = if one.rule.to_string() == other.rule.to_string() {
        problem.label(one.rule, format!("takes it from `{a}` and from `{b}`"))
    } else {
        problem.label(one.rule, format!("takes it from `{a}`")).label(other.rule, format!("takes it from `{b}`"))
    };
    problem.help("one path can have one content: exclude it from one of the artifacts, or mend the build that installs it twice")
}
