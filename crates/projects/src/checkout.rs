//! Copies checkouts, so that builds do not change them.

use std::fs::FileType;
use std::io;
use std::path::Path;

use fs_err as fs;

use super::content::CheckoutContent;
use super::git::{self, GitDirectory};
use base::directory::entries;

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
    if !GitDirectory::of(from)?.map_or(Ok(false), |git| git.copy(&place))? {
        copy(&from.join(".git"), &place)?;
    }
    Ok(())
}

/// Copies a directory with links, times and modes. Files share their blocks if the file system
/// supports it.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in entries(from)? {
        let (place, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if entry.file_name() == ".git"
            && GitDirectory::of(from)?.map_or(Ok(false), |git| git.copy(&place))?
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

fn copy_file(from: &Path, kind: FileType, place: &Path) -> io::Result<()> {
    if kind.is_symlink() {
        return fs::os::unix::fs::symlink(fs::read_link(from)?, place);
    }
    if !kind.is_file() {
        let text = format!("{} is not a file, directory or link", from.display());
        return Err(io::Error::other(text));
    }
    fs::copy(from, place)?;
    let time = fs::metadata(from)?.modified()?;
    let copied = fs::OpenOptions::new().write(true).open(place);
    copied.or_else(|_| fs::File::open(place))?.file().set_modified(time)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_copy_has_times_modes_and_links() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("b"));
        fs::create_dir_all(from.join("sub")).unwrap();
        fs::write(from.join("sub/tool"), "x").unwrap();
        fs::set_permissions(from.join("sub/tool"), PermissionsExt::from_mode(0o555)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::open(from.join("sub/tool")).unwrap().file().set_modified(time).unwrap();
        fs::os::unix::fs::symlink("sub/tool", from.join("link")).unwrap();
        copy(&from, &to).unwrap();
        let copied = fs::metadata(to.join("sub/tool")).unwrap();
        assert_eq!(
            (copied.permissions().mode() & 0o777, copied.modified().unwrap()),
            (0o555, time)
        );
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("sub/tool"));
    }
}
