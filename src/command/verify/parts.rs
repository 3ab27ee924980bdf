//! Wheels of a split by any program, checked together.

use check::{Finding, Package, Targets};
use manifest::{Manifest, SplitRule};
use record::assignment;
use record::gate::{filled, known_target};

/// Follows the `wheel` lines of the manifest with `device-by`.
pub fn of_splits(manifest: &Manifest, targets: &Targets, packages: &[Package<'_>]) -> Vec<Finding> {
    let splits = manifest.python.splits.iter();
    splits.flat_map(|rule| of_split(manifest, rule, targets, packages)).collect()
}

fn of_split(
    manifest: &Manifest,
    rule: &SplitRule,
    targets: &Targets,
    packages: &[Package<'_>],
) -> Vec<Finding> {
    let host = rule.name.as_str();
    let device = |name: &str| filled(rule.device.as_str(), name).map(str::to_owned);
    let mut findings =
        check::missing_parts(packages, &|name| name == host || device(name).is_some());
    let home = assignment::home(rule, &manifest.families);
    // An unsplit wheel has files for targets too, but no wheels for them.
    let is_split = packages.iter().any(|p| p.name.as_deref().and_then(device).is_some());
    for package in packages {
        let Some(name) = package.name.as_deref() else { continue };
        if let Some(target) = device(name) {
            let target = known_target(manifest, &target);
            findings.extend(check::misplaced(targets, package, Some(&target)));
        } else if name == host && is_split {
            findings.extend(check::misplaced_members(package, &home));
        }
    }
    findings
}
