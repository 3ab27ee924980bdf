//! What checkouts there are, and what the manifest expects of them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;
use serde::Serialize;

use super::git::GitDirectory;
use super::survey::survey;
use crate::cleanup;
use crate::manifest::{Manifest, ProjectSource, SourceProject};
use crate::names::{PackageName, RelPath};
use crate::version::Version;

/// A checkout as it is, beside what is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckoutState {
    /// Its directory, below the root of all sources.
    pub directory: RelPath,
    /// What is wrong with it, if anything.
    pub state: State,
    /// The branch that is checked out, if git's directory says one.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// The branch that the manifest expects for the version.
    pub expected_branch: Option<String>,
    /// The commit that this has where it comes from, when that was asked.
    pub expected_commit: Option<String>,
    /// Where it comes from.
    pub git: Option<String>,
    /// The projects in it that are there.
    pub projects: Vec<PackageName>,
    /// What other projects in it lack, a line each.
    pub lacking: BTreeMap<PackageName, Vec<String>>,
}

/// How a checkout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As expected.
    Fine,
    /// It is not there.
    Missing,
    /// A project in it lacks something.
    Lacking,
    /// It is of another branch.
    OtherBranch,
    /// It is of the branch, at another commit.
    OtherCommit,
}

/// Why git could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no such program.
    #[error("cannot start git")]
    Start(#[source] io::Error),
    /// It failed.
    #[error("`git {words}` failed: {said}")]
    Failed {
        /// Its arguments.
        words: String,
        /// Why, as it said.
        said: String,
    },
    /// What it made cannot be put in place.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Every checkout that a project names, in the order of the manifest.
///
/// # Errors
/// When `root` or a checkout cannot be read.
pub fn checkouts(
    manifest: &Manifest,
    root: &Path,
    version: &Version,
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
        let git = if place.is_dir() { GitDirectory::of(&place)? } else { None };
        let declared = python.checkout(directory);
        let of_it = |project: &&SourceProject| {
            project.sources.iter().any(|source: &ProjectSource| source.checkout.value == *directory)
        };
        let projects: Vec<&PackageName> =
            python.projects.iter().filter(of_it).map(|project| &project.name.value).collect();
        let there = projects.iter().filter(|name| sources.projects.contains_key(**name));
        let lacking = projects
            .iter()
            .filter_map(|name| Some(((*name).clone(), sources.lacking.get(*name)?.clone())));
        let mut state = CheckoutState {
            directory: directory.clone(),
            state: State::Fine,
            branch: git.as_ref().and_then(GitDirectory::branch),
            commit: git.as_ref().and_then(GitDirectory::commit),
            expected_branch: declared.and_then(|checkout| checkout.branch_of(version)),
            expected_commit: None,
            git: declared.map(|checkout| checkout.git.clone()),
            projects: there.map(|name| (*name).clone()).collect(),
            lacking: lacking.collect(),
        };
        state.judge(place.is_dir());
        Ok(state)
    };
    directories.into_iter().map(state).collect()
}

impl CheckoutState {
    fn judge(&mut self, is_there: bool) {
        // A detached HEAD is judged by its commit alone.
        let other_branch = match (&self.branch, &self.expected_branch) {
            (Some(branch), Some(expected)) => branch != expected,
            _ => false,
        };
        let other_commit = match (&self.commit, &self.expected_commit) {
            (Some(commit), Some(expected)) => commit != expected,
            _ => false,
        };
        self.state = if !is_there {
            State::Missing
        } else if !self.lacking.is_empty() {
            State::Lacking
        } else if other_branch {
            State::OtherBranch
        } else if other_commit {
            State::OtherCommit
        } else {
            State::Fine
        };
    }

    /// Asks git which commit the expected branch has, and judges by that too.
    ///
    /// # Errors
    /// When git fails.
    pub fn ask(&mut self) -> Result<(), GitError> {
        let Some(address) = &self.git else { return Ok(()) };
        let name = self.expected_branch.as_ref();
        let name = name.map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let said = git(&["ls-remote", "--exit-code", "--", address, &name])?;
        self.expected_commit = said.split_whitespace().next().map(str::to_owned);
        self.judge(self.state != State::Missing);
        Ok(())
    }

    /// Clones it below `root`: it is there whole or not at all.
    ///
    /// # Errors
    /// When git fails, or the directory cannot be put in place.
    pub fn clone_into(&self, root: &Path) -> Result<(), GitError> {
        let Some(address) = &self.git else { return Ok(()) };
        let place = root.join(self.directory.as_str());
        let parent = place.parent().unwrap_or(root);
        fs::create_dir_all(parent)?;
        let mut made = tempfile::Builder::new();
        let (partial, _registration) =
            cleanup::temporary(|| made.prefix(".rockpack-").tempdir_in(parent))?;
        let to = partial.path().join("checkout");
        let mut words = vec!["clone".to_owned(), "--quiet".to_owned()];
        words.extend(self.expected_branch.as_ref().map(|branch| format!("--branch={branch}")));
        words.extend(["--".to_owned(), address.clone(), to.display().to_string()]);
        git(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(fs::rename(to, place)?)
    }
}

/// Runs git, which asks nobody for a password.
fn git(words: &[&str]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    command.args(words).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").stdin(Stdio::null());
    let done = command.output().map_err(GitError::Start)?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let reason = said.lines().find(|line| line.starts_with("fatal:"));
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let said = reason.or(last).unwrap_or("it said nothing");
    Err(GitError::Failed { words: words.join(" "), said: said.trim().to_owned() })
}
