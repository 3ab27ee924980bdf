use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Built, ExecuteError, failed};
use base::names::RelPath;
use record::provenance::Package;
use record::recorded::{self, Recorded};
use wheel::archive::Stage;

/// Packages built elsewhere, on a stage or in another directory.
#[derive(Debug)]
pub struct Elsewhere {
    /// Stage, also for outputs built here.
    pub stage: Stage,
    /// Finished packages by their index in the plan.
    pub built: BTreeMap<usize, Built>,
    /// The packages stay in another directory, but are listed in checksums and statement.
    pub apart: bool,
    /// Waiting time.
    pub took: Duration,
}

impl Elsewhere {
    pub(super) fn into_parts(self) -> (Stage, BTreeMap<usize, Built>, Vec<RelPath>) {
        let paths = self.built.values().map(|built| built.path.clone());
        let unstaged = if self.apart { paths.collect() } else { Vec::new() };
        (self.stage, self.built, unstaged)
    }
}

/// Files to remove: other bytes at the path of a package kept elsewhere.
///
/// # Errors
///
/// For an unrecorded file.
pub(super) fn replaced(
    dest: &Path,
    recorded: &Recorded,
    unstaged: &[Package<'_>],
) -> Result<Vec<RelPath>, ExecuteError> {
    let mut replaced = Vec::new();
    for package in unstaged {
        let path = dest.join(package.path.as_str());
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(dest, package.path, &error)),
            Ok(_) => {}
        }
        let actual = recorded::hash_of(&path).map_err(|e| failed(dest, package.path, &e))?;
        if actual.as_deref() == Some(package.sha256) {
            continue;
        }
        let actual = actual.as_deref();
        if !recorded.packages().any(|(path, hash)| path == *package.path && Some(hash) == actual) {
            return Err(ExecuteError::InTheWay(path));
        }
        replaced.push(package.path.clone());
    }
    Ok(replaced)
}

pub(super) fn absent(dest: &Path, recorded: &Recorded) -> io::Result<Vec<(RelPath, String)>> {
    let mut absent = Vec::new();
    for (path, sha256) in recorded.packages() {
        match dest.join(path.as_str()).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                absent.push((path, sha256.to_owned()));
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(absent)
}
