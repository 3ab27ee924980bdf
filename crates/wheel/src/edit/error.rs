//! Faults of an edit.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::zip::ZipError;
use crate::package::{CopyError, OpenError};
use base::names::PathError;

/// A fault of a function that writes a content.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Fault of a wheel that is written.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The old wheel cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No installer takes a member.
    #[error(transparent)]
    Member(#[from] CopyError),
    /// The name of a member is no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The archive cannot be written.
    #[error(transparent)]
    Zip(#[from] ZipError),
    /// A content cannot be made.
    #[error(transparent)]
    Content(#[from] Fault),
}

/// Fault of a wheel that is written into a directory.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The old wheel cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Another file has the name of the new wheel.
    #[error("{} already exists with other content", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// No installer takes a member.
    #[error("`{name}` of {} {reason}", .wheel.display())]
    Member {
        /// The old wheel.
        wheel: PathBuf,
        /// The member.
        name: String,
        /// The fault, as the rest of a sentence.
        reason: &'static str,
    },
    /// The name of a member is no path.
    #[error("a member of {} cannot be copied", .wheel.display())]
    Path {
        /// The old wheel.
        wheel: PathBuf,
        /// The fault of the name.
        source: PathError,
    },
    /// The archive cannot be written.
    #[error("cannot write {}", .path.display())]
    Zip {
        /// The new wheel.
        path: PathBuf,
        /// The cause.
        source: ZipError,
    },
    /// A content cannot be made.
    #[error("cannot write {}", .path.display())]
    Content {
        /// The new wheel.
        path: PathBuf,
        /// The cause.
        source: Fault,
    },
    /// The file cannot be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The new wheel.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl MakeError {
    /// Adds the paths of the old wheel and of the new one.
    pub(super) fn of(error: EditError, wheel: &Path, path: &Path) -> Self {
        let (wheel, path) = (wheel.to_owned(), path.to_owned());
        match error {
            EditError::Open(error) => Self::Open(error),
            EditError::Member(CopyError { name, reason }) => Self::Member { wheel, name, reason },
            EditError::Path(source) => Self::Path { wheel, source },
            EditError::Zip(source) => Self::Zip { path, source },
            EditError::Content(source) => Self::Content { path, source },
        }
    }
}
