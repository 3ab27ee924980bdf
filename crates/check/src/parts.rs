//! Checks of a wheel split into several: all parts required by other parts must exist.

use std::collections::BTreeSet;

use crate::{Finding, Package};
use base::source::Code;

/// Reports requirements on missing parts; `is_part` decides by distribution. A single part is not
/// checked.
pub fn missing_parts(packages: &[Package<'_>], is_part: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p.name.as_deref()).collect();
    let parts = packages.iter().filter(|p| p.name.as_deref().is_some_and(is_part));
    let parts: Vec<&Package<'_>> = parts.collect();
    if parts.iter().filter_map(|part| part.name.as_deref()).collect::<BTreeSet<_>>().len() < 2 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for part in parts {
        let missing =
            part.requires.iter().filter(|r| is_part(&r.name) && !names.contains(&*r.name));
        // Several extras may require the same part.
        let missing: BTreeSet<&str> = missing.map(|requirement| &*requirement.name).collect();
        findings.extend(missing.into_iter().map(|name| {
            let message = "a required wheel of the same split is missing";
            Finding::error(Code::UnmetRequirement, message).because(name).within(&part.file)
        }));
    }
    findings
}

/// Reports files of a host wheel for which `target` returns a target.
pub fn misplaced_members(
    host: &Package<'_>,
    target: &dyn Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let members = host.members().map(|file| &*file.member);
    let misplaced = members.filter_map(|member| Some((member, target(member)?)));
    let finding = |(member, target): (&str, String)| {
        let message = "file of an ISA in the host wheel of a split";
        Finding::error(Code::MisplacedCode, message).of(member).because(target).within(&host.file)
    };
    misplaced.map(finding).collect()
}
