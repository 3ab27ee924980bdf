//! What can go wrong with a destination.

use std::io;
use std::path::{Path, PathBuf};

use base::names::RelPath;

/// Why outputs could not be made or put in place.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Another build writes to the same destination.
    #[error("another build is writing to `{}`: wait for it, or choose another destination", .dest.display())]
    Busy {
        /// The destination.
        dest: PathBuf,
    },
    /// The destination, or what lies above it, is a file.
    #[error("`{}` is not a directory, packages cannot be written there", .path.display())]
    NotADirectory {
        /// The path that is a file.
        path: PathBuf,
    },
    /// The destination may not be written.
    #[error("no permission to write to `{}`", .path.display())]
    NotWritable {
        /// The destination.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The destination is on a file system that nobody may write.
    #[error("`{}` is on a read-only file system", .path.display())]
    ReadOnly {
        /// The destination.
        path: PathBuf,
    },
    /// The file system of the destination has no room.
    #[error("the disk that holds `{}` is full", .path.display())]
    Full {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// One output was made twice.
    #[error("the output `{path}` is made twice")]
    Twice {
        /// Its path below the destination.
        path: RelPath,
    },
    /// An output was promised and not made.
    #[error("the output `{path}` was never made")]
    Missing {
        /// Its path below the destination.
        path: RelPath,
    },
    /// An output's place is taken by a directory.
    #[error("`{}` is a directory, an output cannot take its name", .path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// A link is in the destination's place, and what it names does not exist.
    #[error("`{}` is a link to something that does not exist", .path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// The destination's name has no characters.
    #[error("the destination is an empty path")]
    Empty,
    /// The file system of the destination makes no directories.
    #[error("no directory can be made at `{}`: its file system makes none", .path.display())]
    NoDirectories {
        /// The directory that was to be made.
        path: PathBuf,
    },
    /// Outputs were put in place half-way, and the change could not be undone.
    #[error(
        "`{}` has outputs of two builds, since a change that failed could not be undone: \
         once the disk works again, the next `rockpack build` or `rockpack wheel verify` undoes it",
        .dest.display()
    )]
    HalfWay {
        /// The destination.
        dest: PathBuf,
        /// Why the change failed.
        source: Box<StageError>,
    },
    /// Anything else; the cause says which operation and which path.
    #[error("failed to {doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system says, with the path.
        source: io::Error,
    },
}

impl StageError {
    /// What an error at `path` while `doing` something means to the one who reads it.
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
