//! Directory in which projects are built: equal on all machines, because compilers and build systems
//! store its path in their output.

use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};
use rustix::process::geteuid;

use super::{Happened, Settings};
use base::cleanup::{self, Registration};

/// Default, on a disk and not in memory, as object files can be large.
const DIRECTORY: &str = "/var/tmp/rockpack";
/// Directories of builds at the same time, and of different users.
const MOST: usize = 256;

/// Takes the directory of `settings`; reports another one.
pub(crate) fn take(settings: &Settings, report: &(dyn Fn(Happened) + Sync)) -> io::Result<Place> {
    let first = settings.build_directory.as_deref().unwrap_or(Path::new(DIRECTORY));
    let place = Place::take(first)?;
    if place.path() != first {
        report(Happened::Elsewhere(place.path().to_owned()));
    }
    Ok(place)
}

/// A locked directory, removed when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    _registration: Registration,
    _lock: File,
}

impl Place {
    /// Creates the directory `first`, or a numbered one if another build has that.
    ///
    /// # Errors
    ///
    /// Fails for a directory that cannot be created, and if many others exist.
    pub fn take(first: &Path) -> io::Result<Self> {
        for number in 1..=MOST {
            let path = match number {
                1 => first.to_owned(),
                number => PathBuf::from(format!("{}.{number}", first.display())),
            };
            if let Some(lock) = lock(&path)? {
                let registration = cleanup::path(path.clone());
                let place = Self { path, _registration: registration, _lock: lock };
                place.clear()?;
                return Ok(place);
            }
        }
        Err(io::Error::other(format!("{MOST} other builds use {} and the like", first.display())))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the files of a killed build.
    fn clear(&self) -> io::Result<()> {
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
        let _ = fs::remove_dir_all(&self.path);
    }
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
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Ok(None);
    }
    let lock = File::open(path)?;
    match lock.file().try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // The former holder may have removed it meanwhile.
    let is_same = fs::symlink_metadata(path).is_ok_and(|now| now.ino() == found.ino())
        && lock.metadata()?.ino() == found.ino();
    Ok(is_same.then_some(lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_build_at_a_time_has_a_directory_and_removes_it() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("below/work");
        let one = Place::take(&named).unwrap();
        assert_eq!(one.path(), named);
        let other = Place::take(&named).unwrap();
        assert_eq!(other.path(), dir.path().join("below/work.2"));
        drop((one, other));
        assert!(!named.exists() && !dir.path().join("below/work.2").exists());
        // Files of a killed build.
        fs::create_dir_all(named.join("left")).unwrap();
        let again = Place::take(&named).unwrap();
        assert_eq!((again.path(), fs::read_dir(&named).unwrap().count()), (&*named, 0));
    }

    #[test]
    fn a_link_is_no_place() {
        let dir = tempfile::tempdir().unwrap();
        let (named, target) = (dir.path().join("work"), dir.path().join("target"));
        fs::create_dir(&target).unwrap();
        fs::os::unix::fs::symlink(&target, &named).unwrap();
        let place = Place::take(&named).unwrap();
        assert_eq!(place.path(), dir.path().join("work.2"));
    }
}
