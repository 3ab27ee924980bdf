use std::fs::{Metadata, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt;
use rustix::fs::OFlags;

use super::table::{Broken, Table};
use super::trust::{is_trusted, untrusted};
use base::directory;
use base::partial::PartialFile;
use base::regular;

/// The number is the version of the format.
const NAME: &str = "rockpack-cache-1";
const BYTES: &str = "seg";
/// Visible once its table exists.
const TABLE: &str = "idx";
/// Enough for a million streams.
const LARGEST_TABLE: u64 = 100 << 20;
const UNLINKED: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);
const TAG: &str = "CACHEDIR.TAG";
/// Age of abandoned temporary files on file systems without locks.
const OLD: Duration = Duration::from_hours(24);
/// Content that makes backups skip the directory (bford.info/cachedir).
const CACHEDIR_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# Packed files of rockpack, which makes them again when they are gone.\n";

#[derive(Debug, Clone)]
pub(super) struct Directory {
    root: PathBuf,
}

#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub id: String,
    /// Bytes of stream and table.
    pub size: u64,
    pub used: SystemTime,
}

#[derive(Debug)]
pub(super) struct Loaded {
    pub file: fs::File,
    pub table: Table,
}

#[derive(Debug)]
pub(super) enum NotLoaded {
    Gone,
    Broken(Broken),
    /// Unreadable but possibly intact.
    Unreadable(io::Error),
}

/// Lock for removing or replacing segments; released even if the process is killed.
#[derive(Debug)]
pub(super) struct Lock {
    _file: fs::File,
}

impl Directory {
    pub fn below(dir: &Path) -> Self {
        Self { root: dir.join(NAME) }
    }

    pub fn create(&self) -> io::Result<()> {
        if let Some(dir) = self.root.parent() {
            fs::create_dir_all(dir)?;
        }
        for dir in [&self.root, &self.segments(), &self.temporaries()] {
            match fs::create_dir(dir) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                created => created?,
            }
            self.check()?;
        }
        self.open_lock()?;
        match fs::OpenOptions::new().write(true).create_new(true).open(self.root.join(TAG)) {
            Ok(mut tag) => tag.write_all(CACHEDIR_TAG.as_bytes()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Rejects redirected directories. Only the user's directory may be a link of the user or of
    /// root.
    pub fn check(&self) -> io::Result<()> {
        let parent = self.root.parent().into_iter();
        for dir in parent.filter(|dir| dir.is_symlink()) {
            if !is_trusted(&fs::symlink_metadata(dir)?) {
                return Err(untrusted(dir, "is a link that belongs to another user"));
            }
        }
        for dir in [&self.root, &self.segments(), &self.temporaries()] {
            match fs::symlink_metadata(dir) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => {
                    return Err(untrusted(dir, "is not a directory (links are not followed)"));
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    pub fn exists(&self) -> bool {
        self.root.is_dir()
    }

    fn segments(&self) -> PathBuf {
        self.root.join("segments")
    }

    pub(crate) fn temporaries(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn bytes(&self, id: &str) -> PathBuf {
        self.segments().join(id).with_extension(BYTES)
    }

    pub fn table(&self, id: &str) -> PathBuf {
        self.segments().join(id).with_extension(TABLE)
    }

    /// Visible segments, least recently used first.
    pub fn listed(&self) -> io::Result<Vec<Listed>> {
        let mut listed = Vec::new();
        for id in self.ids(TABLE)? {
            let Ok(table) = fs::symlink_metadata(self.table(&id)) else { continue };
            let bytes = fs::symlink_metadata(self.bytes(&id)).map_or(0, |metadata| metadata.len());
            listed.push(Listed { id, size: bytes + table.len(), used: table.modified()? });
        }
        listed.sort_by(|a, b| (a.used, &a.id).cmp(&(b.used, &b.id)));
        Ok(listed)
    }

    fn ids(&self, extension: &str) -> io::Result<Vec<String>> {
        let names = match directory::names(self.segments()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            names => names?,
        };
        let parts = names.iter().filter_map(|name| name.rsplit_once('.'));
        Ok(parts.filter(|(_, suffix)| *suffix == extension).map(|(id, _)| id.to_owned()).collect())
    }

    pub fn load(&self, id: &str) -> Result<Loaded, NotLoaded> {
        let missing = |error: io::Error, fault: NotLoaded| match error.kind() {
            io::ErrorKind::NotFound => fault,
            io::ErrorKind::InvalidInput => NotLoaded::Broken(Broken::Kind),
            io::ErrorKind::FileTooLarge => NotLoaded::Broken(Broken::Torn),
            _ => NotLoaded::Unreadable(error),
        };
        let table =
            regular::open_unlinked(self.table(id)).map_err(|e| missing(e, NotLoaded::Gone))?;
        check_owner(&table)?;
        let table =
            regular::read_open(table, LARGEST_TABLE).map_err(|e| missing(e, NotLoaded::Gone))?;
        let table = Table::decode(&table).map_err(NotLoaded::Broken)?;
        // A segment is removed table first.
        let without_bytes = || {
            if self.table(id).exists() {
                NotLoaded::Broken(Broken::NoBytes)
            } else {
                NotLoaded::Gone
            }
        };
        let file =
            regular::open_unlinked(self.bytes(id)).map_err(|e| missing(e, without_bytes()))?;
        let length = check_owner(&file)?.len();
        if length != table.length {
            return Err(NotLoaded::Broken(Broken::Length {
                expected: table.length,
                found: length,
            }));
        }
        Ok(Loaded { file, table })
    }

    /// Removes the table first: no segment is visible without bytes. Returns the freed bytes.
    pub fn remove(&self, id: &str) -> io::Result<u64> {
        Ok(remove(&self.table(id))? + remove(&self.bytes(id))?)
    }

    /// Creates a temporary file, locked while open, and removed when dropped.
    pub fn temporary(&self) -> io::Result<PartialFile> {
        PartialFile::locked(&self.temporaries(), "", 0o644)
    }

    pub(crate) fn adopt(&self, file: &Path) -> Option<PartialFile> {
        self.reflink(file).ok()
    }

    fn reflink(&self, file: &Path) -> io::Result<PartialFile> {
        let temporary = self.temporary()?;
        rustix::fs::ioctl_ficlone(temporary.as_file(), fs::File::open(file)?)?;
        Ok(temporary)
    }

    /// Returns the segment's ID.
    pub fn publish(&self, bytes: PartialFile, table: &Table) -> io::Result<String> {
        let id =
            bytes.path().file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        // The lock is on the open file, and must be held until the table exists.
        let file = bytes.persist(&self.bytes(&id))?;
        if let Err(error) = self.put_table(&id, table) {
            let _ = fs::remove_file(self.bytes(&id));
            return Err(error);
        }
        drop(file);
        Ok(id)
    }

    pub(crate) fn put_table(&self, id: &str, table: &Table) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(&table.encode())?;
        file.persist(&self.table(id))?;
        Ok(())
    }

    /// Sets the last use, by default to now.
    pub fn touch(&self, id: &str, used: Option<SystemTime>) -> io::Result<()> {
        // The file system's now, so that all times are of one clock.
        let flags = UNLINKED.bits().cast_signed();
        let file = fs::OpenOptions::new().write(true).custom_flags(flags).open(self.table(id))?;
        match used {
            Some(used) => file.set_modified(used),
            None => rustix::fs::futimens(&file, &NOW).map_err(io::Error::from),
        }
    }

    pub fn try_lock(&self) -> io::Result<Option<Lock>> {
        let file = self.open_lock()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn lock(&self) -> io::Result<Lock> {
        let file = self.open_lock()?;
        file.lock()?;
        Ok(Lock { _file: file })
    }

    fn open_lock(&self) -> io::Result<fs::File> {
        let mut options = fs::OpenOptions::new();
        options
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(UNLINKED.bits().cast_signed());
        let (path, file) = (self.root.join("lock"), options.open(self.root.join("lock"))?);
        regular::check(&path, &file.metadata()?)?;
        Ok(file)
    }

    pub(crate) fn remember_limit(&self, limit: u64) -> io::Result<()> {
        if self.remembered_limit() == Some(limit) {
            return Ok(());
        }
        let mut file = self.temporary()?;
        file.write_all(format!("{limit}\n").as_bytes())?;
        file.persist(&self.root.join("limit"))?;
        Ok(())
    }

    pub(crate) fn remembered_limit(&self) -> Option<u64> {
        let bytes = regular::read_unlinked(self.root.join("limit"), 64).ok()?;
        std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
    }

    /// Includes files of killed builds.
    pub fn unfinished(&self) -> u64 {
        let entries = directory::entries(self.temporaries()).unwrap_or_default();
        entries.iter().filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    }

    /// Removes files of killed writers: temporary files, and bytes without a table. Returns the
    /// freed bytes.
    pub fn sweep(&self, _: &Lock) -> io::Result<u64> {
        let mut removed = 0;
        for entry in directory::entries(self.temporaries())? {
            removed += remove_dead(&entry.path(), || true)?;
        }
        for id in self.ids(BYTES)? {
            let lonely = || !self.table(&id).exists();
            if lonely() {
                removed += remove_dead(&self.bytes(&id), lonely)?;
            }
        }
        Ok(removed)
    }
}

const NOW: rustix::fs::Timestamps = rustix::fs::Timestamps {
    last_access: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
    last_modification: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
};

fn remove(path: &Path) -> io::Result<u64> {
    let size = fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        result => result.map(|()| size),
    }
}

fn remove_dead(path: &Path, is_dead: impl Fn() -> bool) -> io::Result<u64> {
    let file = match regular::open_unlinked(path) {
        Ok(file) => file,
        // The cache creates neither pipes nor links.
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => return remove(path),
        Err(_) => return Ok(0),
    };
    let locked = file.try_lock();
    let old = || {
        file.metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD))
    };
    if (locked.is_ok() || old()) && is_dead() { remove(path) } else { Ok(0) }
}

/// Refuses a file of another user, who could replace the bytes of any content.
fn check_owner(file: &fs::File) -> Result<Metadata, NotLoaded> {
    let metadata = file.metadata().map_err(NotLoaded::Unreadable)?;
    if is_trusted(&metadata) {
        Ok(metadata)
    } else {
        Err(NotLoaded::Unreadable(untrusted(file.path(), "belongs to another user")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, Directory) {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::below(dir.path());
        directory.create().unwrap();
        (dir, directory)
    }

    fn segment(directory: &Directory, bytes: &[u8]) -> String {
        let mut file = directory.temporary().unwrap();
        file.write_all(bytes).unwrap();
        directory.publish(file, &Table { length: bytes.len() as u64, ..Table::default() }).unwrap()
    }

    #[test]
    fn refuses_tables_and_bytes_of_other_users() {
        // Only root can give files away.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (_dir, directory) = directory();
        let id = segment(&directory, b"one");
        for file in [directory.table(&id), directory.bytes(&id)] {
            std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
            let Err(NotLoaded::Unreadable(error)) = directory.load(&id) else { panic!("{file:?}") };
            assert!(error.to_string().contains("belongs to another user"), "{error}");
            std::os::unix::fs::chown(&file, Some(0), None).unwrap();
            assert!(directory.load(&id).is_ok());
        }
    }

    #[test]
    fn lists_segments_by_use_without_removed_ones() {
        let (_dir, directory) = directory();
        let ids = [segment(&directory, b"one"), segment(&directory, b"three")];
        let long_ago = SystemTime::now() - Duration::from_secs(1000);
        directory.touch(&ids[1], Some(long_ago)).unwrap();
        let listed = directory.listed().unwrap();
        assert_eq!(listed.iter().map(|l| &l.id).collect::<Vec<_>>(), [&ids[1], &ids[0]]);
        directory.touch(&ids[1], None).unwrap();
        assert_eq!(directory.listed().unwrap()[1].id, ids[1]);
        let empty = Table::default().encode().len() as u64;
        assert_eq!(directory.remove(&ids[1]).unwrap(), 5 + empty);
        assert!(matches!(directory.load(&ids[1]), Err(NotLoaded::Gone)));
        assert_eq!(directory.listed().unwrap()[0].size, 3 + empty);
    }

    #[test]
    fn keeps_files_of_running_writers() {
        let (_dir, directory) = directory();
        let lock = directory.lock().unwrap();
        let mut open = directory.temporary().unwrap();
        open.write_all(b"growing").unwrap();
        assert_eq!((directory.unfinished(), directory.sweep(&lock).unwrap()), (7, 0));
        let path = directory.temporaries().join("left");
        drop(open.persist(&path).unwrap());
        assert_eq!((directory.sweep(&lock).unwrap(), path.exists()), (7, false));
    }

    #[test]
    fn removes_bytes_without_a_table() {
        let (_dir, directory) = directory();
        let lock = directory.lock().unwrap();
        let whole = segment(&directory, b"whole");
        fs::write(directory.bytes("lonely"), "lonely").unwrap();
        assert_eq!(directory.sweep(&lock).unwrap(), 6);
        assert!(directory.load(&whole).is_ok() && !directory.bytes("lonely").exists());
    }

    #[test]
    fn lets_one_process_change_segments() {
        let (_dir, directory) = directory();
        let lock = directory.try_lock().unwrap().unwrap();
        assert!(directory.try_lock().unwrap().is_none());
        drop(lock);
        assert!(directory.try_lock().unwrap().is_some());
    }

    #[test]
    fn refuses_a_segment_of_another_length() {
        let (_dir, directory) = directory();
        let id = segment(&directory, b"whole");
        for wrong in [&b"whol"[..], b"whole!"] {
            fs::write(directory.bytes(&id), wrong).unwrap();
            assert!(matches!(
                directory.load(&id),
                Err(NotLoaded::Broken(Broken::Length { expected: 5, .. }))
            ));
        }
        fs::remove_file(directory.bytes(&id)).unwrap();
        assert!(matches!(directory.load(&id), Err(NotLoaded::Broken(Broken::NoBytes))));
    }
}
