use std::io;
use std::path::{Path, PathBuf};

use crate::archive::zip::ZipError;
use crate::package::{CopyError, OpenError};
use base::names::PathError;

/// Fault of a function that makes the content of a member.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Fault of writing a wheel.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The old wheel cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Member that installers reject.
    #[error(transparent)]
    Member(#[from] CopyError),
    /// Member name that is not a valid path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Member to replace or remove that the old wheel lacks.
    #[error("there is no member `{name}` to replace or remove")]
    Absent {
        /// Name.
        name: String,
    },
    /// Archive that cannot be written.
    #[error(transparent)]
    Zip(#[from] ZipError),
    /// Content that cannot be made.
    #[error(transparent)]
    Content(#[from] Fault),
}

/// Fault of writing a wheel into a directory; each message names a file.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// Unreadable old wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Another file with the new name.
    #[error("{} already exists with other content", .path.display())]
    Exists {
        /// File.
        path: PathBuf,
    },
    /// Wheels with one new name.
    #[error("two wheels would have the name {}, with different content", .path.display())]
    Twice {
        /// File.
        path: PathBuf,
    },
    /// Member that installers reject.
    #[error("`{name}` of {} {reason}", .wheel.display())]
    Member {
        /// Old wheel.
        wheel: PathBuf,
        /// Member.
        name: String,
        /// Fault: the rest of the sentence that begins with the member.
        reason: &'static str,
    },
    /// Member name that is not a valid path.
    #[error("a member of {} cannot be copied", .wheel.display())]
    Path {
        /// Old wheel.
        wheel: PathBuf,
        /// Fault of the name.
        source: PathError,
    },
    /// Archive that cannot be written.
    #[error("cannot write {}", .path.display())]
    Zip {
        /// New wheel.
        path: PathBuf,
        /// Cause.
        source: ZipError,
    },
    /// Content that cannot be made.
    #[error("cannot write {}", .path.display())]
    Content {
        /// New wheel.
        path: PathBuf,
        /// Cause.
        source: Fault,
    },
    /// File that cannot be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// New wheel.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
}

impl MakeError {
    pub(crate) fn new(error: EditError, wheel: &Path, path: &Path) -> Self {
        let (wheel, path) = (wheel.to_owned(), path.to_owned());
        match error {
            EditError::Absent { .. } => Self::Content { path, source: error.into() },
            EditError::Open(error) => Self::Open(error),
            EditError::Member(CopyError { name, reason }) => Self::Member { wheel, name, reason },
            EditError::Path(source) => Self::Path { wheel, source },
            EditError::Zip(source) => Self::Zip { path, source },
            EditError::Content(source) => Self::Content { path, source },
        }
    }
}
