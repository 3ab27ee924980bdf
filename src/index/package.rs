//! What an index says of one package.

use serde::{Deserialize, Serialize};

use crate::archive::Timestamp;
use crate::names::{DistName, RelPath};
use crate::package::{FieldError, OpenError};
use crate::version::Version;

/// Why a file is no package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It cannot be read as a wheel.
    #[error(transparent)]
    Wheel(#[from] OpenError),
    /// It cannot be read at all, or is no gzipped tarball.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An sdist without metadata.
    #[error("the sdist has no PKG-INFO in its directory at the top")]
    NoPkgInfo,
    /// Metadata without a field that has to be there.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The file name says one thing, the metadata another.
    #[error("its metadata is that of {name} {version}, which its file name is not")]
    Mismatch {
        /// The name in the metadata.
        name: DistName,
        /// The version there.
        version: Version,
    },
}

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
    /// What files are ordered by on a page: versions as PEP 440 orders them, then names.
    pub(super) fn order(&self) -> (Option<pep440_rs::Version>, String) {
        (self.package.version.as_str().parse().ok(), self.path.file_name().to_owned())
    }
}
