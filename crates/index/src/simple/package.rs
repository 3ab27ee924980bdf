use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::yank::Yank;
use base::names::{PackageName, RelPath};
use base::version::Version;
use wheel::archive::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Package {
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) metadata: Option<String>,
    /// Normalized name (PEP 503).
    pub(super) project: String,
    pub(super) version: Version,
    pub(super) requires_python: Option<String>,
    /// `None` is the index of all packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<PackageName>,
    /// Time of the newest member, in seconds since 1970.
    pub(super) time: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) path: RelPath,
    pub(super) package: Arc<Package>,
    /// State in `FILE.yanked`.
    pub(super) yank: Option<Yank>,
    /// Address of the provenance object.
    pub(super) provenance: Option<String>,
    pub(super) time: Timestamp,
}

impl Listed {
    /// Directory of the page; `None` is the top. A selector for a further index is one directory
    /// deeper.
    pub(super) fn home(&self) -> Option<RelPath> {
        let parent = self.path.parent();
        match (&parent, &self.package.index) {
            (Some(directory), Some(index)) if directory.file_name() == index.as_str() => {
                directory.parent()
            }
            _ => parent,
        }
    }

    pub(super) fn order(&self) -> (Option<pep440_rs::Version>, String) {
        (self.package.version.as_str().parse().ok(), self.path.file_name().to_owned())
    }
}
