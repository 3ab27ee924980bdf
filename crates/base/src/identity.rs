//! Identity of content, determined without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Mark of content: equal marks mean equal bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Local file. Two changes within one tick of the clock can leave it equal.
    File(FileState),
    /// Digest or entity tag from the store.
    Tag(String),
}

/// State of a file at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Change of content: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// Change of content or metadata.
    pub changed: (i64, i64),
}

impl FileState {
    /// Takes the state from metadata.
    pub fn of(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    /// Ignores `changed`, which new hard links and permissions update.
    pub fn has_same_content(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}
