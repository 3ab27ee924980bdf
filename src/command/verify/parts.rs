//! Wheels that `rockpack wheel split` made, or another program: each is judged with the others.

use build::assignment;
use build::gate::{filled, known_target};
use manifest::{Manifest, SplitRule};
use wheel::verify::{self, Finding, Package};

/// What is wrong with wheels of splits, by the `wheel` lines of the manifest that have `device-by`.
pub fn of_splits(
    manifest: &Manifest,
    targets: &verify::Targets,
    packages: &[Package],
) -> Vec<Finding> {
    let splits = manifest.python.splits.iter();
    splits.flat_map(|rule| of_split(manifest, rule, targets, packages)).collect()
}

fn of_split(
    manifest: &Manifest,
    rule: &SplitRule,
    targets: &verify::Targets,
    packages: &[Package],
) -> Vec<Finding> {
    let host = rule.name.as_str();
    let device = |name: &str| filled(rule.device.as_str(), name).map(str::to_owned);
    let mut found = verify::lost(packages, &|name| name == host || device(name).is_some());
    let home = assignment::home(rule, &manifest.families);
    // A wheel that nobody split has files for targets, and no wheels beside it.
    let is_split = packages.iter().any(|p| p.name.as_deref().and_then(device).is_some());
    for package in packages {
        let Some(name) = package.name.as_deref() else { continue };
        if let Some(target) = device(name) {
            let target = known_target(manifest, &target);
            found.extend(verify::misplaced(targets, package, Some(&target)));
        } else if name == host && is_split {
            found.extend(verify::left(package, &home));
        }
    }
    found
}
