//! Directory in which projects are built: equal on all machines, because compilers and build
//! systems store its path in their output.

use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};
use rustix::process::geteuid;

use super::{Happened, Settings, tree_copy};
use base::cleanup::{self, Registration};
use base::regular;

/// Default, on a disk and not in memory, as object files can be large.
const DIRECTORY: &str = "/var/tmp/rockpack";
/// Directories of builds at the same time, and of different users.
const MOST_BUILDS: usize = 256;

/// File with the path of kept work that is here.
const KEPT: &str = "kept-for";
const MOST_PATH: u64 = 4096;

/// Takes the directory of `settings`, with the work that is kept in `kept`; reports another one.
pub(crate) fn take(
    settings: &Settings,
    kept_work: Option<&Path>,
    report: &(dyn Fn(Happened) + Sync),
) -> io::Result<Place> {
    let first = settings.build_directory.as_deref().unwrap_or(Path::new(DIRECTORY));
    let mut place = Place::take(first)?;
    kept_work.map_or(Ok(()), |kept_work| place.bring(kept_work))?;
    if place.path() != first {
        report(Happened::Elsewhere(place.path().to_owned()));
    }
    Ok(place)
}

/// A locked directory, removed when dropped. Kept work returns to its place.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    kept_work: Option<PathBuf>,
    /// `None` with kept work, which the next build returns if this one is killed.
    registration: Option<Registration>,
    lock: File,
}

impl Place {
    /// Creates the directory `first`, or a numbered one if another build has that.
    ///
    /// # Errors
    ///
    /// Fails for a directory that cannot be created, and if many others exist.
    pub fn take(first: &Path) -> io::Result<Self> {
        for number in 1..=MOST_BUILDS {
            let path = match number {
                1 => first.to_owned(),
                number => PathBuf::from(format!("{}.{number}", first.display())),
            };
            if let Some(lock) = lock(&path)? {
                let mut place = Self { path, kept_work: None, registration: None, lock };
                place.clear()?;
                place.registration = Some(cleanup::register_path(place.path.clone()));
                return Ok(place);
            }
        }
        Err(io::Error::other(format!(
            "{MOST_BUILDS} other builds use {} and the like",
            first.display()
        )))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves kept work here: object files and settings of build systems contain the path.
    fn bring(&mut self, work: &Path) -> io::Result<()> {
        fs::create_dir_all(work)?;
        self.registration = None;
        fs::write(self.path.join(KEPT), work.as_os_str().as_bytes())?;
        self.kept_work = Some(work.to_owned());
        base::directory::entries(work)?
            .iter()
            .try_for_each(|entry| moved(&entry.path(), &self.path.join(entry.file_name())))
    }

    /// Returns kept work to its place, unless that is gone.
    fn give_back(&self, work: &Path) -> io::Result<()> {
        if !work.is_dir() {
            return Ok(());
        }
        let entries = base::directory::entries(&self.path)?;
        let entries = entries.iter().filter(|entry| entry.file_name() != KEPT);
        entries
            .into_iter()
            .try_for_each(|entry| moved(&entry.path(), &work.join(entry.file_name())))
    }

    /// Removes the files of a killed build, and returns its kept work.
    fn clear(&self) -> io::Result<()> {
        if let Ok(path) = regular::read(self.path.join(KEPT), MOST_PATH) {
            self.give_back(Path::new(OsStr::from_bytes(&path)))?;
        }
        for entry in base::directory::entries(&self.path)? {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(Err(_)) = self.kept_work.as_ref().map(|kept_work| self.give_back(kept_work)) {
            // The next build tries again.
            return;
        }
        let _ = fs::remove_dir_all(&self.path);
        // Another build finds no directory, or an unlocked one.
        let _ = self.lock.file().unlock();
    }
}

/// Moves a file or directory, also to another file system. A whole one in its place stays.
fn moved(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Ok(());
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        result => return result,
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let kind = fs::symlink_metadata(from)?.file_type();
    if partial.is_dir() {
        fs::remove_dir_all(&partial)?;
    }
    if !kind.is_dir() {
        tree_copy::copy_file(from, kind, &partial)?;
        fs::rename(partial, to)?;
        return fs::remove_file(from);
    }
    tree_copy::copy(from, &partial)?;
    fs::rename(partial, to)?;
    fs::remove_dir_all(from)
}

/// Returns `None` for a directory of another process or user.
fn lock(path: &Path) -> io::Result<Option<File>> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || metadata.uid() != geteuid().as_raw() {
        return Ok(None);
    }
    let lock = File::open(path)?;
    match lock.file().try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // The former holder may have removed it meanwhile.
    let is_same = fs::symlink_metadata(path).is_ok_and(|now| now.ino() == metadata.ino())
        && lock.metadata()?.ino() == metadata.ino();
    Ok(is_same.then_some(lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_build_at_a_time_has_a_directory_and_removes_it() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("below/work");
        let first = Place::take(&named).unwrap();
        assert_eq!(first.path(), named);
        let second = Place::take(&named).unwrap();
        assert_eq!(second.path(), dir.path().join("below/work.2"));
        drop((first, second));
        assert!(!named.exists() && !dir.path().join("below/work.2").exists());
        // Files of a killed build.
        fs::create_dir_all(named.join("left")).unwrap();
        let again = Place::take(&named).unwrap();
        assert_eq!((again.path(), fs::read_dir(&named).unwrap().count()), (&*named, 0));
    }

    #[test]
    fn kept_work_returns_even_after_a_killed_build() {
        let dir = tempfile::tempdir().unwrap();
        let (named, work) = (dir.path().join("work"), dir.path().join("out/work"));
        for is_killed in [false, true] {
            let mut place = Place::take(&named).unwrap();
            place.bring(&work).unwrap();
            fs::create_dir_all(named.join("wave/build")).unwrap();
            fs::write(named.join("wave/build/a.o"), "").unwrap();
            if is_killed {
                std::mem::forget(place.kept_work.take());
                let lock = place.lock.try_clone().unwrap();
                std::mem::forget(place);
                lock.file().unlock().unwrap();
                assert!(!work.join("wave").exists() && named.join(KEPT).is_file());
                drop(Place::take(&named).unwrap());
            } else {
                drop(place);
            }
            assert!(work.join("wave/build/a.o").is_file() && !named.exists());
        }
        let mut place = Place::take(&named).unwrap();
        place.bring(&work).unwrap();
        assert!(named.join("wave/build/a.o").is_file() && !work.join("wave").exists());
    }

    #[test]
    fn refuses_a_link_as_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let (named, target) = (dir.path().join("work"), dir.path().join("target"));
        fs::create_dir(&target).unwrap();
        fs::os::unix::fs::symlink(&target, &named).unwrap();
        let place = Place::take(&named).unwrap();
        assert_eq!(place.path(), dir.path().join("work.2"));
    }
}
