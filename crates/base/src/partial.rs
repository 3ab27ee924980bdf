//! Files with a temporary name until they are complete.

use std::collections::BTreeMap;
use std::fs::{File, Permissions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir, TempPath};

use crate::cleanup::{self, Registration, Undisturbed};
use crate::{directory, regular};

/// Mode of ordinary files, before the user's mask.
pub const ORDINARY: u32 = 0o666;
/// Mode of files for the user alone.
pub const PRIVATE: u32 = 0o600;

const BESIDE: &str = ".rockpack-beside-";

/// File with a temporary name. Removed when dropped, and when a signal ends the process.
#[derive(Debug)]
pub struct PartialFile {
    // Dropped before its registration: otherwise a signal between the two would leave it on the
    // disk.
    file: NamedTempFile,
    registration: Registration,
}

impl PartialFile {
    /// Creates a file in `dir` with a prefix.
    pub fn new(dir: &Path, prefix: &str, mode: u32) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(prefix).rand_bytes(20).permissions(Permissions::from_mode(mode));
        let (file, registration) = cleanup::temporary(|| builder.tempfile_in(dir))?;
        Ok(Self { file, registration })
    }

    /// Creates a file in the directory of `place`, where it removes files of killed processes.
    pub fn beside(place: &Path, mode: u32) -> io::Result<Self> {
        let dir = place.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new("."));
        remove_abandoned(dir, BESIDE);
        Self::locked(dir, BESIDE, mode)
    }

    /// Creates a file with a lock, so that [`remove_abandoned`] keeps it.
    pub fn locked(dir: &Path, prefix: &str, mode: u32) -> io::Result<Self> {
        loop {
            let partial = Self::new(dir, prefix, mode)?;
            let file = partial.file.as_file();
            // Another process may have removed it before it was locked.
            // Other errors: the file system has no locks, and no sweep can lock the file either.
            let is_locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if is_locked && file.metadata()?.nlink() > 0 {
                return Ok(partial);
            }
        }
    }

    /// Temporary path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// The file, for writing.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Sets the final mode.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.as_file().set_permissions(Permissions::from_mode(mode))
    }

    /// Waits until all bytes are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.as_file().sync_all()
    }

    /// Closes the file, which loses its lock.
    pub fn close(self) -> ClosedFile {
        let Self { file, registration } = self;
        ClosedFile { path: file.into_temp_path(), registration }
    }

    /// Renames the file to `place`, which it replaces.
    pub fn persist(self, place: &Path) -> io::Result<File> {
        self.persist_within(place, &cleanup::undisturbed())
    }

    /// Renames the file like [`Self::persist`] within a larger change; `_whole` proves that no
    /// signal can interrupt it.
    pub fn persist_within(self, place: &Path, _whole: &Undisturbed) -> io::Result<File> {
        let Self { file, registration } = self;
        let file = file.persist(place).map_err(|error| error.error)?;
        drop(registration);
        Ok(file)
    }
}

/// Closed [`PartialFile`]. Only the lock of its directory protects it from sweeps.
#[derive(Debug)]
pub struct ClosedFile {
    // Dropped before its registration: otherwise a signal between the two would leave it on the
    // disk.
    path: TempPath,
    registration: Registration,
}

impl ClosedFile {
    /// Temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file to `place`, which must not exist.
    ///
    /// # Errors
    /// Returns the file with the error.
    pub fn persist_new(self, place: &Path) -> Result<(), (Self, io::Error)> {
        let Self { path, registration } = self;
        let _whole = cleanup::undisturbed();
        path.persist_noclobber(place)
            .map_err(|error| (Self { path: error.path, registration }, error.error))
    }
}

/// Directory with a temporary name, locked as [`PartialFile::locked`]. Removed when dropped.
#[derive(Debug)]
pub struct PartialDirectory {
    // Dropped before its registration: otherwise a signal between the two would leave it on the
    // disk.
    directory: TempDir,
    _registration: Registration,
    _lock: File,
}

impl PartialDirectory {
    /// Creates a directory in `parent`, and removes those with this prefix of killed processes.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        for name in directory::names(parent)?.iter().filter(|name| name.starts_with(prefix)) {
            let path = parent.join(name);
            let is_abandoned = fs_err::symlink_metadata(&path)
                .is_ok_and(|metadata| metadata.is_dir())
                && File::open(&path).is_ok_and(|directory| directory.try_lock().is_ok());
            if is_abandoned {
                remove_tree(&path);
            }
        }
        loop {
            let mut builder = Builder::new();
            builder.prefix(prefix).rand_bytes(20);
            let (directory, registration) = cleanup::temporary(|| builder.tempdir_in(parent))?;
            // Another process may have removed it before it was locked.
            let Ok(lock) = File::open(directory.path()) else { continue };
            // Other errors: the file system has no locks, and no sweep can lock it either.
            let is_locked = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if is_locked && directory.path().is_dir() {
                return Ok(Self { directory, _registration: registration, _lock: lock });
            }
        }
    }

    /// Returns the directory of this process in `parent`, or creates it. Users share one, because
    /// each lock keeps a file open.
    pub fn shared(parent: &Path, prefix: &str) -> io::Result<Arc<Self>> {
        static SHARED: Mutex<BTreeMap<(PathBuf, String), Weak<PartialDirectory>>> =
            Mutex::new(BTreeMap::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (parent.to_owned(), prefix.to_owned());
        if let Some(directory) = shared.get(&key).and_then(Weak::upgrade) {
            return Ok(directory);
        }
        let directory = Arc::new(Self::new(parent, prefix)?);
        shared.insert(key, Arc::downgrade(&directory));
        Ok(directory)
    }

    /// Temporary path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes a directory; retries for one second, because a child of the killed process can still
/// write into it.
fn remove_tree(path: &Path) {
    for _ in 0..20 {
        match fs_err::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                thread::sleep(Duration::from_millis(50));
            }
            _ => return,
        }
    }
}

/// Removes locked files with this prefix whose processes were killed; ignores errors.
pub fn remove_abandoned(dir: &Path, prefix: &str) {
    let names = directory::names(dir).unwrap_or_default();
    for path in names.iter().filter(|name| name.starts_with(prefix)).map(|name| dir.join(name)) {
        let Ok(file) = regular::open_unlinked(&path) else { continue };
        if file.file().try_lock().is_ok() {
            let _ = fs_err::remove_file(&path);
        }
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for PartialFile {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        self.file.seek(target)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn directories_of_killed_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(dir.path().join(".rockpack-x-1/below")).unwrap();
        fs_err::create_dir(dir.path().join(".rockpack-y-1")).unwrap();
        let first = PartialDirectory::new(dir.path(), ".rockpack-x-").unwrap();
        let second = PartialDirectory::new(dir.path(), ".rockpack-x-").unwrap();
        assert!(first.path().is_dir() && second.path().is_dir());
        assert_eq!(directory::names(dir.path()).unwrap().len(), 3);
        drop((first, second));
        assert_eq!(directory::names(dir.path()).unwrap(), [".rockpack-y-1"]);
    }

    #[test]
    fn users_of_a_directory_share_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let shared = || PartialDirectory::shared(dir.path(), ".rockpack-x-").unwrap();
        let (first, second) = (shared(), shared());
        assert_eq!((first.path(), directory::names(dir.path()).unwrap().len()), (second.path(), 1));
        drop((first, second));
        assert!(directory::is_empty(dir.path()).unwrap());
        assert!(shared().path().is_dir());
    }

    #[test]
    fn removes_a_directory_to_which_a_child_still_writes() {
        let dir = tempfile::tempdir().unwrap();
        let abandoned = dir.path().join(".rockpack-x-1");
        fs_err::create_dir(&abandoned).unwrap();
        let end = Instant::now() + Duration::from_millis(300);
        thread::scope(|scope| {
            for child in 0..8 {
                let abandoned = &abandoned;
                scope.spawn(move || {
                    let mut number = 0;
                    while Instant::now() < end {
                        number += 1;
                        let _ = std::fs::write(abandoned.join(format!("{child}-{number}")), "");
                    }
                });
            }
            let _made = PartialDirectory::new(dir.path(), ".rockpack-x-").unwrap();
            assert!(!abandoned.exists());
        });
    }

    #[test]
    fn files_of_killed_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".rockpack-x-1", ".rockpack-y-1", "x"] {
            fs_err::write(dir.path().join(name), "").unwrap();
        }
        let mine = PartialFile::locked(dir.path(), ".rockpack-x-", ORDINARY).unwrap();
        remove_abandoned(dir.path(), ".rockpack-x-");
        let names = directory::names(dir.path()).unwrap();
        let name_of_mine = mine.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(
            [name_of_mine, ".rockpack-y-1", "x"].iter().all(|name| names.iter().any(|n| n == name))
        );
        let place = dir.path().join("x");
        let (mine, error) = mine.close().persist_new(&place).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        fs_err::remove_file(&place).unwrap();
        mine.persist_new(&place).unwrap();
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("file");
        fs_err::write(&place, "old").unwrap();
        let names = || {
            let entries = fs_err::read_dir(dir.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        fs_err::write(dir.path().join(".rockpack-beside-killed"), "").unwrap();
        let mut partial = PartialFile::beside(&place, PRIVATE).unwrap();
        partial.write_all(b"half").unwrap();
        assert_eq!(names().len(), 2);
        drop(partial);
        assert_eq!(names(), ["file"]);
        let mut partial = PartialFile::locked(dir.path(), "p-", PRIVATE).unwrap();
        let second = fs_err::File::open(partial.path()).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        partial.write_all(b"new").unwrap();
        partial.set_mode(0o640).unwrap();
        assert_eq!(partial.as_file().metadata().unwrap().mode() & 0o777, 0o640);
        partial.persist(&place).unwrap();
        assert_eq!((names().len(), fs_err::read(&place).unwrap()), (1, b"new".to_vec()));
    }
}
