//! Resolves DLLs like Windows: by name, ignoring case, in the file's directory, in the ones that
//! the runtime opens with `AddDllDirectory` (of `find-library` lines), then in the system.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use super::{Closure, InArtifact, LoadedFile, Need, Resolved, Unusable};
use crate::resolve::sources::Sources;
use crate::{Distribution, Member, Step};
use base::names::RelPath;
use binary::loader::{Dll, DllContent, Dlls};
use binary::systems::PythonTags;
use binary::systems::windows::{Provider, provider};
use catalog::{Catalog, EntryKind};
use manifest::{Manifest, Package};

/// Files for Windows, by number.
#[derive(Debug, Default)]
pub(super) struct Imports<'a> {
    dlls: Dlls<'a>,
    members: Vec<&'a Member>,
    opened: Vec<BTreeSet<RelPath>>,
    artifacts: OnceLock<HashMap<String, Vec<InArtifact<'a>>>>,
}

impl<'a> Imports<'a> {
    pub fn new(
        manifest: &Manifest,
        sources: &Sources<'a>,
        distributions: &[&'a Distribution],
    ) -> Self {
        if !sources.has_pe() {
            return Self::default();
        }
        let dlls = distributions.iter().enumerate().flat_map(|(owner, distribution)| {
            distribution.all_members().filter_map(move |member| {
                let (path, content) = (member.path.as_str(), content(sources, member)?);
                Some((Dll { owner, path, content }, member))
            })
        });
        let (files, members): (Vec<_>, Vec<_>) = dlls.unzip();
        let opened = distributions.iter().map(|it| opened(manifest, it)).collect();
        Self { dlls: Dlls::new(files), members, opened, artifacts: OnceLock::new() }
    }

    pub fn count(&self) -> usize {
        self.members.len()
    }

    fn in_artifacts(&self, catalog: &'a Catalog) -> HashMap<String, Vec<InArtifact<'a>>> {
        let imports = self.dlls.files().iter().flat_map(Dll::imports);
        let mut artifacts: HashMap<String, Vec<InArtifact<'a>>> =
            imports.map(|import| (import.library.to_ascii_lowercase(), Vec::new())).collect();
        for artifact in &catalog.artifacts {
            let files = artifact.entries.iter();
            for entry in files.filter(|entry| matches!(entry.kind, EntryKind::File { .. })) {
                let name = entry.path.file_name().to_ascii_lowercase();
                if let Some(artifacts) = artifacts.get_mut(&name) {
                    let (artifact, path) = (&artifact.id, &entry.path);
                    artifacts.push(InArtifact { artifact, path, other_target: false });
                }
            }
        }
        artifacts
    }
}

fn content<'a>(sources: &Sources<'a>, member: &'a Member) -> Option<DllContent<'a>> {
    if matches!(member.step, Step::Link { .. }) {
        return Some(DllContent::Link);
    }
    let entry = sources.entry(member.step.source()?)?;
    let library = entry.import_library().map(DllContent::ImportLibrary);
    entry.pe().map(|facts| DllContent::Pe(facts, None)).or(library)
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
        (0..self.imports.count())
            .flat_map(move |file| self.imports_of(file).map(move |need| (self.dll(file), need)))
    }

    pub(super) fn imports_of(&self, file: usize) -> impl Iterator<Item = Need<'a>> {
        let imports = self.imports.dlls.files()[file].imports().into_iter();
        imports.map(move |import| self.import(file, import.library))
    }

    pub(super) fn dll(&self, file: usize) -> LoadedFile<'a> {
        let owner = self.imports.dlls.files()[file].owner;
        LoadedFile { distribution: self.distributions[owner], member: self.imports.members[file] }
    }

    fn import(&self, number: usize, library: &'a str) -> Need<'a> {
        let files = self.imports.dlls.files();
        let file = &files[number];
        let libraries = self.imports.dlls.numbers_of(library).iter().copied();
        let is_import_library = matches!(file.content, DllContent::ImportLibrary(_));
        let (same_target, foreign): (Vec<usize>, Vec<usize>) = libraries
            .filter(|other| self.can_meet(file.owner, files[*other].owner))
            // Link targets in devel trees are candidates themselves.
            .filter(|other| !is_import_library || files[*other].machine().is_some())
            .partition(|other| {
                files[*other].machine().is_none_or(|machine| Some(machine) == file.machine())
            });
        let searched = same_target.iter().copied();
        let searched =
            searched.filter(|other| is_import_library || self.is_searched(number, *other));
        let (sure, lucky): (Vec<usize>, Vec<usize>) =
            searched.partition(|other| self.together.guaranteed(file.owner, files[*other].owner));
        let first_dll = |files: &[usize]| files.first().map(|file| self.dll(*file));
        // A plan does not name the interpreters of its modules.
        let outside = || {
            provider(library, &PythonTags::ANY)
                .is_some_and(Provider::is_certain)
                .then_some(Resolved::Windows)
        };
        let resolved =
            self.resolved(library, (first_dll(&sure), first_dll(&lucky)), outside, || {
                let artifacts =
                    self.imports.artifacts.get_or_init(|| self.imports.in_artifacts(self.catalog));
                let artifacts = artifacts.get(&library.to_ascii_lowercase()).cloned();
                Unusable {
                    shipped: same_target.iter().map(|one| self.dll(*one)).collect(),
                    artifacts: artifacts.unwrap_or_default(),
                    in_the_way: first_dll(&foreign).filter(|_| same_target.is_empty()),
                }
            });
        Need { library, resolved, others: self.twins(&sure) }
    }

    fn is_searched(&self, file: usize, other: usize) -> bool {
        let members = &self.imports.members;
        let Some(directory) = members[other].path.parent() else { return false };
        let owner = self.imports.dlls.files()[other].owner;
        members[file].path.parent().as_ref() == Some(&directory)
            || self.imports.opened[owner].contains(&directory)
    }

    /// Different files of one name: the first loaded one serves the whole process.
    fn twins(&self, sure: &[usize]) -> Vec<LoadedFile<'a>> {
        let source = |file: &usize| self.imports.members[*file].step.source();
        let Some(first) = sure.first().and_then(source) else { return Vec::new() };
        let twins = sure[1..].iter().filter(|file| source(file).is_some_and(|it| it != first));
        twins.map(|file| self.dll(*file)).collect()
    }
}
