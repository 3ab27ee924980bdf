use std::io;
use std::path::PathBuf;

use super::FieldError;
use super::wheel_name::WheelNameError;
use base::names::{DistName, PathError};
use base::version::Version;

/// Error of reading packages.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Unreadable directory.
    #[error("cannot read built packages")]
    Read(#[from] io::Error),
    /// A directory without packages.
    #[error("{} has no built packages: no .whl or .tar.gz in it or its directories", .0.display())]
    Empty(PathBuf),
    /// Unreadable wheel.
    #[error(transparent)]
    Wheel(OpenError),
    /// Invalid or truncated package.
    #[error("{} cannot be read as a {what}", .path.display())]
    Package {
        /// File.
        path: PathBuf,
        /// `wheel` or `sdist`.
        what: &'static str,
        /// Fault of the package.
        source: PackageError,
    },
}

/// Error of opening a wheel.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Invalid file name.
    #[error(transparent)]
    Name(#[from] WheelNameError),
    /// Unreadable file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Invalid zip.
    #[error("{} is not a readable zip archive: {reason}", .path.display())]
    Zip {
        /// File.
        path: PathBuf,
        /// Fault of the zip.
        reason: String,
    },
    /// Missing member.
    #[error("{} has no `{name}`", .path.display())]
    Missing {
        /// File.
        path: PathBuf,
        /// Member.
        name: String,
    },
    /// Unreadable member.
    #[error("`{name}` of {} cannot be read", .path.display())]
    Member {
        /// File.
        path: PathBuf,
        /// Member.
        name: String,
        /// Error of the member.
        source: io::Error,
    },
}

/// Fault of a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Invalid wheel.
    #[error(transparent)]
    Wheel(#[from] OpenError),
    /// Invalid zip.
    #[error("{0}")]
    Zip(String),
    /// Unreadable file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Sdist without metadata.
    #[error("the sdist has no PKG-INFO in its top directory")]
    NoPkgInfo,
    /// Invalid variants file.
    #[error("its variant data is malformed")]
    Variants(#[source] serde_json::Error),
    /// Invalid metadata field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Malformed path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Contradicting file name.
    #[error("its metadata is of {name} {version}, unlike its file name")]
    Mismatch {
        /// Name in the metadata.
        name: DistName,
        /// Version in the metadata.
        version: Version,
    },
}

impl PackageError {
    /// Returns the error of the system, or the fault of the package.
    pub fn into_io(self) -> Result<io::Error, Self> {
        let is_fault = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge)
        };
        match self {
            Self::Io(error) | Self::Wheel(OpenError::Io(error)) if !is_fault(&error) => Ok(error),
            other => Err(other),
        }
    }
}
