//! Check for duplicate artifact files or SONAMEs in packages that can be installed together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::entries::EntryIndex;
use super::install_tree::Item;
use super::links::Filled;
use super::place::{Placed, shared_library};
use base::names::{ArtifactName, PackageName, RelPath};
use base::source::{Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use catalog::Catalog;
use manifest::{ArtifactRule, Package};

#[derive(Clone, Copy)]
struct Copy<'f, 'a> {
    owner: &'f Filled<'a>,
    path: &'f RelPath,
    item: Item<'a>,
    rule: &'a Place,
}

#[derive(PartialEq, Eq, Hash)]
enum Same<'f> {
    File(EntryIndex),
    Soname(&'f str),
}

type Parties<'f> = [(&'f PackageName, &'f ArtifactName); 2];

struct Twice<'f, 'a> {
    first: [Copy<'f, 'a>; 2],
    files: BTreeMap<&'f RelPath, u64>,
    sonames: BTreeSet<&'f str>,
}

pub(super) fn check(catalog: &Catalog, filled: &[Filled<'_>]) -> Problems {
    let mut twice: BTreeMap<Parties<'_>, Twice<'_, '_>> = BTreeMap::new();
    let mut earlier_copies: HashMap<Same<'_>, Vec<Copy<'_, '_>>> = HashMap::new();
    let (shared, searched) = (in_several(filled), searched(filled));
    for copy in filled.iter().flat_map(copies) {
        for same in keys(catalog, &copy, &shared, &searched) {
            let earlier = earlier_copies.entry(same).or_default();
            if let Some(other) = earlier.iter().find(|other| meet(other, &copy)) {
                note(&mut twice, [*other, copy]);
            }
            earlier.push(copy);
        }
    }
    let mut problems = Problems::new();
    for twice in twice.values().filter(|twice| !twice.first.iter().any(|c| is_meant(c))) {
        problems.push(problem(twice));
    }
    problems
}

fn copies<'f, 'a>(owner: &'f Filled<'a>) -> impl Iterator<Item = Copy<'f, 'a>> {
    owner.runtime.placed.iter().filter_map(move |(path, (placed, rule))| match placed {
        Placed::File(item) => Some(Copy { owner, path, item: *item, rule }),
        Placed::Stub { .. } | Placed::Forward(_) => None,
    })
}

fn keys<'f>(
    catalog: &Catalog,
    copy: &Copy<'f, '_>,
    shared: &BTreeSet<&ArtifactName>,
    searched: &BTreeSet<(&PackageName, &str)>,
) -> Vec<Same<'f>> {
    let mut keys = Vec::new();
    // A path made from a link is not the artifact's file.
    let is_own_path = copy.item.entry.path == *copy.path;
    if is_own_path && shared.contains(&copy.item.artifact.id.name) {
        keys.extend(EntryIndex::new(catalog, &copy.item).map(Same::File));
    }
    let named = shared_library(&copy.item)
        .is_some_and(|facts| facts.soname.as_deref() == Some(copy.path.file_name()));
    let directory = copy.path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory);
    if named && searched.contains(&(home(copy.owner.dist.package), directory)) {
        keys.push(Same::Soname(copy.path.file_name()));
    }
    keys
}

pub(super) fn in_several<'a>(filled: &[Filled<'a>]) -> BTreeSet<&'a ArtifactName> {
    let mut homes_by_artifact: BTreeMap<&ArtifactName, BTreeSet<&PackageName>> = BTreeMap::new();
    for package in filled.iter().map(|f| f.dist.package) {
        for rule in &package.artifacts {
            homes_by_artifact.entry(&rule.name.value).or_default().insert(home(package));
        }
    }
    homes_by_artifact
        .into_iter()
        .filter(|(_, homes)| homes.len() > 1)
        .map(|(name, _)| name)
        .collect()
}

fn home(package: &Package) -> &PackageName {
    package.overlay.as_ref().map_or(&package.name.value, |owner| &owner.value)
}

fn searched<'a>(filled: &[Filled<'a>]) -> BTreeSet<(&'a PackageName, &'a str)> {
    let rules = filled.iter().flat_map(|f| &f.dist.package.rpaths);
    rules.map(|rule| (&rule.package.value, rule.directory.as_str())).collect()
}

/// Both are installed, at different paths; [`super::ownership`] checks equal ones.
fn meet(one: &Copy<'_, '_>, other: &Copy<'_, '_>) -> bool {
    let (a, b) = (&one.owner.dist, &other.owner.dist);
    a.package.name.value != b.package.name.value
        && a.goes_with(b)
        && a.platform_dir != b.platform_dir
        && (a.relies_on(b) || b.relies_on(a))
}

fn note<'f, 'a>(twice: &mut BTreeMap<Parties<'f>, Twice<'f, 'a>>, pair: [Copy<'f, 'a>; 2])
where
    'a: 'f,
{
    let parties = pair.map(|c| (&c.owner.dist.package.name.value, &c.item.artifact.id.name));
    let entry = twice.entry(parties).or_insert_with(|| Twice {
        first: pair,
        files: BTreeMap::new(),
        sonames: BTreeSet::new(),
    });
    let [_, again] = pair;
    entry.files.insert(again.path, again.item.entry.size());
    if shared_library(&again.item).is_some_and(|f| f.soname.is_some()) {
        entry.sonames.insert(again.path.file_name());
    }
}

fn is_meant(copy: &Copy<'_, '_>) -> bool {
    rule(copy.owner.dist.package, &copy.item).is_some_and(|r| r.repeats.is_some())
}

pub(super) fn rule<'a>(package: &'a Package, item: &Item<'_>) -> Option<&'a ArtifactRule> {
    let id = &item.artifact.id;
    package.artifacts.iter().find(|rule| {
        rule.name.value == id.name && rule.components.iter().any(|c| c.value == id.component)
    })
}

fn problem(twice: &Twice<'_, '_>) -> Problem {
    let [one, other] = &twice.first;
    let names = twice.first.map(|c| c.owner.dist.package.name.value.clone());
    let artifacts = twice.first.map(|c| c.item.artifact.id.name.clone());
    let (count, size) = (twice.files.len(), human_size(twice.files.values().sum()));
    let subject = if artifacts[0] == artifacts[1] {
        format!("{} of artifact `{}` ({size})", counted(count, "file"), artifacts[0])
    } else {
        format!("{} ({size}) under one name", counted(count, "library"))
    };
    let such = twice.sonames.first().map(|s| format!(", such as `{s}`")).unwrap_or_default();
    let takes = |copy: &Copy<'_, '_>| format!("`{}/{}`", copy.owner.dist.platform_dir, copy.path);
    Problem::error(
        Code::ShippedTwice,
        format!(
            "packages `{}` and `{}` can be installed together, but both ship {subject}{such}",
            names[0], names[1]
        ),
    )
    .label(one.rule, takes(one))
    .label(other.rule, takes(other))
    .help(
        "take it in one of them, or split it with include and exclude; if both need it, add a \
         reason to one of the artifact lines: repeats=\"…\"",
    )
}
