//! Packages of a plan that something else made.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Built, ExecuteError, failed};
use crate::provenance::Package;
use crate::recorded::{self, Recorded};
use base::names::RelPath;
use wheel::archive::Stage;

/// Packages that need not be made: they are on a stage, or stay where they are.
#[derive(Debug)]
pub struct Elsewhere {
    /// The destination, which everything goes to that is made besides.
    pub stage: Stage,
    /// What was made, by its place in the plan.
    pub built: BTreeMap<usize, Built>,
    /// Whether the packages stay where they were made. Then they are not on the stage, and checksums and
    /// statement name them all the same.
    pub apart: bool,
    /// How long it was waited for them.
    pub took: Duration,
}

impl Elsewhere {
    /// The stage, what was made, and the paths of those packages that are not on it.
    pub(super) fn into_parts(self) -> (Stage, BTreeMap<usize, Built>, Vec<RelPath>) {
        let paths = self.built.values().map(|built| built.path.clone());
        let apart = if self.apart { paths.collect() } else { Vec::new() };
        (self.stage, self.built, apart)
    }
}

/// What stands at the paths of packages that are not on the stage, and has other bytes: whoever reads the checksums
/// would take it for them, so that it goes. What is the package itself stays.
///
/// # Errors
/// When something is there that no build recorded: that is nobody's to remove.
pub(super) fn replaced(
    dest: &Path,
    recorded: &Recorded,
    apart: &[Package<'_>],
) -> Result<Vec<RelPath>, ExecuteError> {
    let mut replaced = Vec::new();
    for package in apart {
        let path = dest.join(package.path.as_str());
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(dest, package.path, &error)),
            Ok(_) => {}
        }
        let found = recorded::hash_of(&path).map_err(|e| failed(dest, package.path, &e))?;
        if found.as_deref() == Some(package.sha256) {
            continue;
        }
        let found = found.as_deref();
        if !recorded.packages().any(|(other, hash)| other == *package.path && Some(hash) == found) {
            return Err(ExecuteError::InTheWay(path));
        }
        replaced.push(package.path.clone());
    }
    Ok(replaced)
}

/// Packages that an earlier build left elsewhere too: what is recorded of them, and not here.
///
/// # Errors
/// When it cannot be looked whether they are here.
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
