use std::collections::{BTreeMap, BTreeSet};

use super::entries::EntrySet;
use super::install_tree::Item;
use super::links::Filled;
use super::place::Placed;
use super::select::{Refusal, Refusals};
use base::names::ArtifactName;
use base::source::{Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use binary::BinaryKind;
use catalog::{Artifact, Catalog, CatalogEntry, EntryKind};
use manifest::{ArtifactRule, Manifest};

struct Kept<'a> {
    exclude: &'a Place,
    line: &'a Place,
    artifact: &'a Artifact,
    first: &'a CatalogEntry,
    files: usize,
    size: u64,
}

/// Reports exclude lines that leave device code to devel packages, while their package ships the
/// artifact's libraries.
pub(super) fn check(
    manifest: &Manifest,
    catalog: &Catalog,
    filled: &[Filled<'_>],
    taken: &EntrySet<'_>,
    run: &EntrySet<'_>,
) -> Problems {
    let names = manifest.families.target_names();
    let alone = |item: &Item<'_>| taken.contains(item) && !run.contains(item);
    let has_code = |entry: &CatalogEntry| {
        matches!(entry.kind, EntryKind::File { .. })
            && !names.in_path(entry.path.as_str()).is_empty()
    };
    let mut problems = Problems::new();
    for owner in filled.iter().filter(|f| !f.dist.package.excludes.is_empty()) {
        let kept = kept(manifest, catalog, owner, |item| alone(item) && has_code(item.entry));
        for kept in kept.values() {
            problems.push(problem(owner, kept));
        }
    }
    problems
}

fn kept<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    owner: &'a Filled<'_>,
    counts: impl Fn(&Item<'_>) -> bool,
) -> BTreeMap<usize, Kept<'a>> {
    let mut kept: BTreeMap<usize, Kept<'a>> = BTreeMap::new();
    let shipped = with_libraries(owner).into_iter().flat_map(|name| catalog.named(name));
    for artifact in shipped.filter(|a| owner.dist.fits(&a.id)) {
        let Some(line) = line(owner, artifact).filter(|rule| rule.apart.is_none()) else {
            continue;
        };
        let refusals = Refusals::new(manifest, &owner.dist, artifact);
        for entry in artifact.entries.iter().filter(|entry| counts(&Item { artifact, entry })) {
            if let Some(Refusal::Excluded(exclude)) = refusals.of(entry) {
                let line = &line.name.place;
                let new = || Kept { exclude, line, artifact, first: entry, files: 0, size: 0 };
                let kept = kept.entry(exclude.start()).or_insert_with(new);
                (kept.files, kept.size) = (kept.files + 1, kept.size + entry.size());
            }
        }
    }
    kept
}

fn with_libraries<'a>(owner: &Filled<'a>) -> BTreeSet<&'a ArtifactName> {
    let placed = owner.runtime.placed.values().filter_map(|(placed, _)| match placed {
        Placed::File(item) => Some(item),
        _ => None,
    });
    let libraries = placed
        .filter(|item| item.entry.binary().is_some_and(|facts| facts.kind == BinaryKind::Library));
    libraries.map(|item| &item.artifact.id.name).collect()
}

fn line<'a>(owner: &Filled<'a>, artifact: &Artifact) -> Option<&'a ArtifactRule> {
    let takes = |rule: &&ArtifactRule| {
        *rule.name == artifact.id.name
            && rule.components.iter().any(|c| **c == artifact.id.component)
    };
    owner.dist.package.artifacts.iter().find(takes)
}

fn problem(owner: &Filled<'_>, kept: &Kept<'_>) -> Problem {
    let (package, artifact) = (&owner.dist.package.name.value, &kept.artifact.id.name);
    let what = format!(
        "{} ({}) with device code of artifact `{artifact}`, the libraries of which are in \
         package `{package}`, {} in no runtime package: `{}` is the first",
        counted(kept.files, "file"),
        human_size(kept.size),
        if kept.files == 1 { "is" } else { "are" },
        kept.first.path
    );
    Problem::error(Code::PartedLibrary, what)
        .label(kept.exclude, format!("excludes {}", counted(kept.files, "file")))
        .label(kept.line, "takes the libraries")
        .of_fact(format!("{package} {}", kept.exclude))
        .help("remove the exclude line, or add a reason to the artifact line: apart=\"…\"")
}
