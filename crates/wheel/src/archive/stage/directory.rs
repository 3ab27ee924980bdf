//! Making directories, and taking those away again that nothing moved into.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::{StageError, disk};

/// Makes `path` and what is missing above it; adds what it made to `created`, outermost first.
///
/// # Errors
/// When something that is no directory is in the way, and when nothing can be made there.
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

/// Makes a directory whose parent is there.
fn create_one(path: &Path, created: &mut Vec<PathBuf>) -> Result<(), StageError> {
    match disk::create_dir(path) {
        Ok(()) => created.push(path.to_owned()),
        // `a/..` is there once `a` is; another process may have made it, too.
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
        // Its parent is there: such a file system makes no directories.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(StageError::NoDirectories { path: path.to_owned() });
        }
        Err(e) => return Err(StageError::new("create a directory", path, e)),
    }
    Ok(())
}

/// Removes these directories, innermost first, unless something else has moved in.
pub(super) fn remove_empty(created: &[PathBuf]) {
    for path in created.iter().rev() {
        let _ = disk::remove_dir(path);
    }
}
