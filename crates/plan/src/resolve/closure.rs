//! Link closure: binaries must find their libraries after installation.
//!
//! [`Closure`] searches like glibc's loader ([`binary::loader`]), but only where manifest and
//! selection put packages together. Directories below `glibc-hwcaps` are ignored: they only hold
//! variants of other libraries.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::rpath;
use super::sources::Sources;
use crate::{Distribution, Member, Step};
use base::names::RelPath;
use binary::elf::{ElfFacts, Machine};
use binary::loader::{Content, Entry, Installed, Linked, Loads, Tree};
use catalog::{ArtifactId, Catalog};
use manifest::{LibraryRule, Manifest};

mod dlls;
mod group;
mod messages;
mod places;
mod programs;
mod report;
mod together;
mod unneeded;

use dlls::Imports;
pub(super) use report::check;
use together::Together;

/// Resolves libraries over all files.
#[derive(Debug)]
pub struct Closure<'a> {
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    distributions: Vec<&'a Distribution>,
    together: Together,
    tree: Tree<'a>,
    /// By entry of the tree.
    members: Vec<&'a Member>,
    imports: Imports<'a>,
    artifacts: OnceLock<HashMap<usize, Vec<InArtifact<'a>>>>,
    loads: OnceLock<Loads>,
}

/// File of a distribution.
#[derive(Debug, Clone, Copy)]
pub struct LoadedFile<'a> {
    /// Its distribution.
    pub distribution: &'a Distribution,
    /// Member, relative to site-packages.
    pub member: &'a Member,
}

/// Library in an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InArtifact<'a> {
    /// Artifact.
    pub artifact: &'a ArtifactId,
    /// Installed path.
    pub path: &'a RelPath,
    /// For another ISA or family.
    pub other_target: bool,
}

/// A `DT_NEEDED` entry or import of a file.
#[derive(Debug)]
pub struct Need<'a> {
    /// Name in the file.
    pub library: &'a str,
    /// Result of the search.
    pub resolved: Resolved<'a>,
    /// Further found files, in search order.
    pub others: Vec<LoadedFile<'a>>,
}

/// Result of the search.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// Always installed together.
    Member(LoadedFile<'a>),
    /// Found only in a directory that all loading files search: a direct `dlopen` fails.
    ThroughLoader {
        /// The library.
        found: LoadedFile<'a>,
        /// A file that loads the one in need.
        loader: LoadedFile<'a>,
    },
    /// Found only in a package that is not required.
    Luck(LoadedFile<'a>),
    /// Provided by the system.
    System(&'a LibraryRule),
    /// Part of Windows or of the interpreter.
    Windows,
    /// Missing, as this rule allows.
    Missing(&'a LibraryRule),
    /// Missing.
    Unresolved {
        /// In directories not searched.
        shipped: Vec<LoadedFile<'a>>,
        /// Artifacts with the library.
        artifacts: Vec<InArtifact<'a>>,
        /// Another file of this name, at which the search ends.
        in_the_way: Option<LoadedFile<'a>>,
    },
}

impl<'a> Closure<'a> {
    /// Indexes all files, despite `--only`.
    pub fn new(
        manifest: &'a Manifest,
        catalog: &'a Catalog,
        distributions: impl IntoIterator<Item = &'a Distribution>,
    ) -> Self {
        Self::of_sources(manifest, catalog, &Sources::new(catalog), distributions)
    }

    fn of_sources(
        manifest: &'a Manifest,
        catalog: &'a Catalog,
        sources: &Sources<'a>,
        distributions: impl IntoIterator<Item = &'a Distribution>,
    ) -> Self {
        let distributions: Vec<&Distribution> = distributions.into_iter().collect();
        let together = Together::new(manifest, &distributions);
        let (entries, members): (Vec<_>, Vec<_>) = entries(sources, &distributions).unzip();
        let tree = Tree::new(&entries);
        let imports = Imports::new(manifest, sources, &distributions);
        Self {
            manifest,
            catalog,
            distributions,
            together,
            tree,
            members,
            imports,
            artifacts: OnceLock::new(),
            loads: OnceLock::new(),
        }
    }

    /// Needs of the loadable file at `path` (relative to site-packages).
    pub fn needs<'s>(
        &'s self,
        distribution: &'s Distribution,
        path: &'s RelPath,
    ) -> impl Iterator<Item = Need<'a>> + 's {
        let is_it = move |file: LoadedFile<'a>| {
            let owner = file.distribution;
            owner.name == distribution.name
                && owner.variant == distribution.variant
                && file.member.path == *path
        };
        let files = (0..self.tree.count()).filter(move |file| is_it(self.loaded_file(*file)));
        let dlls = (0..self.imports.count()).filter(move |file| is_it(self.dll(*file)));
        let needs = files.flat_map(|file| self.needs_of(file));
        needs.chain(dlls.flat_map(|file| self.imports_of(file)))
    }

    fn all_needs(&self) -> impl Iterator<Item = (usize, Need<'a>)> {
        (0..self.tree.count()).flat_map(|file| self.needs_of(file).map(move |need| (file, need)))
    }

    /// Each need, and the file that its own search finds.
    pub fn finds(&self) -> impl Iterator<Item = (LoadedFile<'a>, &'a str, Option<LoadedFile<'a>>)> {
        self.tree.files().iter().enumerate().flat_map(move |(number, file)| {
            self.tree.needed(number).iter().map(move |name| {
                let provider = self.look(number, *name, file.owner).found;
                (
                    self.loaded_file(number),
                    self.tree.library(*name),
                    provider.map(|library| self.loaded_file(library)),
                )
            })
        })
    }

    fn needs_of(&self, file: usize) -> impl Iterator<Item = Need<'a>> {
        self.tree.needed(file).iter().map(move |name| self.need(file, *name))
    }

    fn need(&self, file: usize, name: usize) -> Need<'a> {
        let looked = self.look(file, name, self.tree.files()[file].owner);
        let through = || {
            let loads = self.loads.get_or_init(|| Loads::new(self));
            let (library, loader) = loads.through(file, name)?;
            Some(Resolved::ThroughLoader {
                found: self.loaded_file(library),
                loader: self.loaded_file(loader),
            })
        };
        let other_files: Vec<_> =
            looked.others.iter().map(|other| self.loaded_file(*other)).collect();
        let lucky =
            (looked.found.map(|found| self.loaded_file(found)), other_files.first().copied());
        let library = self.tree.library(name);
        let resolved = self.resolved(library, lucky, through, || Unusable {
            shipped: self.shipped(file, name),
            artifacts: self.artifacts(file, name),
            in_the_way: looked.in_the_way,
        });
        Need { library, resolved, others: other_files }
    }

    /// Judges a needed library. In this order decide: a file that is always installed with the needing
    /// one, a `system-library` line, `outside`, a file that is installed only sometimes, and a
    /// `missing-library` line, which must not hide files with the name.
    fn resolved(
        &self,
        library: &'a str,
        (guaranteed, lucky): (Option<LoadedFile<'a>>, Option<LoadedFile<'a>>),
        outside: impl FnOnce() -> Option<Resolved<'a>>,
        unusable: impl FnOnce() -> Unusable<'a>,
    ) -> Resolved<'a> {
        if let Some(file) = guaranteed {
            return Resolved::Member(file);
        }
        if let Some(rule) = rule(&self.manifest.system_libraries, library) {
            return Resolved::System(rule);
        }
        if let Some(resolved) = outside().or(lucky.map(Resolved::Luck)) {
            return resolved;
        }
        let Unusable { shipped, artifacts, in_the_way } = unusable();
        let nowhere = shipped.is_empty() && artifacts.first().is_none_or(|a| a.other_target);
        match rule(&self.manifest.excuses.missing_libraries, library) {
            Some(rule) if nowhere && in_the_way.is_none() => Resolved::Missing(rule),
            _ => Resolved::Unresolved { shipped, artifacts, in_the_way },
        }
    }

    fn look(&self, file: usize, name: usize, installed: usize) -> Looked<'a> {
        let (mut looked, files) = (Looked::default(), self.tree.files());
        let candidates = self.tree.searched(file, name);
        for candidate in candidates.filter(|it| self.can_meet(installed, it.owner)) {
            match candidate.library {
                Some(library) if files[library].machine == files[file].machine => {
                    let sure = [candidate.owner, files[library].owner];
                    let sure = sure.into_iter().all(|it| self.together.guaranteed(installed, it));
                    looked.add(library, sure, |one, other| self.same_bytes(one, other));
                }
                None if looked.found.is_none()
                    && self.together.guaranteed(installed, candidate.owner) =>
                {
                    looked.in_the_way = Some(self.member(candidate.owner, candidate.entry));
                    return looked;
                }
                Some(_) | None => {}
            }
        }
        looked
    }

    /// An environment has one distribution of a name.
    fn can_meet(&self, one: usize, other: usize) -> bool {
        one == other || self.distributions[one].name != self.distributions[other].name
    }

    fn same_bytes(&self, one: usize, other: usize) -> bool {
        let source = |file: usize| self.members[self.tree.files()[file].entry].step.source();
        one == other || source(one).is_some() && source(one) == source(other)
    }

    fn loaded_file(&self, file: usize) -> LoadedFile<'a> {
        let file = &self.tree.files()[file];
        self.member(file.owner, file.entry)
    }

    fn member(&self, owner: usize, entry: usize) -> LoadedFile<'a> {
        LoadedFile { distribution: self.distributions[owner], member: self.members[entry] }
    }

    fn shipped(&self, file: usize, name: usize) -> Vec<LoadedFile<'a>> {
        let mut shipped: Vec<usize> = Vec::new();
        let files = self.tree.files();
        let candidates = self.tree.candidates(name);
        for candidate in candidates.filter(|it| self.can_meet(files[file].owner, it.owner)) {
            if let Some(library) = candidate.library
                && !shipped.contains(&library)
                && self
                    .same_target(file, self.distributions[files[library].owner].variant.as_deref())
            {
                shipped.push(library);
            }
        }
        shipped.into_iter().map(|library| self.loaded_file(library)).collect()
    }

    fn artifacts(&self, file: usize, name: usize) -> Vec<InArtifact<'a>> {
        let by_name = self.artifacts.get_or_init(|| in_artifacts(self.catalog, &self.tree));
        let mut artifacts = by_name.get(&name).cloned().unwrap_or_default();
        let families = &self.manifest.families;
        for one in &mut artifacts {
            let family = &one.artifact.family;
            one.other_target =
                !self.same_target(file, (!family.is_generic()).then(|| families.target_of(family)));
        }
        artifacts.sort_by_key(|one| one.other_target);
        artifacts
    }

    fn same_target(&self, file: usize, target: Option<&str>) -> bool {
        let variant = self.distributions[self.tree.files()[file].owner].variant.as_deref();
        let (Some(variant), Some(target)) = (variant, target) else { return true };
        variant == target || self.manifest.families.above(variant).contains(&target)
    }
}

impl Installed for Closure<'_> {
    fn count(&self) -> usize {
        self.tree.count()
    }

    fn needed(&self, file: usize) -> &[usize] {
        self.tree.needed(file)
    }

    fn soname(&self, file: usize) -> Option<usize> {
        self.tree.soname(file)
    }

    fn inherited(&self, file: usize) -> bool {
        self.tree.inherited(file)
    }

    fn own_library(&self, file: usize, name: usize, root: usize) -> Option<usize> {
        self.look(file, name, self.tree.files()[root].owner).found
    }

    fn bearers(&self, name: usize) -> Vec<usize> {
        self.tree.bearers(name)
    }
}

/// Files with the name of a library that the loader does not find.
struct Unusable<'a> {
    shipped: Vec<LoadedFile<'a>>,
    artifacts: Vec<InArtifact<'a>>,
    in_the_way: Option<LoadedFile<'a>>,
}

#[derive(Debug, Default)]
struct Looked<'a> {
    found: Option<usize>,
    others: Vec<usize>,
    /// The loader takes the first of the name, even an unsuitable one.
    in_the_way: Option<LoadedFile<'a>>,
}

impl Looked<'_> {
    fn add(&mut self, library: usize, sure: bool, same: impl Fn(usize, usize) -> bool) {
        match self.found {
            None if sure => {
                self.found = Some(library);
                self.others.retain(|other| !same(library, *other));
            }
            Some(found) if same(found, library) => {}
            _ => self.others.push(library),
        }
    }
}

fn entries<'e, 'a>(
    sources: &'e Sources<'a>,
    distributions: &'e [&'a Distribution],
) -> impl Iterator<Item = (Entry<'a>, &'a Member)> + 'e {
    let members = distributions.iter().enumerate().flat_map(|(owner, distribution)| {
        distribution.all_members().map(move |member| (owner, member))
    });
    members.filter_map(|(owner, member)| {
        let content = content(sources, &member.step)?;
        Some((Entry { owner, path: member.path.as_str(), content }, member))
    })
}

fn content<'a>(sources: &Sources<'a>, step: &'a Step) -> Option<Content<'a>> {
    Some(match step {
        Step::Copy { source } | Step::Relink { source, .. } => match sources.facts(source) {
            Some(facts) if rpath::loadable(facts) => match step {
                Step::Relink { rpath, .. } => Content::Linked(Linked::new(facts).relinked(rpath)),
                _ => Content::Linked(Linked::new(facts)),
            },
            Some(ElfFacts { machine: Machine::Other { .. }, .. }) => return None,
            Some(_) | None => Content::Other,
        },
        Step::Alias { soname, needed, rpath, machine } => Content::Linked(Linked {
            machine: machine.machine(),
            is_library: true,
            soname: Some(soname),
            needed: std::slice::from_ref(needed),
            search: rpath,
            inherited: true,
        }),
        Step::Link { target } => Content::Link(target),
        Step::Stub { .. } | Step::Render { .. } => Content::Other,
        Step::Directory => return None,
    })
}

/// An exact name precedes globs.
fn rule<'a>(rules: &'a [LibraryRule], library: &str) -> Option<&'a LibraryRule> {
    let exact = |rule: &&LibraryRule| !rule.name.is_glob();
    let fits = |rule: &&LibraryRule| rule.name.matches(library);
    rules.iter().filter(exact).find(fits).or_else(|| rules.iter().filter(|r| !exact(r)).find(fits))
}

fn in_artifacts<'a>(catalog: &'a Catalog, tree: &Tree<'a>) -> HashMap<usize, Vec<InArtifact<'a>>> {
    let mut artifacts: HashMap<usize, Vec<InArtifact<'a>>> = HashMap::new();
    for artifact in &catalog.artifacts {
        for entry in &artifact.entries {
            let Some(facts) = entry.elf().filter(|facts| facts.kind.is_library()) else {
                continue;
            };
            let by_file_name = tree.name(entry.path.file_name());
            let by_soname = facts
                .soname
                .as_deref()
                .and_then(|s| tree.name(s))
                .filter(|s| Some(*s) != by_file_name);
            for name in by_file_name.into_iter().chain(by_soname) {
                artifacts.entry(name).or_default().push(InArtifact {
                    artifact: &artifact.id,
                    path: &entry.path,
                    other_target: false,
                });
            }
        }
    }
    artifacts
}

#[cfg(test)]
mod tests;
