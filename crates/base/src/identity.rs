//! What tells, without reading them, that bytes are the ones seen before.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// What stands for bytes: if it is the same, they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The file that has them, on this machine. Within one tick of the clock a file can change twice
    /// and look the same.
    File(FileState),
    /// What whoever keeps them says of them: a digest, an entity tag. Other bytes have another.
    Tag(String),
}

/// A file, as it was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// The device that it is on.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its bytes.
    pub size: u64,
    /// When its content was changed: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// When anything of it was changed.
    pub changed: (i64, i64),
}

impl FileState {
    /// What the system says of a file.
    pub fn of(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    /// Whether the content has not changed from one look to the other. Another link to the file, or other
    /// rights, change no byte.
    pub fn has_same_content(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}
