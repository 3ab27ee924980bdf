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
    /// Number of hard links.
    pub links: u64,
    /// Permissions, owner and group.
    pub permissions: (u32, u32, u32),
}

impl FileState {
    /// Takes the state from metadata.
    pub fn new(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
            links: file.nlink(),
            permissions: (file.mode(), file.uid(), file.gid()),
        }
    }

    /// Accepts another `changed` if links, permissions or owner explain it: programs can put back
    /// `modified`, but not `changed`.
    pub fn has_same_content(&self, other: &Self) -> bool {
        let file = |state: &Self| (state.device, state.inode, state.size, state.modified);
        let metadata = |state: &Self| (state.links, state.permissions);
        file(self) == file(other)
            && (self.changed == other.changed || metadata(self) != metadata(other))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn state(path: &Path) -> FileState {
        FileState::new(&fs_err::metadata(path).unwrap())
    }

    #[test]
    fn detects_an_overwritten_file_with_its_old_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs_err::write(&path, "one").unwrap();
        let before = state(&path);
        assert!(before.has_same_content(&state(&path)));
        std::thread::sleep(Duration::from_millis(20));
        let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
        fs_err::write(&path, "two").unwrap();
        fs_err::OpenOptions::new().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let after = state(&path);
        assert_eq!((before.modified, before.size), (after.modified, after.size));
        assert!(!after.has_same_content(&before));
    }

    #[test]
    fn treats_new_links_and_permissions_as_the_same_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs_err::write(&path, "one").unwrap();
        let before = state(&path);
        std::thread::sleep(Duration::from_millis(20));
        fs_err::hard_link(&path, dir.path().join("link")).unwrap();
        let linked = state(&path);
        assert!(linked != before && linked.has_same_content(&before));
        std::thread::sleep(Duration::from_millis(20));
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(state(&path).has_same_content(&linked));
    }
}
