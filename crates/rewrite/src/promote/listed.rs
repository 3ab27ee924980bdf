//! Check of the packages against SHA256SUMS, which lists all of a build: a part of a build cannot be
//! promoted, because the new list would lack the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::PromoteError;
use super::input::Input;
use base::names::{Form, RelPath};
use record::provenance;
use record::recorded::{self, Recorded, StatementFault};

/// Returns the listed checksums by path below `dist`; empty without a list. Fails if a listed
/// package is missing, a package of rockpack is not listed, or a statement has other packages.
pub(super) fn sums<'i>(
    dist: Option<&Path>,
    inputs: impl Iterator<Item = &'i Input>,
) -> Result<BTreeMap<String, String>, PromoteError> {
    let Some(dist) = dist else { return Ok(BTreeMap::new()) };
    let sums = if dist.join(provenance::SUMS).exists() {
        checked_sums(dist, inputs)?
    } else {
        BTreeMap::new()
    };
    match recorded::statement_faults(dist)?.into_iter().next() {
        None => Ok(sums),
        Some(StatementFault { file, kind, detail }) => {
            Err(PromoteError::Provenance { path: dist.join(file), what: kind, detail })
        }
    }
}

fn checked_sums<'i>(
    dist: &Path,
    inputs: impl Iterator<Item = &'i Input>,
) -> Result<BTreeMap<String, String>, PromoteError> {
    let sums = Recorded::read_in(dist)?.sums.into_iter();
    let path_below_dist =
        |path: RelPath| path.as_str().split_once('/').map(|(_, below)| below.to_owned());
    let sums: BTreeMap<String, String> =
        sums.filter_map(|(path, sha256)| Some((path_below_dist(path)?, sha256))).collect();
    let mut present = BTreeSet::new();
    for input in inputs {
        let package = input.below_dist();
        // Packages of other programs may be in the directory of a build, and no list has them.
        if input.own.is_some() && !sums.contains_key(&package) {
            return Err(PromoteError::Unlisted { package, dir: dist.to_owned() });
        }
        present.insert(package);
    }
    let absent = sums.keys().find(|path| Form::of_file(path).is_some() && !present.contains(*path));
    match absent {
        None => Ok(sums),
        Some(package) => {
            Err(PromoteError::Absent { package: package.clone(), dir: dist.to_owned() })
        }
    }
}
