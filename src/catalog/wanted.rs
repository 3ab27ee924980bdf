//! Which files are wanted of artifacts, where it is known before they are unpacked.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArtifactId, Origin};
use crate::names::RelPath;

/// Files of artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Of each artifact, paths below its directory.
    members: BTreeMap<ArtifactId, BTreeSet<RelPath>>,
}

impl Wanted {
    /// These.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a Origin>) -> Self {
        let mut members: BTreeMap<ArtifactId, BTreeSet<RelPath>> = BTreeMap::new();
        for file in files {
            let path = file.base.join(&file.path);
            members.entry(file.artifact.clone()).or_default().insert(path);
        }
        Self { members }
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
    pub(super) fn of(&self, artifact: &ArtifactId) -> Option<&BTreeSet<RelPath>> {
        self.members.get(artifact)
    }
}
