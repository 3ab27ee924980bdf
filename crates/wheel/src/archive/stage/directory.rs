use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::{StageError, disk};

pub(super) fn create_dirs(path: &Path, created: &mut Vec<PathBuf>) -> Result<(), StageError> {
    if path.as_os_str().is_empty() {
        return Err(StageError::Empty);
    }
    let missing: Vec<&Path> = path
        .ancestors()
        .filter(|above| !above.as_os_str().is_empty())
        .take_while(|above| !above.is_dir())
        .collect();
    missing.into_iter().rev().try_for_each(|directory| create_one(directory, created))
}

fn create_one(path: &Path, created: &mut Vec<PathBuf>) -> Result<(), StageError> {
    match disk::create_dir(path) {
        Ok(()) => created.push(path.to_owned()),
        // `a/..` exists once `a` does, and another process may have created it.
        Err(_) if path.is_dir() => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            let path = path.to_owned();
            let dangling =
                fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) && !path.exists();
            return Err(if dangling {
                StageError::Dangling { path }
            } else {
                StageError::NotADirectory { path }
            });
        }
        // The parent exists: this file system does not support new directories.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(StageError::NoDirectories { path: path.to_owned() });
        }
        Err(e) => return Err(StageError::new("create a directory", path, e)),
    }
    Ok(())
}

pub(super) fn remove_empty(created: &[PathBuf]) {
    for path in created.iter().rev() {
        let _ = disk::remove_dir(path);
    }
}
