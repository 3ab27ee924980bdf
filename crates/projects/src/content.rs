//! Content of a checkout: the files to build, and their differences from the commit.
//!
//! For a git repository: tracked files, new files that are not ignored, and ignored files that the
//! manifest names. Without version control: all files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::git::GitDirectory;
use super::git_program::{GitError, NOTHING, git_in};
use base::directory::walk_where;
use base::names::RelPath;
use manifest::Glob;
use plan::ProjectBuild;

/// Files of a checkout, and its repositories.
#[derive(Debug, Clone, Default)]
pub struct CheckoutContent {
    /// Repository of the checkout, then submodules by path.
    pub repositories: Vec<Repository>,
    /// Files and links, relative to the checkout, sorted.
    pub files: Vec<PathBuf>,
    /// Paths that differ from the commits, sorted: changed, removed and new files, and submodules
    /// at another commit.
    pub changed: Vec<PathBuf>,
    /// Uncommitted files that the manifest names.
    pub named: Vec<PathBuf>,
}

/// A git repository in a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Path in the checkout; empty for the checkout itself.
    pub path: PathBuf,
    /// Commit; `None` before the first one.
    pub commit: Option<String>,
    /// Remote `origin`.
    pub address: Option<String>,
}

/// Files that a manifest names, even if git ignores them.
#[derive(Debug, Clone, Default)]
pub struct NamedFiles {
    paths: Vec<RelPath>,
    globs: Vec<Glob>,
}

impl NamedFiles {
    /// Collects the files of a project.
    pub fn of_project(project: &ProjectBuild) -> Self {
        let globs = project.include_ignored.iter().filter_map(|glob| Glob::new(glob).ok());
        Self { paths: project.needs.clone(), globs: globs.collect() }
    }

    /// Collects paths and globs.
    pub fn new(paths: Vec<RelPath>, globs: Vec<Glob>) -> Self {
        Self { paths, globs }
    }

    /// True if the manifest names the file or a parent. A path names a directory only without
    /// tracked files: other build output is not included.
    fn includes(&self, path: &Path, tracked: &[PathBuf]) -> bool {
        let parsed = path.to_str().and_then(|path| path.trim_end_matches('/').parse().ok());
        let Some(path): Option<RelPath> = parsed else { return false };
        let named = |ancestor: &RelPath| {
            let is_alone = || !tracked.iter().any(|file| file.starts_with(ancestor.as_str()));
            self.paths.contains(ancestor) && (*ancestor == path || is_alone())
        };
        let mut above = std::iter::successors(Some(path.clone()), RelPath::parent);
        above.any(|ancestor| {
            named(&ancestor) || self.globs.iter().any(|glob| glob.matches(&ancestor))
        })
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.globs.is_empty()
    }
}

impl CheckoutContent {
    /// Reads a checkout.
    pub fn read(checkout: &Path, named: &NamedFiles) -> Result<Self, GitError> {
        let mut content = Self::default();
        if GitDirectory::find(checkout)?.is_none() {
            content.files = all_files(checkout)?;
            return Ok(content);
        }
        content.add(checkout, Path::new(""), named)?;
        for paths in [&mut content.files, &mut content.changed, &mut content.named] {
            paths.sort();
            paths.dedup();
        }
        Ok(content)
    }

    /// Returns true for a git repository.
    pub fn is_versioned(&self) -> bool {
        !self.repositories.is_empty()
    }

    /// Returns true if files differ from the commits.
    pub fn is_dirty(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Returns true for a path of the content.
    pub fn contains(&self, path: &RelPath) -> bool {
        let path = Path::new(path.as_str());
        self.files.iter().any(|file| file.starts_with(path))
    }

    fn add(&mut self, checkout: &Path, below: &Path, named: &NamedFiles) -> Result<(), GitError> {
        let place = checkout.join(below);
        self.repositories.push(Repository {
            path: below.to_owned(),
            commit: optional(git_in(&place, &["rev-parse", "--verify", "--quiet", "HEAD"]))?,
            address: optional(git_in(&place, &["config", "--get", "remote.origin.url"]))?,
        });
        let mut inner = self.tracked(checkout, below)?;
        let tracked = self.files.clone();
        inner.extend(self.changes(checkout, below, &|path| named.includes(path, &tracked))?);
        if !named.is_empty() {
            self.ignored(checkout, below, &|path| named.includes(path, &tracked))?;
        }
        for path in inner {
            if GitDirectory::find(&checkout.join(&path))?.is_some() {
                // Without the slash of an untracked directory.
                let path: PathBuf = path.components().collect();
                self.add(checkout, &path, named)?;
            }
        }
        Ok(())
    }

    fn tracked(&mut self, checkout: &Path, below: &Path) -> Result<Vec<PathBuf>, GitError> {
        let place = checkout.join(below);
        let mut inner = Vec::new();
        for entry in entries(&git_in(&place, &["ls-files", "-z", "--cached", "--stage"])?) {
            // `MODE HASH STAGE<tab>PATH`; mode 160000 is a submodule.
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let path = below.join(OsStr::from_bytes(&entry[tab + 1..]));
            if entry.starts_with(b"160000 ") {
                inner.push(path);
            } else {
                self.file(checkout, path);
            }
        }
        Ok(inner)
    }

    fn changes(
        &mut self,
        checkout: &Path,
        below: &Path,
        is_named: &dyn Fn(&Path) -> bool,
    ) -> Result<Vec<PathBuf>, GitError> {
        let place = checkout.join(below);
        let mut inner = Vec::new();
        let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        // Submodules are read separately.
        let status = [&status[..], &["--ignore-submodules=dirty"]].concat();
        for entry in entries(&git_in(&place, &status)?) {
            let Some((state, path)) = entry.split_at_checked(3) else { continue };
            let path = below.join(OsStr::from_bytes(path));
            if state != b"?? " {
                self.changed.push(path);
                continue;
            }
            if is_named(&path) {
                self.named.push(path.clone());
            } else {
                self.changed.push(path.clone());
            }
            if path.as_os_str().as_bytes().ends_with(b"/") {
                inner.push(path);
            } else {
                self.file(checkout, path);
            }
        }
        Ok(inner)
    }

    fn ignored(
        &mut self,
        checkout: &Path,
        below: &Path,
        is_named: &dyn Fn(&Path) -> bool,
    ) -> Result<(), GitError> {
        let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        for entry in entries(&git_in(&checkout.join(below), &ignored)?) {
            let path = below.join(OsStr::from_bytes(entry));
            if is_named(&path) && !path.as_os_str().as_bytes().ends_with(b"/") {
                self.named.push(path.clone());
                self.file(checkout, path);
            }
        }
        Ok(())
    }

    fn file(&mut self, checkout: &Path, path: PathBuf) {
        if checkout.join(&path).symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            self.files.push(path);
        }
    }
}

fn optional(answer: Result<Vec<u8>, GitError>) -> Result<Option<String>, GitError> {
    match answer {
        Ok(answer) => Ok(Some(String::from_utf8_lossy(&answer).trim().to_owned())),
        Err(GitError::Failed { message, .. }) if message == NOTHING => Ok(None),
        Err(error) => Err(error),
    }
}

fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

fn all_files(checkout: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut files = Vec::new();
    for entry in walk_where(checkout, |entry| entry.name() != ".git") {
        let entry = entry?;
        if !entry.file_type().is_dir() {
            files.push(entry.below().to_owned());
        }
    }
    files.sort();
    Ok(files)
}
