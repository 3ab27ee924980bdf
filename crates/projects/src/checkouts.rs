//! Existing checkouts, compared with the manifest.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;
use serde::Serialize;

use super::content::{CheckoutContent, NamedFiles};
use super::git::GitDirectory;
use super::git_program::{GitError, git};
use super::pending::{self, Mark};
use super::remote;
use super::survey::survey;
use super::tree::{hashed, tree_hash};
use base::names::{PackageName, RelPath};
use base::partial::PartialDirectory;
use base::version::Version;
use manifest::{Checkout, Manifest, ProjectSource, SourceProject};

/// Format number of [`CheckoutStates`].
pub const CHECKOUTS_FORMAT: u32 = 1;

/// Output of `rockpack project list --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CheckoutStates {
    /// Format number, [`CHECKOUTS_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = CHECKOUTS_FORMAT)))]
    pub format: u32,
    /// Checkouts, in the order of the manifest.
    pub checkouts: Vec<CheckoutState>,
}

/// State of a checkout, and the expected state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CheckoutState {
    /// Directory below the root of all sources.
    pub directory: RelPath,
    /// Summary.
    pub state: State,
    /// Current branch, if HEAD is attached.
    pub branch: Option<String>,
    /// Current commit.
    pub commit: Option<String>,
    /// Files that differ from the commit, sorted: changed, removed and new, also in submodules.
    pub changed: Vec<String>,
    /// Hash of all files, without version control.
    pub tree: Option<String>,
    /// Branch that the manifest expects.
    pub expected_branch: Option<String>,
    /// Branches that the version can have, the expected one first.
    #[serde(skip)]
    pub branches: Vec<String>,
    /// Each version has a branch, and none was named.
    #[serde(skip)]
    pub needs_version: bool,
    /// Commit in the remote repository, if requested.
    pub expected_commit: Option<String>,
    /// Remote repository.
    pub git: Option<String>,
    /// Program to run in a new clone.
    #[serde(skip)]
    pub init: Option<RelPath>,
    /// The program has not succeeded in this clone.
    #[serde(skip)]
    pub is_pending: bool,
    /// Complete projects in it.
    pub projects: Vec<PackageName>,
    /// Missing parts of the other projects, by project.
    pub lacking: BTreeMap<PackageName, Vec<String>>,
}

/// State of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As expected.
    Fine,
    /// Missing.
    Missing,
    /// A project lacks something.
    Lacking,
    /// On another branch.
    OtherBranch,
    /// On the expected branch, at another commit.
    OtherCommit,
    /// Files differ from the commit.
    Dirty,
}

/// Returns the state of every checkout that projects use, in manifest order. Without a version, any
/// branch is expected where the manifest names one for each version.
pub fn checkouts(
    manifest: &Manifest,
    root: &Path,
    version: Option<&Version>,
) -> io::Result<Vec<CheckoutState>> {
    let sources = survey(manifest, root)?;
    let python = &manifest.python;
    let named = python.checkouts.iter().map(|checkout| &checkout.directory.value);
    let used = python.projects.iter().flat_map(|project| &project.sources);
    let mut directories: Vec<&RelPath> = Vec::new();
    for directory in named.chain(used.map(|source| &source.checkout.value)) {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    let state = |directory: &RelPath| {
        let place = root.join(directory.as_str());
        // Builds take an empty directory for a missing source, too.
        let exists = place.is_dir() && !base::directory::is_empty(&place)?;
        let git = if exists { GitDirectory::find(&place)? } else { None };
        let content = if exists {
            CheckoutContent::read(&place, &named_in(manifest, directory))
                .map_err(io::Error::other)?
        } else {
            CheckoutContent::default()
        };
        let unversioned = exists && !content.is_versioned();
        let files = unversioned.then(|| hashed(&place, &content.files)).transpose()?;
        let tree = files.as_ref().map(tree_hash);
        let declared = python.checkout(directory);
        let uses_directory = |project: &&SourceProject| {
            project.sources.iter().any(|source: &ProjectSource| source.checkout.value == *directory)
        };
        let projects: Vec<&PackageName> = python
            .projects
            .iter()
            .filter(uses_directory)
            .map(|project| &project.name.value)
            .collect();
        let complete = projects.iter().filter(|name| sources.projects.contains_key(**name));
        let lacking = projects
            .iter()
            .filter_map(|name| Some(((*name).clone(), sources.lacking.get(*name)?.clone())));
        let mut state = CheckoutState {
            directory: directory.clone(),
            state: State::Fine,
            branch: git.as_ref().and_then(GitDirectory::branch),
            commit: git.as_ref().and_then(GitDirectory::commit),
            changed: content.changed.iter().map(|path| path.display().to_string()).collect(),
            tree,
            expected_branch: None,
            branches: declared.map(|checkout| checkout.branches_of(version)).unwrap_or_default(),
            needs_version: version.is_none() && declared.is_some_and(Checkout::has_versions),
            expected_commit: None,
            git: declared.map(|checkout| checkout.git.clone()),
            init: declared.and_then(|checkout| checkout.init.clone()),
            is_pending: declared.is_some_and(|checkout| checkout.init.is_some())
                && pending::is_left(&place),
            projects: complete.map(|name| (*name).clone()).collect(),
            lacking: lacking.collect(),
        };
        state.expect_branch();
        state.judge(exists);
        Ok(state)
    };
    directories.into_iter().map(state).collect()
}

fn named_in(manifest: &Manifest, directory: &RelPath) -> NamedFiles {
    let of_it = |project: &&SourceProject| {
        project.sources.iter().any(|source| source.checkout.value == *directory)
    };
    let (mut paths, mut globs) = (Vec::new(), Vec::new());
    for project in manifest.python.projects.iter().filter(of_it) {
        paths.extend(project.needs.iter().flat_map(|need| need.files.clone()));
        globs.extend(project.include_ignored.iter().map(|glob| glob.value.clone()));
    }
    NamedFiles::new(paths, globs)
}

impl CheckoutState {
    fn judge(&mut self, exists: bool) {
        // A detached HEAD has no branch to compare.
        let other_branch = match (&self.branch, &self.expected_branch) {
            (Some(branch), Some(expected)) => branch != expected,
            _ => false,
        };
        let other_commit = match (&self.commit, &self.expected_commit) {
            (Some(commit), Some(expected)) => commit != expected,
            _ => false,
        };
        self.state = if !exists {
            State::Missing
        } else if !self.lacking.is_empty() {
            State::Lacking
        } else if other_branch {
            State::OtherBranch
        } else if other_commit {
            State::OtherCommit
        } else if !self.changed.is_empty() {
            State::Dirty
        } else {
            State::Fine
        };
    }

    /// Expects the checkout's branch, if the version can have it, otherwise the first one.
    fn expect_branch(&mut self) {
        let current = self.branches.iter().find(|branch| self.branch.as_ref() == Some(branch));
        self.expected_branch = current.or(self.branches.first()).cloned();
    }

    /// Requests the commit of the expected branch from the remote repository, and compares it.
    pub fn query_remote(&mut self) -> Result<(), GitError> {
        let Some(address) = self.git.as_ref().filter(|_| !self.needs_version) else {
            return Ok(());
        };
        let heads = remote::commits(address, &self.branches)?;
        if heads.is_empty() {
            let message = format!("the repository has no branch {}", self.branches.join(" or "));
            return Err(GitError::Failed { words: "ls-remote".to_owned(), message });
        }
        let head = match self.expected_branch.as_ref().and_then(|branch| heads.get(branch)) {
            Some(commit) => Some(commit),
            None => self.branches.iter().find_map(|branch| heads.get(branch)),
        };
        self.expected_commit = head.or(heads.get(remote::HEAD)).cloned();
        self.judge(self.state != State::Missing);
        Ok(())
    }

    /// Clones the checkout below `root`, atomically.
    pub fn clone_into(&self, root: &Path) -> Result<(), GitError> {
        let Some(address) = &self.git else { return Ok(()) };
        let place = root.join(self.directory.as_str());
        let parent = place.parent().unwrap_or(root);
        fs::create_dir_all(parent)?;
        let partial = PartialDirectory::new(parent, ".rockpack-clone-")?;
        let clone = partial.path().join("checkout");
        let mut words = vec!["clone".to_owned(), "--quiet".to_owned()];
        words.extend(self.cloned_branch(address)?.map(|branch| format!("--branch={branch}")));
        words.extend(["--".to_owned(), address.clone(), clone.display().to_string()]);
        git(&words)?;
        // Some branches need no program.
        if self.init.as_ref().is_some_and(|program| clone.join(program.as_str()).exists()) {
            pending::mark(&clone)?;
        }
        Ok(fs::rename(clone, place)?)
    }

    /// Returns the first of the possible branches that the repository has; otherwise the expected
    /// one, for git's message.
    fn cloned_branch(&self, address: &str) -> Result<Option<String>, GitError> {
        if self.branches.len() < 2 {
            return Ok(self.expected_branch.clone());
        }
        let heads = remote::commits(address, &self.branches)?;
        let existing = self.branches.iter().find(|branch| heads.contains_key(*branch));
        Ok(existing.or(self.expected_branch.as_ref()).cloned())
    }

    /// Returns true if the program for new clones did not succeed in the checkout.
    pub fn needs_program(&self, root: &Path) -> bool {
        pending::is_left(&root.join(self.directory.as_str()))
    }

    /// Runs the program for new clones in the checkout, and returns its name if it failed.
    pub fn initialize(&self, root: &Path) -> Result<Option<String>, GitError> {
        let Some(program) = self.init.as_ref().filter(|_| self.needs_program(root)) else {
            return Ok(None);
        };
        let place = root.join(self.directory.as_str()).canonicalize()?;
        let Some(mark) = Mark::take(&place)? else {
            return Ok(Some(format!("another process runs {program}")));
        };
        let mut command = Command::new(place.join(program.as_str()));
        command.current_dir(&place).stdin(Stdio::null());
        // Standard output has the list of checkouts.
        let status = command.stdout(io::stderr()).status()?;
        if !status.success() {
            return Ok(Some(format!("{program} ended with {status}")));
        }
        Ok(mark.remove().map(|()| None)?)
    }

    /// Returns branches of the remote repository that are near the expected one, the best first;
    /// `None` if it has the branch.
    pub fn near_branches(&self) -> Result<Option<Vec<String>>, GitError> {
        let Some((address, expected)) = self.git.as_ref().zip(self.expected_branch.as_ref()) else {
            return Ok(None);
        };
        let heads = remote::branches(address)?;
        if self.branches.iter().any(|branch| heads.contains(branch)) {
            return Ok(None);
        }
        Ok(Some(remote::near(expected, heads)))
    }
}
