//! git directories, as far as copies of checkouts need them (gitrepository-layout(5)).

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use base::directory::walk;

#[derive(Debug)]
pub(crate) struct GitDirectory {
    /// Directory of HEAD and index.
    worktree: PathBuf,
    /// Directory of objects and refs; linked worktrees share the main worktree's.
    common: PathBuf,
    /// `.git` is a file, as in submodules and further working trees.
    elsewhere: bool,
}

impl GitDirectory {
    /// Finds the git directory of a checkout, if any.
    pub fn find(checkout: &Path) -> io::Result<Option<Self>> {
        let place = checkout.join(".git");
        let Ok(metadata) = fs::symlink_metadata(&place) else { return Ok(None) };
        let elsewhere = metadata.is_file();
        let worktree = if elsewhere {
            let text = fs::read_to_string(&place)?;
            let Some(path) = text.strip_prefix("gitdir:") else {
                return Err(io::Error::other(format!("{} has no gitdir line", place.display())));
            };
            checkout.join(path.trim())
        } else {
            place.clone()
        };
        if !worktree.join("HEAD").is_file() {
            let text = format!("{} is not a git directory", worktree.display());
            return Err(io::Error::other(text));
        }
        let common = match fs::read_to_string(worktree.join("commondir")) {
            Ok(path) => worktree.join(path.trim()),
            Err(_) => worktree.clone(),
        };
        Ok(Some(Self { worktree, common, elsewhere }))
    }

    pub(crate) fn is_shallow(&self) -> bool {
        self.common.join("shallow").is_file()
    }

    /// Current branch; `None` if HEAD is detached.
    pub fn branch(&self) -> Option<String> {
        let head = fs::read_to_string(self.worktree.join("HEAD")).ok()?;
        Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    }

    /// Current commit, if HEAD or the file of its ref has it.
    pub fn commit(&self) -> Option<String> {
        let head = fs::read_to_string(self.worktree.join("HEAD")).ok()?;
        let Some(name) = head.trim().strip_prefix("ref: ") else {
            return Some(head.trim().to_owned());
        };
        if let Ok(commit) = fs::read_to_string(self.common.join(name)) {
            return Some(commit.trim().to_owned());
        }
        let packed = fs::read_to_string(self.common.join("packed-refs")).ok()?;
        let line = packed.lines().find(|line| line.ends_with(&format!(" {name}")))?;
        line.split(' ').next().map(str::to_owned)
    }

    /// Makes an independent `.git` for a copy, if `.git` refers to another place: separate HEAD,
    /// refs and index, and shared read-only objects.
    pub fn copy(&self, to: &Path) -> io::Result<bool> {
        if !self.elsewhere {
            return Ok(false);
        }
        fs::create_dir_all(to.join("objects/info"))?;
        fs::create_dir_all(to.join("refs"))?;
        let objects = fs::canonicalize(self.common.join("objects"))?;
        fs::write(to.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
        fs::copy(self.worktree.join("HEAD"), to.join("HEAD"))?;
        for (from, name) in
            [(&self.worktree, "index"), (&self.common, "packed-refs"), (&self.common, "shallow")]
        {
            if from.join(name).is_file() {
                fs::copy(from.join(name), to.join(name))?;
            }
        }
        if self.common.join("refs").is_dir() {
            copy_refs(&self.common, to)?;
        }
        let config = fs::read_to_string(self.common.join("config")).unwrap_or_default();
        let lines = config.lines().filter(|line| {
            let key = line.split('=').next().unwrap_or_default().trim();
            !["worktree", "bare"].contains(&key)
        });
        let config: Vec<&str> = lines.collect();
        fs::write(to.join("config"), config.join("\n") + "\n")?;
        Ok(true)
    }
}

fn copy_refs(from: &Path, to: &Path) -> io::Result<()> {
    for entry in walk(&from.join("refs")) {
        let entry = entry?;
        let place = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs::create_dir_all(&place)?;
        } else if entry.file_type().is_file() {
            fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}

/// Attaches a detached HEAD to `branch`: scripts ask for it.
pub(crate) fn attach(git: &Path, branch: &str) -> io::Result<()> {
    let head = fs::read_to_string(git.join("HEAD"))?;
    if head.starts_with("ref: ") {
        return Ok(());
    }
    let place = git.join("refs/heads").join(branch);
    fs::create_dir_all(place.parent().unwrap_or(git))?;
    fs::write(place, head)?;
    fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n"))
}
