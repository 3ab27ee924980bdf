use std::collections::BTreeSet;

use super::{AssembleError, Shard, statements};
use base::names::RelPath;
use wheel::package::distribution_of;

/// Packages that a plan promises.
#[derive(Debug, Clone)]
pub struct Promised {
    /// Name for messages.
    pub label: String,
    /// Digest of the plan.
    pub digest: String,
    /// Files below the destination.
    pub files: BTreeSet<RelPath>,
    /// Normalized names of distributions versioned by their build.
    pub projects: BTreeSet<String>,
}

impl Promised {
    pub(super) fn check(&self, shards: &[Shard<'_>]) -> Result<(), AssembleError> {
        let mut built =
            statements(shards).filter_map(|(dir, statement)| Some((dir, statement.plan()?)));
        if let Some((dir, built)) = built.find(|(_, built)| *built != self.digest) {
            return Err(AssembleError::OtherPlan {
                dir: dir.to_owned(),
                label: self.label.clone(),
                built: built.to_owned(),
                planned: self.digest.clone(),
            });
        }
        let present: BTreeSet<RelPath> = shards
            .iter()
            .flat_map(|shard| shard.recorded.packages().map(|(path, _)| path))
            .collect();
        let names: BTreeSet<String> =
            present.iter().filter_map(|path| distribution_of(path.file_name())).collect();
        let files = self.files.difference(&present);
        let files = files.map(|file| file.file_name().to_owned());
        let projects = self.projects.iter().filter(|name| !names.contains(*name)).cloned();
        let lacking: Vec<String> = files.chain(projects).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        Err(AssembleError::Incomplete { label: self.label.clone(), lacking })
    }
}
