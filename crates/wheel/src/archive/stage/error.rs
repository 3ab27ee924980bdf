use std::io;
use std::path::{Path, PathBuf};

use base::names::RelPath;

/// Error of creating or committing outputs.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Locked destination.
    #[error("another build is writing to `{}`: wait for it, or choose another destination", .dest.display())]
    Busy {
        /// Destination.
        dest: PathBuf,
    },
    /// File as destination.
    #[error("`{}` is not a directory for packages", .path.display())]
    NotADirectory {
        /// File.
        path: PathBuf,
    },
    /// Unwritable destination.
    #[error("no permission to write to `{}`", .path.display())]
    NotWritable {
        /// Destination.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Read-only file system.
    #[error("`{}` is on a read-only file system", .path.display())]
    ReadOnly {
        /// Destination.
        path: PathBuf,
    },
    /// Full file system.
    #[error("the disk of `{}` is full", .path.display())]
    Full {
        /// Path.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Duplicate output.
    #[error("the output `{path}` is made twice")]
    Twice {
        /// Output.
        path: RelPath,
    },
    /// Missing output.
    #[error("the output `{path}` was never made")]
    Missing {
        /// Output.
        path: RelPath,
    },
    /// Directory in place of an output.
    #[error("`{}` is a directory; an output cannot replace it", .path.display())]
    Occupied {
        /// Directory.
        path: PathBuf,
    },
    /// Dangling link.
    #[error("`{}` is a dangling link", .path.display())]
    Dangling {
        /// Link.
        path: PathBuf,
    },
    /// Empty path.
    #[error("the destination is an empty path")]
    Empty,
    /// Unsupported directory.
    #[error("cannot create a directory at `{}`: its file system has no directories", .path.display())]
    NoDirectories {
        /// Directory.
        path: PathBuf,
    },
    /// Change that was not undone.
    #[error(
        "`{}` has outputs of two builds, because a failed change could not be undone; when the \
         disk works again, run `rockpack build` or `rockpack wheel verify` to undo it",
        .dest.display()
    )]
    HalfWay {
        /// Destination.
        dest: PathBuf,
        /// Cause.
        source: Box<StageError>,
    },
    /// Other error.
    #[error("failed to {doing}")]
    Io {
        /// Failed operation.
        doing: &'static str,
        /// System error.
        source: io::Error,
    },
}

impl StageError {
    pub(super) fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { path, source }
            }
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::PermissionDenied => Self::NotWritable { path, source },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { doing, source },
        }
    }

    pub(super) fn context(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(doing, path, source)
    }
}
