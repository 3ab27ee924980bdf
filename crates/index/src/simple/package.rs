//! What an index says of one package.

use serde::{Deserialize, Serialize};

use base::names::{PackageName, RelPath};
use base::version::Version;
use wheel::archive::Timestamp;

/// Facts of a package, as they stay from one update to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Package {
    /// The file's size in bytes.
    pub(super) size: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub(super) sha256: String,
    /// The SHA-256 of its METADATA, if it is a wheel.
    pub(super) metadata: Option<String>,
    /// The project as URLs name it (PEP 503).
    pub(super) project: String,
    /// Its version.
    pub(super) version: Version,
    /// The Python versions that it runs with.
    pub(super) requires_python: Option<String>,
    /// The index of its own that it is for, as a further selector of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<PackageName>,
    /// When its newest member is from, in seconds since 1970.
    pub(super) time: u64,
}

/// A package on a page.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// Where it lies.
    pub(super) path: RelPath,
    /// What it is.
    pub(super) package: Package,
    /// Why nobody should take it any more (PEP 592); empty when no reason is given.
    pub(super) yanked: Option<String>,
    /// When it was uploaded.
    pub(super) time: Timestamp,
}

impl Listed {
    /// The directory that it belongs to; none is the top. A selector for an index lies in a directory of that name
    /// below it.
    pub(super) fn home(&self) -> Option<RelPath> {
        let parent = self.path.parent();
        match (&parent, &self.package.index) {
            (Some(own), Some(index)) if own.file_name() == index.as_str() => own.parent(),
            _ => parent,
        }
    }

    /// What files are ordered by on a page: versions as PEP 440 orders them, then names.
    pub(super) fn order(&self) -> (Option<pep440_rs::Version>, String) {
        (self.package.version.as_str().parse().ok(), self.path.file_name().to_owned())
    }
}
