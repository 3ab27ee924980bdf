use std::collections::BTreeSet;

use base::source::Code;
use binary::device_code::Code as DeviceCode;

use crate::{Finding, Package, Set, Targets};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let Some(targets) = set.targets else { return Vec::new() };
    let targeted = set.packages.iter().filter_map(|package| Some((package, package.target.get()?)));
    targeted.flat_map(|(package, target)| misplaced(targets, package, target.as_deref())).collect()
}

/// Reports members for targets other than `target`, or for any. Content gives an error, a name only a warning.
pub fn misplaced(targets: &Targets, package: &Package<'_>, target: Option<&str>) -> Vec<Finding> {
    let names = targets.names();
    let elsewhere = |name: &str| target.is_none_or(|target| !names.belongs(name, target));
    let empty = DeviceCode::default();
    let mut findings = Vec::new();
    for file in &package.files {
        let member = &*file.member;
        let Some(code) = file.code.get() else { continue };
        let code = code.as_deref().unwrap_or(&empty);
        if code.is_empty() && !targets.names_one(member) {
            continue;
        }
        let located = |finding: Finding| finding.of(member).within(&package.file);
        let path_names: BTreeSet<&str> = targets.in_path(member).into_iter().collect();
        let mut inside: BTreeSet<String> = code.ids.iter().map(|id| (*id).clone()).collect();
        inside.extend(code.machs.iter().map(|mach| match names.of_mach(*mach) {
            Some(isa) => isa.to_owned(),
            None => format!("{mach:#x}"),
        }));
        // ISA names in a file without an ISA in its path are ordinary text.
        let texts = code.texts.iter().filter_map(|text| names.in_text(text));
        inside.extend(texts.filter(|_| !path_names.is_empty()).map(str::to_owned));
        let path_names: Vec<&str> = path_names.into_iter().filter(|name| elsewhere(name)).collect();
        let inside: Vec<&str> =
            inside.iter().map(String::as_str).filter(|name| elsewhere(name)).collect();
        if !inside.is_empty() {
            let message = match target {
                Some(_) => "device code for another ISA than the package",
                None => "device code for an ISA in a package for all ISAs",
            };
            let finding = Finding::error(Code::MisplacedCode, message).because(inside.join(", "));
            findings.push(located(finding));
        } else if !path_names.is_empty() {
            let message = match target {
                Some(_) => "name of another ISA than the package",
                None => "name of an ISA in a package for all ISAs",
            };
            let finding =
                Finding::warning(Code::MisplacedCode, message).because(path_names.join(", "));
            findings.push(located(finding));
        }
        if let Some(part) = code.unread {
            let message = format!("{part} cannot be read, so its ISAs are unknown");
            findings.push(located(Finding::warning(Code::UnreadCode, message)));
        }
    }
    findings
}
