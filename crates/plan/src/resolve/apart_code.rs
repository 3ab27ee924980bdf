use std::collections::{BTreeMap, BTreeSet};

use super::entries::EntrySet;
use super::install_tree::Item;
use super::links::Filled;
use super::place::Placed;
use super::select::{Refusal, Refusals};
use super::targets::Targets;
use super::unowned;
use base::names::{ArtifactName, TargetNames};
use base::source::{Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use binary::BinaryKind;
use binary::elf::ElfKind;
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, EntryKind};
use manifest::{ArtifactRule, Manifest};

pub(super) struct Entries<'e> {
    /// Entries that any package selects.
    pub selected: &'e EntrySet<'e>,
    /// Entries that a runtime package selects.
    pub run: &'e EntrySet<'e>,
}

/// The line that keeps files out of the package of their libraries.
#[derive(Clone, Copy)]
enum Cause<'a> {
    /// A devel package alone has the files.
    Excluded(&'a Place),
    Dropped(&'a Place),
}

struct Apart<'a> {
    cause: Cause<'a>,
    line: &'a Place,
    artifact: &'a Artifact,
    first: &'a CatalogEntry,
    files: usize,
    size: u64,
}

/// Reports device code that no runtime package has, while a package ships the artifact's libraries.
pub(super) fn check(
    manifest: &Manifest,
    catalog: &Catalog,
    targets: &Targets,
    filled: &[Filled<'_>],
    entries: &Entries<'_>,
) -> Problems {
    let search = Search { manifest, targets, entries, names: manifest.families.target_names() };
    // The package of each ISA has libraries of the same artifacts, so each artifact is searched once for all packages.
    let mut outside = BTreeMap::new();
    let mut problems = Problems::new();
    for owner in filled {
        for apart in search.apart(catalog, owner, &mut outside).values() {
            problems.push(problem(owner, apart));
        }
    }
    problems
}

/// Its files can name ISAs too (FHS).
const DOCUMENTATION: &str = "share/doc/";

/// Entries of an artifact in no runtime package.
struct Outside<'a> {
    /// Device code that a devel package has.
    in_devel: Vec<&'a CatalogEntry>,
    /// Device code that a line drops.
    dropped: Vec<(&'a CatalogEntry, &'a Place)>,
}

struct Search<'a> {
    manifest: &'a Manifest,
    targets: &'a Targets,
    entries: &'a Entries<'a>,
    names: TargetNames,
}

impl<'a> Search<'a> {
    fn apart(
        &self,
        catalog: &'a Catalog,
        owner: &'a Filled<'a>,
        outside: &mut BTreeMap<&'a ArtifactId, Outside<'a>>,
    ) -> BTreeMap<(&'a str, usize), Apart<'a>> {
        let mut by_cause = BTreeMap::new();
        for artifact in with_libraries(owner).into_iter().flat_map(|name| catalog.named(name)) {
            let Some(line) = line(owner, artifact).filter(|rule| rule.apart.is_none()) else {
                continue;
            };
            let line = &line.name.place;
            let outside = outside.entry(&artifact.id).or_insert_with(|| self.outside(artifact));
            for (entry, cause) in self.causes(outside, artifact, owner) {
                let new = || Apart { cause, line, artifact, first: entry, files: 0, size: 0 };
                let apart = by_cause.entry(cause.key()).or_insert_with(new);
                (apart.files, apart.size) = (apart.files + 1, apart.size + entry.size());
            }
        }
        by_cause
    }

    fn outside(&self, artifact: &'a Artifact) -> Outside<'a> {
        let mut outside = Outside { in_devel: Vec::new(), dropped: Vec::new() };
        for entry in &artifact.entries {
            let item = Item { artifact, entry };
            if self.entries.run.contains(&item) {
                continue;
            }
            if self.entries.selected.contains(&item) {
                outside.in_devel.extend((!self.isas(entry).is_empty()).then_some(entry));
            } else if let Some(rule) = unowned::dropping(self.manifest, &item)
                && self.is_of_a_built_target(&item)
            {
                outside.dropped.push((entry, &rule.glob.place));
            }
        }
        outside
    }

    fn causes<'o>(
        &'o self,
        outside: &'o Outside<'a>,
        artifact: &'a Artifact,
        owner: &'o Filled<'a>,
    ) -> impl Iterator<Item = (&'a CatalogEntry, Cause<'a>)> + 'o {
        let refusals = owner.dist.fits(&artifact.id).then(|| {
            let refusals = Refusals::new(self.manifest, &owner.dist, artifact);
            outside.in_devel.iter().filter_map(move |entry| match refusals.refusal(entry) {
                Some(Refusal::Excluded(place)) => Some((*entry, Cause::Excluded(place))),
                _ => None,
            })
        });
        let dropped = outside.dropped.iter().map(|(entry, place)| (*entry, Cause::Dropped(place)));
        refusals.into_iter().flatten().chain(dropped)
    }

    fn is_of_a_built_target(&self, item: &Item<'_>) -> bool {
        let (id, built) = (&item.artifact.id, &self.targets.built);
        let is_code = item.entry.elf().is_some_and(|facts| facts.kind == ElfKind::CodeObject);
        if is_code && !id.family.is_generic() {
            return self.targets.builds(self.manifest.families.target_of(&id.family));
        }
        let is_declared = |isa: &&str| !self.manifest.families.expand(isa).is_empty();
        let belongs = |isa: &&str| built.iter().any(|target| self.names.belongs(isa, target));
        let isas = self.isas(item.entry);
        isas.iter().any(|isa| if built.is_empty() { is_declared(isa) } else { belongs(isa) })
    }

    fn isas<'e>(&'e self, entry: &'e CatalogEntry) -> Vec<&'e str> {
        match entry.kind {
            EntryKind::File { .. } if !entry.path.as_str().starts_with(DOCUMENTATION) => {
                self.names.in_path(entry.path.as_str())
            }
            _ => Vec::new(),
        }
    }
}

impl<'a> Cause<'a> {
    fn place(self) -> &'a Place {
        match self {
            Self::Excluded(place) | Self::Dropped(place) => place,
        }
    }

    fn key(self) -> (&'a str, usize) {
        (self.place().source().name(), self.place().start())
    }
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

fn problem(owner: &Filled<'_>, apart: &Apart<'_>) -> Problem {
    let (package, artifact) = (&owner.dist.package.name.value, &apart.artifact.id.name);
    let files = counted(apart.files, "file");
    let message = format!(
        "{files} ({}) with device code of artifact `{artifact}`, the libraries of which are in \
         package `{package}`, {} in no runtime package: `{}` is the first",
        human_size(apart.size),
        if apart.files == 1 { "is" } else { "are" },
        apart.first.path
    );
    let (does, help) = match apart.cause {
        Cause::Excluded(_) => ("excludes", "remove the exclude line"),
        Cause::Dropped(_) => ("drops", "drop other files, take these in a runtime package"),
    };
    Problem::error(Code::PartedLibrary, message)
        .label(apart.cause.place(), format!("{does} {files}"))
        .label(apart.line, "takes the libraries")
        .of_fact(format!("{package} {}", apart.cause.place()))
        .help(format!("{help}, or add a reason to the artifact line: apart=\"…\""))
}
