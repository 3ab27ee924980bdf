//! What SHA256SUMS beside the packages lists is what was built together: part of it is no build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::error::PromoteError;
use super::input::Input;
use base::names::{Form, RelPath};
use build::provenance;
use build::recorded::Recorded;

/// The checksums beside the packages, by path below `dist`; nothing if there is no list.
///
/// # Errors
/// When a package that is listed is not there, or one that rockpack made is not listed.
pub(super) fn sums<'i>(
    dist: Option<&Path>,
    inputs: impl Iterator<Item = &'i Input>,
) -> Result<BTreeMap<String, String>, PromoteError> {
    let Some(dist) = dist.filter(|dist| dist.join(provenance::SUMS).exists()) else {
        return Ok(BTreeMap::new());
    };
    let sums = Recorded::read_in(dist)?.sums.into_iter();
    let below = |path: RelPath| path.as_str().split_once('/').map(|(_, below)| below.to_owned());
    let sums: BTreeMap<String, String> =
        sums.filter_map(|(path, sha256)| Some((below(path)?, sha256))).collect();
    let mut there = BTreeSet::new();
    for input in inputs {
        let package = input.below_dist();
        // Packages of others can have been put beside those of a build.
        if input.own.is_some() && !sums.contains_key(&package) {
            return Err(PromoteError::Unlisted { package, dir: dist.to_owned() });
        }
        there.insert(package);
    }
    let absent = sums.keys().find(|path| Form::of_file(path).is_some() && !there.contains(*path));
    match absent {
        None => Ok(sums),
        Some(package) => {
            Err(PromoteError::Absent { package: package.clone(), dir: dist.to_owned() })
        }
    }
}
