//! The temporary directory that archives are unpacked to.

use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use tempfile::TempDir;

use crate::cleanup::{self, Registration};
use crate::regular;

/// What the names of such directories begin with.
const PREFIX: &str = "rockpack-artifacts-";
/// The file in it that is locked for as long as the process lives that made it.
const LOCK: &str = ".rockpack-lock";

/// A directory that vanishes when this does, or the process is told to end. What is left of a process
/// that was killed is removed by the next one.
#[derive(Debug)]
pub(super) struct Unpacked {
    // In the order in which they go.
    directory: TempDir,
    _registration: Registration,
    _lock: fs::File,
}

impl Unpacked {
    /// Makes one below the system's temporary directory, and removes those of processes that were killed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    /// The same, below any directory.
    fn below(root: &Path) -> io::Result<Self> {
        sweep(root);
        // Another process may find it before it is locked, take it for a dead one and remove it.
        for _ in 0..100 {
            let (directory, registration) =
                cleanup::temporary(|| TempDir::with_prefix_in(PREFIX, root))?;
            let place = directory.path().join(LOCK);
            let Ok(lock) = fs::File::create_new(&place) else { continue };
            let locked = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if locked && lock.metadata()?.nlink() > 0 {
                return Ok(Self { directory, _registration: registration, _lock: lock });
            }
        }
        Err(io::Error::other("another process removes every temporary directory"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what processes of this user left that were killed. What cannot be removed stays.
fn sweep(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let ours = entries.filter(|e| e.file_name().to_string_lossy().starts_with(PREFIX));
    ours.map(|entry| entry.path()).filter(is_dead).for_each(|path| {
        let _ = fs::remove_dir_all(path);
    });
}

/// Whether the process is gone that made such a directory: nobody holds its lock.
fn is_dead(path: &PathBuf) -> bool {
    let ours = |found: std::fs::Metadata| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw()
    };
    let locked = || regular::open_unlinked(path.join(LOCK)).is_ok_and(|f| f.try_lock().is_ok());
    fs::symlink_metadata(path).is_ok_and(ours) && locked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let living = Unpacked::below(root.path()).unwrap();
        for (name, lock) in [("dead", true), ("other", false)] {
            let place = root.path().join(format!("{PREFIX}{name}"));
            fs::create_dir(&place).unwrap();
            fs::write(place.join(if lock { LOCK } else { "file" }), "").unwrap();
        }
        let next = Unpacked::below(root.path()).unwrap();
        assert!(!root.path().join(format!("{PREFIX}dead")).exists());
        assert!(root.path().join(format!("{PREFIX}other/file")).exists());
        assert!(living.path().exists() && next.path().exists());
        drop((living, next));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
