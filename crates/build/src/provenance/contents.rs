//! The digest of an artifact's bytes.

use super::statement::{COVERS, Descriptor};
use plan::catalog::ArtifactId;

/// A digest of all bytes of an artifact, SHA-256 in hexadecimal. Those of two kinds cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Of the archive.
    Archive(String),
    /// Of a list with path and SHA-256 of each file.
    Files(String),
    /// Of the directory in the storage of a build farm.
    Stored(String),
}

/// What comes before the artifact in the name of the dependency.
const CONTENTS: &str = "contents";

/// Sorts the contents among dependencies, which come last, by artifact: builds one after the other give the order of one.
pub(super) fn sort(dependencies: &mut [Descriptor]) {
    let key = |it: &Descriptor| {
        it.name().strip_prefix(CONTENTS).filter(|rest| rest.starts_with('/')).map(str::to_owned)
    };
    dependencies.sort_by_key(key);
}

impl Contents {
    /// Returns the dependency that a statement names.
    pub(super) fn descriptor(&self, id: &ArtifactId) -> Descriptor {
        let (sha256, covers) = match self {
            Self::Archive(sha256) => (sha256, "the archive's bytes"),
            Self::Files(sha256) => (sha256, "path and SHA-256 of each file"),
            Self::Stored(sha256) => (sha256, "the directory in the storage of a build farm"),
        };
        Descriptor::text(&format!("{CONTENTS}/{id}"), sha256.clone()).with(COVERS, covers)
    }
}
