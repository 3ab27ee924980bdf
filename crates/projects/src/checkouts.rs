//! What checkouts there are, and what the manifest expects of them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fs_err as fs;
use serde::Serialize;

use super::content::{Content, Named};
use super::git::GitDirectory;
use super::git_program::{GitError, git};
use super::survey::survey;
use super::tree::tree_hash;
use base::cleanup;
use base::names::{PackageName, RelPath};
use base::version::Version;
use manifest::{Manifest, ProjectSource, SourceProject};

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
    /// Files that differ from the commit, sorted: changed, removed and new ones, also in submodules.
    pub changed: Vec<String>,
    /// Without version control, one hash for the files.
    pub tree: Option<String>,
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
    /// Its files differ from its commit.
    Dirty,
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
        let content = if place.is_dir() {
            Content::read(&place, &named_in(manifest, directory)).map_err(io::Error::other)?
        } else {
            Content::default()
        };
        let unversioned = place.is_dir() && !content.is_versioned();
        let tree = unversioned.then(|| tree_hash(&place, &content.files)).transpose()?;
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
            changed: content.changed.iter().map(|path| path.display().to_string()).collect(),
            tree,
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

/// The files of a checkout that its projects name.
fn named_in(manifest: &Manifest, directory: &RelPath) -> Named {
    let of_it = |project: &&SourceProject| {
        project.sources.iter().any(|source| source.checkout.value == *directory)
    };
    let (mut paths, mut globs) = (Vec::new(), Vec::new());
    for project in manifest.python.projects.iter().filter(of_it) {
        paths.extend(project.needs.iter().flat_map(|need| need.files.clone()));
        globs.extend(project.include_ignored.iter().map(|glob| glob.value.clone()));
    }
    Named::new(paths, globs)
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
        } else if !self.changed.is_empty() {
            State::Dirty
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
        let said = String::from_utf8_lossy(&said);
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
        git(&words)?;
        Ok(fs::rename(to, place)?)
    }
}
