//! Recorded packages that a new set requires.

use std::collections::BTreeSet;
use std::path::Path;

use base::names::{RelPath, Requirement};
use wheel::package::{Metadata, Wheel, WheelName};

/// Returns the `earlier` wheels that meet `requirements` of a new set, or those of each other: a set
/// of `--since` refers to packages of earlier nights. The set itself has none of their names.
pub(super) fn required(
    dest: &Path,
    earlier: &BTreeSet<RelPath>,
    mut requirements: Vec<Requirement>,
) -> BTreeSet<RelPath> {
    let mut required = BTreeSet::new();
    while let Some(requirement) = requirements.pop() {
        for path in earlier.iter().filter(|path| meets(path, &requirement)) {
            if required.insert(path.clone()) {
                requirements.extend(requirements_of(&dest.join(path.as_str())));
            }
        }
    }
    required
}

fn requirements_of(file: &Path) -> Vec<Requirement> {
    let text = || Wheel::open(file).ok()?.info("METADATA").ok();
    text().map_or(Vec::new(), |text| Metadata::parse(&text).requirements().flatten().collect())
}

fn meets(path: &RelPath, requirement: &Requirement) -> bool {
    let Ok(name) = path.file_name().parse::<WheelName>() else { return false };
    let (Some(versions), Ok(version)) = (&requirement.versions, name.version.as_str().parse())
    else {
        return false;
    };
    name.dist.normalized() == requirement.name && versions.contains(&version)
}
