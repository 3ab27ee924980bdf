//! Wheels that one wheel was split into: all that they require of each other is there.

use std::collections::BTreeSet;

use super::{Finding, Package};
use base::source::Code;

/// Requirements of wheels of a split that no package of the set meets; `is_part` tells, of a distribution,
/// whether it is one of them. One wheel by itself is no set.
pub fn lost(packages: &[Package], is_part: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p.name.as_deref()).collect();
    let parts = packages.iter().filter(|p| p.name.as_deref().is_some_and(is_part));
    let parts: Vec<&Package> = parts.collect();
    if parts.iter().filter_map(|part| part.name.as_deref()).collect::<BTreeSet<_>>().len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for part in parts {
        let lost = part.requires.iter().filter(|r| is_part(&r.name) && !names.contains(&*r.name));
        // An extra and the extra for all ask for the same.
        let lost: BTreeSet<&str> = lost.map(|requirement| &*requirement.name).collect();
        found.extend(lost.into_iter().map(|name| {
            let what = "it requires a wheel of the same split, which the set does not have";
            Finding::error(Code::UnmetRequirement, what).because(name).within(&part.file)
        }));
    }
    found
}

/// Files of a host wheel that belong into the wheel for a target; `target` tells of which, by a member.
pub fn left(host: &Package, target: &dyn Fn(&str) -> Option<String>) -> Vec<Finding> {
    let left = host.members().filter_map(|member| Some((member, target(member)?)));
    let finding = |(member, target): (&str, String)| {
        let what = "is of an ISA, and the package is the host wheel of a split";
        Finding::error(Code::MisplacedCode, what).of(member).because(target).within(&host.file)
    };
    left.map(finding).collect()
}
