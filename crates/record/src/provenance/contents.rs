use super::statement::{COVERS, Descriptor};
use catalog::ArtifactId;

/// Hexadecimal SHA-256 of an artifact. Digests of different kinds are not comparable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Digest of the archive.
    Archive(String),
    /// Digest of the list of paths and SHA-256.
    Files(String),
    /// Digest of the directory in a build farm's storage.
    Stored(String),
}

const CONTENTS: &str = "contents";

pub(super) fn sort(dependencies: &mut [Descriptor]) {
    let key = |it: &Descriptor| {
        it.name().strip_prefix(CONTENTS).filter(|rest| rest.starts_with('/')).map(str::to_owned)
    };
    dependencies.sort_by_key(key);
}

impl Contents {
    pub(super) fn descriptor(&self, id: &ArtifactId) -> Descriptor {
        let (sha256, covers) = match self {
            Self::Archive(sha256) => (sha256, "the archive's bytes"),
            Self::Files(sha256) => (sha256, "path and SHA-256 of each file"),
            Self::Stored(sha256) => (sha256, "the directory in the storage of a build farm"),
        };
        Descriptor::text(&format!("{CONTENTS}/{id}"), sha256.clone())
            .with_annotation(COVERS, covers)
    }
}
