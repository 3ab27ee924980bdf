//! Interface to the storage of artifacts.

use std::fmt::Debug;
use std::io;

use super::{ArtifactId, Ignored, Origin};
use base::hash::Sha256;
use base::identity::Identity;
use base::names::RelPath;
use base::source::Problem;
use binary::ReadAt;

/// A collection of artifacts that threads can list and read in parallel.
///
/// The implementation must unpack sequential forms, such as compressed archives.
pub trait Source: Debug + Send + Sync {
    /// Returns the artifacts, sorted.
    fn artifacts(&self) -> Vec<ArtifactId>;

    /// Returns the other children of the directory, sorted by name.
    fn ignored(&self) -> &[Ignored];

    /// Reads a text at a `/`-separated path, relative to the artifact.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is missing. Also fails if it is unreadable, larger than
    /// `most` bytes or not UTF-8. Errors name the file.
    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String>;

    /// Lists everything below a base directory, links not followed; `None` if it is missing.
    ///
    /// # Errors
    /// Fails if the directory is outside of the artifact. Faults of entries are items of the list.
    fn list(
        &self,
        artifact: &ArtifactId,
        base: &RelPath,
    ) -> Result<Option<Vec<ListedEntry>>, Problem>;

    /// Returns the SHA-256 of the artifact's archive; `None` for other artifacts.
    fn archive(&self, _artifact: &ArtifactId) -> Option<Sha256> {
        None
    }

    /// Finds a file without reading it.
    ///
    /// # Errors
    /// Fails if it is missing or not a regular file.
    fn find(&self, origin: &Origin) -> io::Result<Box<dyn SourceFile>>;

    /// Opens a file.
    ///
    /// # Errors
    /// As [`Source::find`]; also fails if it cannot be opened.
    fn open(&self, origin: &Origin) -> io::Result<Box<dyn OpenFile>> {
        self.find(origin)?.open()
    }
}

/// An entry below a base directory, or its fault.
pub type ListedEntry = Result<Listed, Problem>;

/// An entry below a base directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path, relative to the base directory.
    pub path: RelPath,
    /// Type.
    pub kind: ListedKind,
}

/// Type of a listed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link with its text.
    Symlink(String),
}

/// A found file. It is open only during reading, because a plan can have more files than a process
/// may open.
pub trait SourceFile: Debug + Send + Sync {
    /// Returns the size in bytes.
    fn len(&self) -> u64;

    /// Returns true if the size is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a key of the content: equal keys mean equal bytes.
    fn identity(&self) -> &Identity;

    /// Opens the file.
    ///
    /// # Errors
    /// Fails if it can no longer be opened.
    fn open(&self) -> io::Result<Box<dyn OpenFile>>;

    /// Hints that a range will be read soon. Errors show in the read.
    fn read_ahead(&self, _offset: u64, _len: u64) {}

    /// Ends this finder's use of the bytes. After the last finder, a source may free temporary
    /// storage; reads then fail.
    fn give_up(&self) {}
}

/// An open file, read by position.
pub trait OpenFile: ReadAt {
    /// Returns true if any execute bit is set.
    fn is_executable(&self) -> bool;

    /// Checks that the file did not change since it was found.
    ///
    /// # Errors
    /// Fails if it did; the error names the file.
    fn check_unchanged(&self) -> io::Result<()>;
}
