//! Mark of a clone whose `init` program has not succeeded. It is there before the clone is.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};

/// git ignores other files in its directory.
const PLACE: &str = ".git/rockpack-init";

pub(crate) fn mark(clone: &Path) -> io::Result<()> {
    fs::write(clone.join(PLACE), "")
}

pub(crate) fn is_left(clone: &Path) -> bool {
    clone.join(PLACE).is_file()
}

/// Locked mark.
pub(crate) struct Mark {
    path: PathBuf,
    _lock: File,
}

impl Mark {
    /// Returns `None` while another process has it.
    pub fn take(clone: &Path) -> io::Result<Option<Self>> {
        let path = clone.join(PLACE);
        let lock = File::open(&path)?;
        let is_taken = matches!(lock.file().try_lock(), Err(TryLockError::WouldBlock));
        Ok((!is_taken).then_some(Self { path, _lock: lock }))
    }

    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_holds_a_mark_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(!is_left(dir.path()) && Mark::take(dir.path()).is_err());
        mark(dir.path()).unwrap();
        let first = Mark::take(dir.path()).unwrap().unwrap();
        assert!(Mark::take(dir.path()).unwrap().is_none());
        drop(first);
        let second = Mark::take(dir.path()).unwrap().unwrap();
        assert!(is_left(dir.path()));
        second.remove().unwrap();
        assert!(!is_left(dir.path()));
    }
}
