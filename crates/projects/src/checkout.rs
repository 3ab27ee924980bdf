//! Copies checkouts, so that builds do not change them.
//!
//! Copies are equal for every clone of a commit: modes are git's, whatever the umask of the clone
//! was, and all times are the same.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fs_err as fs;

use super::content::CheckoutContent;
use super::git::{self, GitDirectory};
use super::tree_copy::{self, copy_file};
use base::directory::{entries, walk_where};
use wheel::archive::Timestamp;

/// Copies a checkout with its content. git works in the copy, but cannot change the original.
/// Without version control, everything is copied. `branch` names a detached HEAD.
pub fn copy_checkout(
    from: &Path,
    to: &Path,
    content: &CheckoutContent,
    branch: Option<&str>,
) -> io::Result<()> {
    if content.is_versioned() {
        copy_content(from, to, content)?;
    } else {
        copy(from, to)?;
    }
    normalize(to)?;
    if let Some(branch) = branch.filter(|_| to.join(".git").is_dir()) {
        git::attach(&to.join(".git"), branch)?;
    }
    Ok(())
}

fn copy_content(from: &Path, to: &Path, content: &CheckoutContent) -> io::Result<()> {
    for repository in &content.repositories {
        let (from, to) = (from.join(&repository.path), to.join(&repository.path));
        fs::create_dir_all(&to)?;
        copy_git(&from, &to)?;
    }
    for file in &content.files {
        let place = to.join(file);
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        let file = from.join(file);
        let kind = fs::symlink_metadata(&file)?.file_type();
        copy_file(&file, kind, &place)?;
    }
    Ok(())
}

fn copy_git(from: &Path, to: &Path) -> io::Result<()> {
    let place = to.join(".git");
    if !GitDirectory::find(from)?.map_or(Ok(false), |git| git.copy(&place))? {
        tree_copy::copy(&from.join(".git"), &place)?;
    }
    Ok(())
}

/// Copies a directory; `.git` files of submodules become directories.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in entries(from)? {
        let (place, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if entry.file_name() == ".git"
            && GitDirectory::find(from)?.map_or(Ok(false), |git| git.copy(&place))?
        {
            continue;
        }
        if kind.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            copy_file(&entry.path(), kind, &place)?;
        }
    }
    Ok(())
}

/// Sets modes and times; those of git's own files are left, since its index has their times.
fn normalize(copy: &Path) -> io::Result<()> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(Timestamp::EARLIEST.seconds());
    set_mode(copy, 0o755)?;
    for entry in walk_where(copy, |entry| entry.name() != ".git") {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.is_dir() {
            set_mode(path, 0o755)?;
        } else if kind.is_file() {
            let is_executable = fs::metadata(path)?.permissions().mode() & 0o100 != 0;
            fs::File::open(path)?.file().set_modified(time)?;
            set_mode(path, if is_executable { 0o755 } else { 0o644 })?;
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, PermissionsExt::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_different_clones_have_equal_modes_and_times() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("b"));
        fs::create_dir_all(from.join("sub")).unwrap();
        for (name, mode) in [("sub/tool", 0o700), ("sub/text", 0o400)] {
            fs::write(from.join(name), "x").unwrap();
            set_mode(&from.join(name), mode).unwrap();
        }
        set_mode(&from.join("sub"), 0o700).unwrap();
        copy_checkout(&from, &to, &CheckoutContent::default(), None).unwrap();
        let mode = |name: &str| fs::metadata(to.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["sub", "sub/tool", "sub/text"].map(mode), [0o755, 0o755, 0o644]);
        let time = fs::metadata(to.join("sub/tool")).unwrap().modified().unwrap();
        assert_eq!(time, fs::metadata(to.join("sub/text")).unwrap().modified().unwrap());
    }
}
