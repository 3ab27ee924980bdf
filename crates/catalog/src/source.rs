use std::fmt::Debug;
use std::io;

use super::{ArtifactId, Ignored, SourcePath};
use base::hash::Sha256;
use base::identity::Identity;
use base::names::RelPath;
use base::source::Problem;
use binary::ReadAt;

/// Artifacts, read in parallel. Implementations must unpack archives.
pub trait Source: Debug + Send + Sync {
    /// Sorted artifacts.
    fn artifacts(&self) -> Vec<ArtifactId>;

    /// Other children of the directory, sorted.
    fn ignored(&self) -> &[Ignored];

    /// Reads a text at a `/`-separated path below the artifact.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if missing; others beyond `most` bytes or for invalid UTF-8.
    /// Errors name the file.
    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String>;

    /// Entries or faults below a base directory, links not followed; `None` if missing.
    ///
    /// # Errors
    ///
    /// If the directory is outside of the artifact.
    fn list(
        &self,
        artifact: &ArtifactId,
        base: &RelPath,
    ) -> Result<Option<Vec<ListedEntry>>, Problem>;

    /// SHA-256 of an archive.
    fn archive(&self, _artifact: &ArtifactId) -> Option<Sha256> {
        None
    }

    /// Finds a regular file without reading it.
    fn find(&self, origin: &SourcePath) -> io::Result<Box<dyn SourceFile>>;

    /// Opens a regular file.
    fn open(&self, origin: &SourcePath) -> io::Result<Box<dyn OpenFile>> {
        self.find(origin)?.open()
    }
}

/// Entry, or its fault.
pub type ListedEntry = Result<Listed, Problem>;

/// Entry below a base directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path below the base directory.
    pub path: RelPath,
    /// Type.
    pub kind: ListedKind,
}

/// Type of a listed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedKind {
    /// Directory.
    Directory,
    /// Regular file.
    File,
    /// Link with its text.
    Symlink(String),
}

/// A found file, open only during reading: processes have limits of open files.
pub trait SourceFile: Debug + Send + Sync {
    /// Size in bytes.
    fn len(&self) -> u64;

    /// True if empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key; equal ones mean equal bytes.
    fn identity(&self) -> &Identity;

    /// Opens the file.
    fn open(&self) -> io::Result<Box<dyn OpenFile>>;

    /// Announces a read, which reports the errors.
    fn read_ahead(&self, _offset: u64, _len: u64) {}

    /// Ends this finder's use. After the last one, reads may fail: storage is freed.
    fn give_up(&self) {}
}

/// An open file, read by position.
pub trait OpenFile: ReadAt {
    /// True if any execute bit is set.
    fn is_executable(&self) -> bool;

    /// Fails, with the file's name, if it changed.
    fn check_unchanged(&self) -> io::Result<()>;
}
