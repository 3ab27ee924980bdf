//! Hidden directory and its lock, which distinguishes running builds from killed ones.

use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;

use super::{PARTIAL, StageError, disk};
use base::directory::entries;
use base::retry;

const NAME: &str = "lock";

/// Lock on a file and not on the directory, because NFS locks only files opened for writing.
#[derive(Debug)]
pub(super) struct Lock {
    directory: PathBuf,
    _file: fs::File,
}

impl Lock {
    /// `dest` must exist.
    pub(super) fn take(dest: &Path) -> Result<Self, StageError> {
        let directory = dest.join(PARTIAL);
        // If the previous owner removes the file now, the lock is on an unlinked file, and another
        // process could lock a new one.
        let attempt =
            retry::until_some(100, Duration::ZERO, || try_take(dest, &directory).transpose());
        let busy = || Err(StageError::Busy { dest: dest.to_owned() });
        let file = attempt.unwrap_or_else(busy)?;
        Ok(Self { directory, _file: file })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn clear(&self) -> Result<(), StageError> {
        let clear = || -> io::Result<()> {
            for entry in entries(&self.directory)? {
                match entry.file_type()?.is_dir() {
                    true => disk::remove_dir_all(&entry.path())?,
                    false if entry.file_name() == NAME => {}
                    false => disk::remove_file(&entry.path())?,
                }
            }
            Ok(())
        };
        clear().map_err(StageError::context("remove what an earlier build left", &self.directory))
    }

    pub(super) fn release(&self) {
        release(&self.directory);
    }
}

/// Keeps the directory if another build locked it.
fn release(directory: &Path) {
    let _ = disk::remove_file(&directory.join(NAME));
    let _ = disk::remove_dir(directory);
}

/// `None` if the file or its directory was removed concurrently.
fn try_take(dest: &Path, directory: &Path) -> Result<Option<fs::File>, StageError> {
    match fs::create_dir(directory) {
        Ok(()) => {}
        // Rejects a symlink, because everything in the directory will be deleted.
        Err(_) if fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            return Err(StageError::NotADirectory { path: directory.to_owned() });
        }
        Err(e) => return Err(StageError::new("create a directory", dest, e)),
    }
    let path = directory.join(NAME);
    let file = match fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => {
            let _ = fs::remove_dir(directory);
            return Err(StageError::new("create a lock file", dest, e));
        }
    };
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, &path).then_some(file)),
        Err(TryLockError::WouldBlock) => Err(StageError::Busy { dest: dest.to_owned() }),
        Err(TryLockError::Error(e)) => {
            release(directory);
            Err(StageError::new("lock the destination", dest, e))
        }
    }
}

fn is_at(file: &fs::File, path: &Path) -> bool {
    let id =
        |found: io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    let open = id(file.metadata());
    open.is_some() && open == id(fs::symlink_metadata(path))
}
