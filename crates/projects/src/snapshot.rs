//! State of the checkouts at the beginning of a build.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::content::{CheckoutContent, NamedFiles};
use super::fingerprint::Fingerprint;
use super::git::GitDirectory;
use super::git_program::GitError;
use super::tree::{Files, hashed, tree_hash};
use base::names::{PackageName, RelPath};
use plan::{Plan, ProjectBuild};

/// Checkout of a project.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Directory below the root of all sources.
    pub directory: RelPath,
    /// Files and repositories.
    pub content: CheckoutContent,
    /// Hash of the files.
    pub tree: String,
    pub(crate) files: Files,
}

impl Snapshot {
    /// Reads the checkout of a project.
    pub fn take(root: &Path, project: &ProjectBuild) -> Result<Self, GitError> {
        let place = root.join(project.source.as_str());
        let content = CheckoutContent::read(&place, &NamedFiles::of_project(project))?;
        let files = hashed(&place, &content.files)?;
        Ok(Self { directory: project.source.clone(), content, tree: tree_hash(&files), files })
    }

    /// Hashes everything that a build can see: files, commits, branches, shallowness and the dirty
    /// state.
    pub fn identity(&self, root: &Path) -> io::Result<String> {
        let mut hash = Fingerprint::new("checkout");
        hash.add(&self.tree);
        hash.add(if self.content.is_dirty() { "dirty" } else { "clean" });
        hash.add(&self.history(root)?);
        Ok(hash.end())
    }

    /// Hashes commits, branches and shallowness of all repositories.
    pub fn history(&self, root: &Path) -> io::Result<String> {
        let mut hash = Fingerprint::new("history");
        let place = root.join(self.directory.as_str());
        for repository in &self.content.repositories {
            let git = GitDirectory::find(&place.join(&repository.path))?;
            let branch = git.as_ref().and_then(GitDirectory::branch);
            let shallow = git.is_some_and(|git| git.is_shallow());
            hash.add(&repository.path.to_string_lossy());
            hash.add(&format!("{:?} {branch:?} {shallow}", repository.commit));
        }
        Ok(hash.end())
    }
}

/// Reads the checkouts of all projects.
pub fn snapshots(plan: &Plan, root: &Path) -> Result<BTreeMap<PackageName, Snapshot>, GitError> {
    let projects = plan.projects.iter();
    projects.map(|project| Ok((project.name.clone(), Snapshot::take(root, project)?))).collect()
}
