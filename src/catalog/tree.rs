//! Where the bytes of a catalog's entries are on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::unpacked::Unpacked;
use super::{ArtifactId, Origin};

/// The artifact directory on this machine; archives are unpacked beside it for as long as this lives.
#[derive(Debug)]
pub struct Tree {
    roots: BTreeMap<ArtifactId, PathBuf>,
    // Held so that what was unpacked vanishes with the tree.
    _unpacked: Option<Unpacked>,
}

impl Tree {
    pub(super) fn new(roots: BTreeMap<ArtifactId, PathBuf>, unpacked: Option<Unpacked>) -> Self {
        Self { roots, _unpacked: unpacked }
    }

    /// The file that has the bytes of `origin`; `None` for an artifact that is not here.
    pub fn path(&self, origin: &Origin) -> Option<PathBuf> {
        let root = self.roots.get(&origin.artifact)?;
        Some(below(&below(root, origin.base.as_str()), origin.path.as_str()))
    }

    pub(super) fn roots(&self) -> &BTreeMap<ArtifactId, PathBuf> {
        &self.roots
    }
}

/// `path` with `/` between segments, below `root`.
pub(super) fn below(root: &Path, path: &str) -> PathBuf {
    path.split('/').fold(root.to_path_buf(), |dir, segment| dir.join(segment))
}
