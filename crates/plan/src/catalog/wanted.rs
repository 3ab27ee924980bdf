//! Which files are wanted of artifacts, where it is known before they are unpacked.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArtifactId, Catalog, Origin};
use base::names::RelPath;

/// Files of artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Of each artifact, paths below its directory.
    members: BTreeMap<ArtifactId, BTreeSet<RelPath>>,
    /// Artifacts of which less than half is wanted, in bytes.
    partial: BTreeSet<ArtifactId>,
}

impl Wanted {
    /// These, where nothing is known of the others.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a Origin>) -> Self {
        let mut members: BTreeMap<ArtifactId, BTreeSet<RelPath>> = BTreeMap::new();
        for file in files {
            let path = file.base.join(&file.path);
            members.entry(file.artifact.clone()).or_default().insert(path);
        }
        Self { members, partial: BTreeSet::new() }
    }

    /// These, out of all that a catalog has.
    pub fn of<'a>(catalog: &Catalog, files: impl IntoIterator<Item = &'a Origin>) -> Self {
        let mut wanted = Self::new(files);
        for artifact in &catalog.artifacts {
            let Some(members) = wanted.members.get(&artifact.id) else { continue };
            let (mut taken, mut all) = (0, 0);
            for entry in &artifact.entries {
                let is_wanted = members.contains(&entry.base.join(&entry.path));
                taken += if is_wanted { entry.size() } else { 0 };
                all += entry.size();
            }
            if taken < all / 2 {
                wanted.partial.insert(artifact.id.clone());
            }
        }
        wanted
    }

    /// Whether less than half of an artifact is wanted, so that reading only that is worth requests of its own.
    pub(super) fn is_partial(&self, artifact: &ArtifactId) -> bool {
        self.partial.contains(artifact)
    }

    /// Whether nothing is wanted at all.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether anything is wanted of an artifact.
    pub fn takes(&self, artifact: &ArtifactId) -> bool {
        self.members.contains_key(artifact)
    }

    /// What is wanted of an artifact: paths below its directory.
    pub(super) fn members(&self, artifact: &ArtifactId) -> Option<&BTreeSet<RelPath>> {
        self.members.get(artifact)
    }
}
