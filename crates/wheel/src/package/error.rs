//! Why a package is refused.

use std::io;
use std::path::PathBuf;

use super::FieldError;
use super::wheel_name::WheelNameError;
use base::names::{DistName, PathError};
use base::version::Version;

/// Why packages could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A directory could not be listed.
    #[error("cannot read built packages")]
    Read(#[from] io::Error),
    /// There is nothing to compare in a directory.
    #[error("{} has no built packages: no .whl and no .tar.gz, neither there nor in a directory in it", .0.display())]
    Empty(PathBuf),
    /// A wheel cannot be opened.
    #[error(transparent)]
    Wheel(OpenError),
    /// A package is not what its name says, or is cut short.
    #[error("{} cannot be read as a {what}", .path.display())]
    Package {
        /// The file.
        path: PathBuf,
        /// `wheel` or `sdist`.
        what: &'static str,
        /// What is wrong with it.
        source: PackageError,
    },
}

/// Why a wheel cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its file name.
    #[error(transparent)]
    Name(#[from] WheelNameError),
    /// The file itself.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The zip that it should be.
    #[error("{} is no zip archive that can be read: {reason}", .path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A member that has to be there.
    #[error("{} has no `{name}`", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The member's name.
        name: String,
    },
    /// A member could not be read.
    #[error("`{name}` of {} cannot be read", .path.display())]
    Member {
        /// The file.
        path: PathBuf,
        /// The member's name.
        name: String,
        /// What is wrong with it.
        source: io::Error,
    },
}

/// Why a file is no package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// It cannot be read as a wheel.
    #[error(transparent)]
    Wheel(#[from] OpenError),
    /// It cannot be read as the zip that a wheel is.
    #[error("{0}")]
    Zip(String),
    /// It cannot be read at all, or is no gzipped tarball.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An sdist without metadata.
    #[error("the sdist has no PKG-INFO in its directory at the top")]
    NoPkgInfo,
    /// A file about wheel variants that installers could not read.
    #[error("it does not tell of wheel variants in a form that installers read")]
    Variants(#[source] serde_json::Error),
    /// Metadata without a field that has to be there.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A malformed path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The file name says one thing, the metadata another.
    #[error("its metadata is that of {name} {version}, which its file name is not")]
    Mismatch {
        /// The name in the metadata.
        name: DistName,
        /// The version there.
        version: Version,
    },
}
