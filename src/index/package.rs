//! What an index says of one package.

use serde::{Deserialize, Serialize};

use super::OpenError;
use crate::archive::{Timestamp, WheelName};
use crate::names::{DistName, NameError, RelPath};
use crate::version::{Version, VersionError};

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
    #[error("its metadata has no {0}")]
    NoField(&'static str),
    /// The name in the metadata.
    #[error("its metadata has an impossible name")]
    Name(#[from] NameError),
    /// The version in the metadata.
    #[error("its metadata has an impossible version")]
    Version(#[from] VersionError),
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

/// Checks that a wheel's file name says what its metadata says.
pub(super) fn check_wheel(
    file: &WheelName,
    name: DistName,
    version: Version,
) -> Result<(DistName, Version), PackageError> {
    let same = file.dist.normalized() == name.normalized() && file.version == version;
    if same { Ok((name, version)) } else { Err(PackageError::Mismatch { name, version }) }
}

/// Checks the same of an sdist. Old ones have `-` in their names, so that every `-` may be the one.
pub(super) fn check_sdist(
    file: &str,
    name: DistName,
    version: Version,
) -> Result<(DistName, Version), PackageError> {
    let stem = file.strip_suffix(".tar.gz").unwrap_or(file);
    let is_ours = |(at, _): (usize, &str)| {
        let (dist, rest) = (stem[..at].parse::<DistName>(), stem[at + 1..].parse::<Version>());
        dist.is_ok_and(|dist| dist.normalized() == name.normalized())
            && rest.is_ok_and(|rest| rest == version)
    };
    let same = stem.match_indices('-').any(is_ours);
    if same { Ok((name, version)) } else { Err(PackageError::Mismatch { name, version }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdists_of_any_age_are_known_by_their_names() {
        let check = |file, name: &str, version: &str| {
            check_sdist(file, name.parse().unwrap(), version.parse().unwrap()).is_ok()
        };
        assert!(check("my_dist-1.0.tar.gz", "My-Dist", "1.0"));
        assert!(check("My-Dist-1.0-rc1.tar.gz", "my.dist", "1.0rc1"));
        assert!(!check("my_dist-1.1.tar.gz", "my-dist", "1.0"));
        assert!(!check("other-1.0.tar.gz", "my-dist", "1.0"));
        assert!(!check("nothing.tar.gz", "nothing", "1.0"));
    }
}
