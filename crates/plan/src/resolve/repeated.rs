//! Check for artifact files and SONAMEs that two packages ship, although both can be installed
//! together.

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
struct ShippedFile<'f, 'a> {
    owner: &'f Filled<'a>,
    path: &'f RelPath,
    item: Item<'a>,
    rule: &'a Place,
}

#[derive(PartialEq, Eq, Hash)]
enum DuplicateKey<'f> {
    File(EntryIndex),
    Soname(&'f str),
}

/// Package and artifact of both files.
type Pair<'f> = [(&'f PackageName, &'f ArtifactName); 2];

struct Duplicates<'f, 'a> {
    first: [ShippedFile<'f, 'a>; 2],
    /// Sizes of the files of the second package.
    files: BTreeMap<&'f RelPath, u64>,
    /// File names of the libraries among them.
    libraries: BTreeSet<&'f str>,
}

pub(super) fn check(catalog: &Catalog, filled: &[Filled<'_>]) -> Problems {
    let mut duplicates: BTreeMap<Pair<'_>, Duplicates<'_, '_>> = BTreeMap::new();
    let mut earlier_files: HashMap<DuplicateKey<'_>, Vec<ShippedFile<'_, '_>>> = HashMap::new();
    let shared = artifacts_of_several_directories(filled);
    let searched = rpath_directories(filled);
    for file in filled.iter().flat_map(shipped_files) {
        for key in keys(catalog, &file, &shared, &searched) {
            let earlier = earlier_files.entry(key).or_default();
            // For each file, because the lines of its components have separate reasons.
            let is_duplicate = |other: &&ShippedFile<'_, '_>| {
                can_coexist(other, &file) && !has_reason(other) && !has_reason(&file)
            };
            if let Some(other) = earlier.iter().find(is_duplicate) {
                record(&mut duplicates, [*other, file]);
            }
            earlier.push(file);
        }
    }
    let mut problems = Problems::new();
    for duplicates in duplicates.values() {
        problems.push(problem(duplicates));
    }
    problems
}

fn shipped_files<'f, 'a>(owner: &'f Filled<'a>) -> impl Iterator<Item = ShippedFile<'f, 'a>> {
    owner.runtime.placed.iter().filter_map(move |(path, (placed, rule))| match placed {
        Placed::File(item) => Some(ShippedFile { owner, path, item: *item, rule }),
        Placed::Stub { .. } | Placed::Forward(_) => None,
    })
}

fn keys<'f>(
    catalog: &Catalog,
    file: &ShippedFile<'f, '_>,
    shared: &BTreeSet<&ArtifactName>,
    searched: &BTreeSet<(&PackageName, &str)>,
) -> Vec<DuplicateKey<'f>> {
    let mut keys = Vec::new();
    // A link that became a file has no entry of its own in the artifact: its target is compared.
    let is_own_path = file.item.entry.path == *file.path;
    if is_own_path && shared.contains(&file.item.artifact.id.name) {
        keys.extend(EntryIndex::new(catalog, &file.item).map(DuplicateKey::File));
    }
    let has_its_soname = shared_library(&file.item)
        .is_some_and(|facts| facts.soname.as_deref() == Some(file.path.file_name()));
    let directory = file.path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory);
    if has_its_soname && searched.contains(&(home(file.owner.dist.package), directory)) {
        keys.push(DuplicateKey::Soname(file.path.file_name()));
    }
    keys
}

/// Returns the artifacts of packages with different platform directories.
pub(super) fn artifacts_of_several_directories<'a>(
    filled: &[Filled<'a>],
) -> BTreeSet<&'a ArtifactName> {
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

/// Returns the package with the platform directory.
fn home(package: &Package) -> &PackageName {
    package.overlay.as_ref().map_or(&package.name.value, |owner| &owner.value)
}

/// Returns directories that an `rpath` line searches, with their packages.
fn rpath_directories<'a>(filled: &[Filled<'a>]) -> BTreeSet<(&'a PackageName, &'a str)> {
    let rules = filled.iter().flat_map(|f| &f.dist.package.rpaths);
    rules.map(|rule| (&rule.package.value, rule.directory.as_str())).collect()
}

/// Returns whether two files can be installed together, in different platform directories.
/// [`super::ownership`] checks equal paths.
fn can_coexist(one: &ShippedFile<'_, '_>, other: &ShippedFile<'_, '_>) -> bool {
    let (a, b) = (&one.owner.dist, &other.owner.dist);
    a.package.name.value != b.package.name.value
        && a.goes_with(b)
        && a.platform_dir != b.platform_dir
        && (a.relies_on(b) || b.relies_on(a))
}

fn record<'f, 'a>(
    duplicates: &mut BTreeMap<Pair<'f>, Duplicates<'f, 'a>>,
    files: [ShippedFile<'f, 'a>; 2],
) where
    'a: 'f,
{
    let pair = files.map(|f| (&f.owner.dist.package.name.value, &f.item.artifact.id.name));
    let entry = duplicates.entry(pair).or_insert_with(|| Duplicates {
        first: files,
        files: BTreeMap::new(),
        libraries: BTreeSet::new(),
    });
    let [_, second] = files;
    entry.files.insert(second.path, second.item.entry.size());
    if shared_library(&second.item).is_some_and(|f| f.soname.is_some()) {
        entry.libraries.insert(second.path.file_name());
    }
}

fn has_reason(file: &ShippedFile<'_, '_>) -> bool {
    rule(file.owner.dist.package, &file.item).is_some_and(|r| r.repeats.is_some())
}

pub(super) fn rule<'a>(package: &'a Package, item: &Item<'_>) -> Option<&'a ArtifactRule> {
    let id = &item.artifact.id;
    package.artifacts.iter().find(|rule| {
        rule.name.value == id.name && rule.components.iter().any(|c| c.value == id.component)
    })
}

fn problem(duplicates: &Duplicates<'_, '_>) -> Problem {
    let [one, other] = &duplicates.first;
    let names = duplicates.first.map(|f| f.owner.dist.package.name.value.clone());
    let artifacts = duplicates.first.map(|f| f.item.artifact.id.name.clone());
    let (count, size) = (duplicates.files.len(), human_size(duplicates.files.values().sum()));
    let subject = if artifacts[0] == artifacts[1] {
        format!("{} of artifact `{}` ({size})", counted(count, "file"), artifacts[0])
    } else {
        let names = if count == 1 { "the same name" } else { "the same names" };
        format!("{} ({size}) under {names}", counted(count, "library"))
    };
    let example = duplicates.libraries.first();
    let example = example.map(|name| format!(", such as `{name}`")).unwrap_or_default();
    let location =
        |file: &ShippedFile<'_, '_>| format!("`{}/{}`", file.owner.dist.platform_dir, file.path);
    Problem::error(
        Code::ShippedTwice,
        format!(
            "packages `{}` and `{}` can be installed together, but both ship {subject}{example}",
            names[0], names[1]
        ),
    )
    .label(one.rule, location(one))
    .label(other.rule, location(other))
    .help(
        "take the artifact in one package, or divide it with include and exclude; if both need the \
         files, add a reason to one of the artifact lines: repeats=\"…\"",
    )
}
