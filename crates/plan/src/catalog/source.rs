//! The seam: where artifacts are, and how their bytes are had.

use std::fmt::Debug;
use std::io;

use super::{ArtifactId, Ignored, Origin};
use base::hash::Sha256;
use base::identity::Identity;
use base::names::RelPath;
use base::source::Problem;
use binary::ReadAt;

/// Artifacts that can be listed and read, wherever they are. Any number of threads may.
///
/// What cannot be read in any order, such as a compressed archive, its source unpacks.
pub trait Source: Debug + Send + Sync {
    /// The artifacts, sorted.
    fn artifacts(&self) -> Vec<ArtifactId>;

    /// What lies beside them and is no artifact, sorted by name.
    fn ignored(&self) -> &[Ignored];

    /// A text that lies in an artifact, at a `/`-relative path below the artifact's own directory.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none; when it cannot be read, has more than `most`
    /// bytes, or is not UTF-8. The error names the file.
    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String>;

    /// Everything below a base directory of an artifact, links not followed; `None` when there is no
    /// such directory.
    ///
    /// # Errors
    /// When the directory is not the artifact's own. What is wrong with one entry is told in its place.
    fn list(
        &self,
        artifact: &ArtifactId,
        base: &RelPath,
    ) -> Result<Option<Vec<ListedEntry>>, Problem>;

    /// Returns the SHA-256 of the archive that an artifact was read from; `None` for other artifacts.
    fn archive(&self, _artifact: &ArtifactId) -> Option<Sha256> {
        None
    }

    /// Finds a file, without reading it.
    ///
    /// # Errors
    /// When it is not there, or no regular file.
    fn find(&self, origin: &Origin) -> io::Result<Box<dyn SourceFile>>;

    /// Opens a file.
    ///
    /// # Errors
    /// As [`Source::find`], and when it cannot be opened.
    fn open(&self, origin: &Origin) -> io::Result<Box<dyn OpenFile>> {
        self.find(origin)?.open()
    }
}

/// One thing below a base directory, or what is wrong with it.
pub type ListedEntry = Result<Listed, Problem>;

/// One thing below a base directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its path below the base directory.
    pub path: RelPath,
    /// What it is.
    pub kind: ListedKind,
}

/// What something below a base directory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link with this text.
    Symlink(String),
}

/// A file that was found. It is open only while it is read, since there can be more than a process may open.
pub trait SourceFile: Debug + Send + Sync {
    /// How many bytes it has.
    fn len(&self) -> u64;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What stands for its bytes, as it was found.
    fn identity(&self) -> &Identity;

    /// Opens it.
    ///
    /// # Errors
    /// When it cannot be opened any more.
    fn open(&self) -> io::Result<Box<dyn OpenFile>>;

    /// Says that bytes will be read soon. What goes wrong shows when they are.
    fn read_ahead(&self, _offset: u64, _len: u64) {}

    /// Says that whoever found it needs its bytes no more. When that was said wherever it was found, a source that keeps
    /// them for this run alone may give their room up; reading them is an error then.
    fn give_up(&self) {}
}

/// A file that is open, read by position.
pub trait OpenFile: ReadAt {
    /// Whether anybody may execute it.
    fn is_executable(&self) -> bool;

    /// Makes sure that what was read is what was found: nobody changed the file meanwhile.
    ///
    /// # Errors
    /// If somebody did; it names the file.
    fn check_unchanged(&self) -> io::Result<()>;
}
