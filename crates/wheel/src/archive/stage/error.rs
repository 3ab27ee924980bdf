use std::io;
use std::path::{Path, PathBuf};

use base::names::RelPath;

/// Error of creating or committing outputs.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Another build has the lock.
    #[error("another build is writing to `{}`: wait for it, or choose another destination", .dest.display())]
    Busy {
        /// Destination.
        dest: PathBuf,
    },
    /// The destination or a parent is a file.
    #[error("`{}` is not a directory for packages", .path.display())]
    NotADirectory {
        /// File.
        path: PathBuf,
    },
    /// The destination is not writable.
    #[error("no permission to write to `{}`", .path.display())]
    NotWritable {
        /// Destination.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The file system is read-only.
    #[error("`{}` is on a read-only file system", .path.display())]
    ReadOnly {
        /// Destination.
        path: PathBuf,
    },
    /// The file system is full.
    #[error("the disk of `{}` is full", .path.display())]
    Full {
        /// Path to be written.
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
    /// Output that was never created.
    #[error("the output `{path}` was never made")]
    Missing {
        /// Output.
        path: RelPath,
    },
    /// A directory exists in place of an output.
    #[error("`{}` is a directory; an output cannot replace it", .path.display())]
    Occupied {
        /// Directory.
        path: PathBuf,
    },
    /// The destination is a dangling link.
    #[error("`{}` is a dangling link", .path.display())]
    Dangling {
        /// Link.
        path: PathBuf,
    },
    /// The path of the destination is empty.
    #[error("the destination is an empty path")]
    Empty,
    /// The file system does not support new directories.
    #[error("cannot create a directory at `{}`: its file system has no directories", .path.display())]
    NoDirectories {
        /// Directory to be created.
        path: PathBuf,
    },
    /// A failed change could not be undone.
    #[error(
        "`{}` has outputs of two builds, because a failed change could not be undone; when the \
         disk works again, run `rockpack build` or `rockpack wheel verify` to undo it",
        .dest.display()
    )]
    HalfWay {
        /// Destination.
        dest: PathBuf,
        /// Reason of the failure.
        source: Box<StageError>,
    },
    /// Any other error.
    #[error("failed to {doing}")]
    Io {
        /// Failed operation.
        doing: &'static str,
        /// System error, with the path.
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

    pub(super) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(doing, path, source)
    }
}
