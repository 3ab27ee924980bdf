//! Packages of a plan that something else made.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::{Built, ExecuteError, failed};
use crate::archive::Stage;
use crate::names::RelPath;

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
}

impl Elsewhere {
    /// The stage, what was made, and the paths of those packages that are not on it.
    pub(super) fn into_parts(self) -> (Stage, BTreeMap<usize, Built>, Vec<RelPath>) {
        let paths = self.built.values().map(|built| built.path.clone());
        let apart = if self.apart { paths.collect() } else { Vec::new() };
        (self.stage, self.built, apart)
    }
}

/// Those of `apart` whose paths files of earlier builds have, which would be taken for them.
pub(super) fn replaced(dest: &Path, apart: &[RelPath]) -> Result<Vec<RelPath>, ExecuteError> {
    let mut replaced = Vec::new();
    for path in apart {
        match dest.join(path.as_str()).symlink_metadata() {
            Ok(_) => replaced.push(path.clone()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(dest, path, &error)),
        }
    }
    Ok(replaced)
}
