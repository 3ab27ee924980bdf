//! Copies of checkouts, so that builds leave the checkouts as they are.

use std::io;
use std::path::Path;

use fs_err as fs;

use super::git::{self, GitDirectory};

/// Copies a checkout with all that is in it, so that git works in the copy as in the checkout and changes
/// nothing there. A detached HEAD gets the name `branch`, where that is given.
///
/// # Errors
/// When something cannot be read or written, and for what is neither file, directory nor link.
pub fn copy_checkout(from: &Path, to: &Path, branch: Option<&str>) -> io::Result<()> {
    copy(from, to)?;
    if let Some(branch) = branch.filter(|_| to.join(".git").is_dir()) {
        git::attach(&to.join(".git"), branch)?;
    }
    Ok(())
}

/// Copies a directory with all that is in it: links as links, with times and modes. Where the file
/// system can, files share their blocks until one of them is changed.
///
/// # Errors
/// When something cannot be read or written, and for what is neither file, directory nor link.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (place, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if entry.file_name() == ".git"
            && GitDirectory::of(from)?.map_or(Ok(false), |git| git.copy(&place))?
        {
            continue;
        }
        if kind.is_dir() {
            copy(&entry.path(), &place)?;
        } else if kind.is_symlink() {
            fs::os::unix::fs::symlink(fs::read_link(entry.path())?, &place)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &place)?;
            // make and its like go by these.
            let time = entry.metadata()?.modified()?;
            fs::OpenOptions::new()
                .write(true)
                .open(&place)
                .or_else(|_| fs::File::open(&place))?
                .file()
                .set_modified(time)?;
        } else {
            return Err(io::Error::other(format!(
                "{} is no file, directory or link",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn git(directory: &Path, words: &[&str]) -> String {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let done = command.args(words).current_dir(directory).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn git_works_in_a_copy_of_a_submodule_and_changes_nothing_outside() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        for name in ["library", "main"] {
            fs::create_dir(place(name)).unwrap();
            git(&place(name), &["init", "-q", "-b", "trunk"]);
            git(&place(name), &["commit", "-q", "--allow-empty", "-m", "one"]);
        }
        fs::write(place("library").join("file"), "x").unwrap();
        git(&place("library"), &["add", "file"]);
        git(&place("library"), &["commit", "-q", "-m", "two"]);
        let address = place("library").display().to_string();
        git(&place("main"), &["submodule", "--quiet", "add", &address, "sub"]);
        let checkout = place("main").join("sub");
        git(&checkout, &["checkout", "-q", "--detach"]);
        let commit = git(&checkout, &["rev-parse", "HEAD"]);
        let found = GitDirectory::of(&checkout).unwrap().unwrap();
        assert_eq!((found.branch(), found.commit()), (None, Some(commit.clone())));
        let copied = place("copy");
        copy_checkout(&checkout, &copied, Some("release/1.0")).unwrap();
        assert_eq!(git(&copied, &["branch", "--show-current"]), "release/1.0");
        assert_eq!(git(&copied, &["rev-list", "release/1.0", "--count"]), "2");
        assert_eq!(git(&copied, &["rev-parse", "HEAD"]), commit);
        assert_eq!(git(&copied, &["status", "--porcelain"]), "");
        git(&copied, &["commit", "-q", "--allow-empty", "-m", "three"]);
        assert_eq!(git(&checkout, &["rev-list", "--all", "--count"]), "2");
        assert_eq!(git(&checkout, &["branch", "--show-current"]), "");
    }

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
