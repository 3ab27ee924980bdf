use std::collections::{BTreeMap, BTreeSet};

use super::{ArtifactId, Catalog, SourcePath};
use base::names::RelPath;

/// A set of files, by artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    members: BTreeMap<ArtifactId, BTreeSet<RelPath>>,
    partial: BTreeSet<ArtifactId>,
}

impl Wanted {
    /// Set without sizes: no artifact is partial.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a SourcePath>) -> Self {
        let mut members: BTreeMap<ArtifactId, BTreeSet<RelPath>> = BTreeMap::new();
        for file in files {
            let path = file.base.join(&file.path);
            members.entry(file.artifact.clone()).or_default().insert(path);
        }
        Self { members, partial: BTreeSet::new() }
    }

    /// Set with sizes from the catalog.
    pub fn with_sizes<'a>(
        catalog: &Catalog,
        files: impl IntoIterator<Item = &'a SourcePath>,
    ) -> Self {
        let mut selection = Self::new(files);
        for artifact in &catalog.artifacts {
            let Some(members) = selection.members.get(&artifact.id) else { continue };
            let (mut selected, mut total) = (0, 0);
            for entry in &artifact.entries {
                let is_wanted = members.contains(&entry.base.join(&entry.path));
                selected += if is_wanted { entry.size() } else { 0 };
                total += entry.size();
            }
            if selected < total / 2 {
                selection.partial.insert(artifact.id.clone());
            }
        }
        selection
    }

    /// Returns whether the set has less than half of the artifact's bytes: only then reading parts is
    /// faster than reading the whole archive.
    pub(super) fn is_partial(&self, artifact: &ArtifactId) -> bool {
        self.partial.contains(artifact)
    }

    /// True for the empty set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns whether the set has a file of the artifact.
    pub fn takes(&self, artifact: &ArtifactId) -> bool {
        self.members.contains_key(artifact)
    }

    pub(super) fn members(&self, artifact: &ArtifactId) -> Option<&BTreeSet<RelPath>> {
        self.members.get(artifact)
    }
}
