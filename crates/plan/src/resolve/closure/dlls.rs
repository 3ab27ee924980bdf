//! Resolves DLLs like Windows: by name, ignoring case, in the file's directory, in the ones that
//! the runtime opens with `AddDllDirectory` (of `find-library` lines), then in the system.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use super::{Closure, InArtifact, LoadedFile, Need, Resolved, rule};
use crate::resolve::sources::Sources;
use crate::{Distribution, Member, Step};
use base::names::RelPath;
use binary::Machine;
use binary::systems::PythonTags;
use binary::systems::windows::{Provider, provider};
use catalog::{Catalog, EntryKind};
use manifest::{Manifest, Package};

/// A plan does not name the interpreters of its modules.
const ANY: PythonTags<'_> = PythonTags { python: "py3", abi: "none" };

#[derive(Debug)]
struct File<'a> {
    distribution: usize,
    member: &'a Member,
    machine: Machine,
    imports: Vec<&'a str>,
    /// Not loaded; its DLL can be in any directory.
    is_import_library: bool,
}

#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    distribution: usize,
    member: &'a Member,
    /// `None` for a link in a devel tree.
    machine: Option<Machine>,
}

#[derive(Debug, Default)]
pub(super) struct Dlls<'a> {
    files: Vec<File<'a>>,
    candidates: HashMap<String, Vec<Candidate<'a>>>,
    opened: Vec<BTreeSet<RelPath>>,
    artifacts: OnceLock<HashMap<String, Vec<InArtifact<'a>>>>,
}

impl<'a> Dlls<'a> {
    pub fn new(
        manifest: &Manifest,
        sources: &Sources<'a>,
        distributions: &[&'a Distribution],
    ) -> Self {
        let mut dlls = Self::default();
        if !sources.has_pe() {
            return dlls;
        }
        for (number, distribution) in distributions.iter().enumerate() {
            for member in distribution.all_members() {
                let facts = member.step.source().and_then(|origin| sources.pe(origin));
                let machine = facts.map(|facts| facts.machine);
                if let Some(facts) = facts {
                    let imports = facts.imports.iter().chain(&facts.delayed).map(String::as_str);
                    dlls.files.push(File {
                        distribution: number,
                        member,
                        machine: facts.machine,
                        imports: imports.collect(),
                        is_import_library: false,
                    });
                }
                let library =
                    member.step.source().and_then(|origin| sources.import_library(origin));
                dlls.files.extend(library.map(|library| File {
                    distribution: number,
                    member,
                    machine: library.machine,
                    imports: library.dlls.iter().map(String::as_str).collect(),
                    is_import_library: true,
                }));
                if facts.is_some() || matches!(member.step, Step::Link { .. }) {
                    let name = member.path.file_name().to_ascii_lowercase();
                    let candidate = Candidate { distribution: number, member, machine };
                    dlls.candidates.entry(name).or_default().push(candidate);
                }
            }
        }
        dlls.opened = distributions.iter().map(|d| opened(manifest, d)).collect();
        dlls
    }

    fn in_artifacts(&self, catalog: &'a Catalog) -> HashMap<String, Vec<InArtifact<'a>>> {
        let imports = self.files.iter().flat_map(|file| &file.imports);
        let mut found: HashMap<String, Vec<InArtifact<'a>>> =
            imports.map(|import| (import.to_ascii_lowercase(), Vec::new())).collect();
        for artifact in &catalog.artifacts {
            let files = artifact.entries.iter();
            for entry in files.filter(|entry| matches!(entry.kind, EntryKind::File { .. })) {
                let name = entry.path.file_name().to_ascii_lowercase();
                if let Some(found) = found.get_mut(&name) {
                    let (artifact, path) = (&artifact.id, &entry.path);
                    found.push(InArtifact { artifact, path, other_target: false });
                }
            }
        }
        found
    }
}

fn opened(manifest: &Manifest, distribution: &Distribution) -> BTreeSet<RelPath> {
    let package = manifest.packages.get(&distribution.package);
    let named = |package: &Package| {
        let patterns = package.libraries.iter().filter_map(|library| library.dll.as_deref());
        let directories = patterns.filter_map(|pattern| pattern.rsplit_once('/')?.0.parse().ok());
        directories.collect::<Vec<RelPath>>()
    };
    let Some(root) = distribution.platform_dir.as_ref().map(RelPath::from) else {
        return BTreeSet::new();
    };
    package.into_iter().flat_map(named).map(|directory| root.join(&directory)).collect()
}

impl<'a> Closure<'a> {
    pub(super) fn imports(&self) -> impl Iterator<Item = (LoadedFile<'a>, Need<'a>)> {
        self.dlls.files.iter().flat_map(move |file| {
            file.imports.iter().map(move |import| (self.of(file), self.import(file, import)))
        })
    }

    pub(super) fn imports_of<'s>(
        &'s self,
        distribution: &'s Distribution,
        path: &'s RelPath,
    ) -> impl Iterator<Item = Need<'a>> + 's {
        let is_it = move |file: &&File<'a>| {
            let own = self.distributions[file.distribution];
            file.member.path == *path
                && own.name == distribution.name
                && own.variant == distribution.variant
        };
        let files = self.dlls.files.iter().filter(is_it);
        files.flat_map(move |file| file.imports.iter().map(move |import| self.import(file, import)))
    }

    fn of(&self, file: &File<'a>) -> LoadedFile<'a> {
        LoadedFile { distribution: self.distributions[file.distribution], member: file.member }
    }

    fn candidate(&self, candidate: &Candidate<'a>) -> LoadedFile<'a> {
        let distribution = self.distributions[candidate.distribution];
        LoadedFile { distribution, member: candidate.member }
    }

    fn import(&self, file: &File<'a>, library: &'a str) -> Need<'a> {
        let name = library.to_ascii_lowercase();
        let here = file.distribution;
        let all = self.dlls.candidates.get(&name).into_iter().flatten();
        let met = all.filter(|candidate| self.can_meet(here, candidate.distribution));
        let (there, foreign): (Vec<&Candidate<'a>>, Vec<_>) = met
            // Link targets in devel trees are candidates themselves.
            .filter(|candidate| !file.is_import_library || candidate.machine.is_some())
            .partition(|candidate| candidate.machine.is_none_or(|machine| machine == file.machine));
        let searched = there.iter().filter(|candidate| self.is_searched(file, candidate));
        let (sure, lucky): (Vec<&Candidate<'a>>, Vec<_>) =
            searched.partition(|candidate| self.together.guaranteed(here, candidate.distribution));
        let resolved = match (sure.first(), lucky.first()) {
            (Some(found), _) => Resolved::Member(self.candidate(found)),
            (None, lucky) => {
                if let Some(rule) = rule(&self.manifest.system_libraries, library) {
                    Resolved::System(rule)
                } else if provider(library, &ANY).is_some_and(Provider::is_certain) {
                    Resolved::Windows
                } else if let Some(lucky) = lucky {
                    Resolved::Luck(self.candidate(lucky))
                } else {
                    self.not_imported(library, &name, &there, &foreign)
                }
            }
        };
        Need { library, resolved, others: self.twins(&sure) }
    }

    fn is_searched(&self, file: &File<'a>, candidate: &Candidate<'a>) -> bool {
        if file.is_import_library {
            return true;
        }
        let Some(directory) = candidate.member.path.parent() else { return false };
        file.member.path.parent().as_ref() == Some(&directory)
            || self.dlls.opened[candidate.distribution].contains(&directory)
    }

    /// Different files of one name: the first loaded one serves the whole process.
    fn twins(&self, sure: &[&Candidate<'a>]) -> Vec<LoadedFile<'a>> {
        let source = |candidate: &Candidate<'a>| candidate.member.step.source();
        let Some(first) = sure.first() else { return Vec::new() };
        let others = sure[1..].iter().filter(|other| {
            source(other).is_some_and(|other| source(first).is_some_and(|first| first != other))
        });
        others.map(|other| self.candidate(other)).collect()
    }

    fn not_imported(
        &self,
        library: &str,
        name: &str,
        there: &[&Candidate<'a>],
        foreign: &[&Candidate<'a>],
    ) -> Resolved<'a> {
        let shipped: Vec<LoadedFile<'a>> = there.iter().map(|one| self.candidate(one)).collect();
        let artifacts = self.dlls.artifacts.get_or_init(|| self.dlls.in_artifacts(self.catalog));
        let artifacts = artifacts.get(name).cloned().unwrap_or_default();
        match rule(&self.manifest.excuses.missing_libraries, library) {
            Some(rule) if shipped.is_empty() && artifacts.is_empty() => Resolved::Missing(rule),
            _ => {
                let in_the_way = foreign.first().filter(|_| shipped.is_empty());
                let in_the_way = in_the_way.map(|one| self.candidate(one));
                Resolved::Unresolved { shipped, artifacts, in_the_way }
            }
        }
    }
}
