use std::collections::BTreeSet;

use super::{Finding, Package};
use base::names::TargetNames;
use base::source::Code;
use binary::device_code::{Code as DeviceCode, Reading};

/// Targets and a detector of their code.
#[derive(Debug)]
pub struct Targets {
    names: TargetNames,
    pub(super) reading: Reading,
}

impl Targets {
    /// Takes the targets declared by a manifest.
    pub fn new(names: TargetNames) -> Self {
        let reading = Reading::new(names.prefixes());
        Self { names, reading }
    }

    pub(super) fn names_one(&self, member: &str) -> bool {
        !self.names.in_path(below(member)).is_empty()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Told {
    pub member: String,
    pub code: DeviceCode,
}

/// Reports members for targets other than `target`, or for any. Content gives an error, a name only
/// a warning.
pub fn misplaced(targets: &Targets, package: &Package, target: Option<&str>) -> Vec<Finding> {
    let names = &targets.names;
    let elsewhere = |name: &str| target.is_none_or(|target| !names.belongs(name, target));
    let mut found = Vec::new();
    for Told { member, code } in &package.code {
        let of = |finding: Finding| finding.of(&**member).within(&package.file);
        let called: BTreeSet<&str> = names.in_path(below(member)).into_iter().collect();
        let mut inside: BTreeSet<String> = code.ids.iter().map(|id| (*id).clone()).collect();
        inside.extend(code.machs.iter().map(|mach| match names.of_mach(*mach) {
            Some(isa) => isa.to_owned(),
            None => format!("{mach:#x}"),
        }));
        // ISA names in a file without an ISA in its path are ordinary text.
        let texts = code.texts.iter().filter_map(|text| names.in_text(text));
        inside.extend(texts.filter(|_| !called.is_empty()).map(str::to_owned));
        let called: Vec<&str> = called.into_iter().filter(|name| elsewhere(name)).collect();
        let inside: Vec<&str> =
            inside.iter().map(String::as_str).filter(|name| elsewhere(name)).collect();
        if !inside.is_empty() {
            let what = match target {
                Some(_) => "device code for another ISA than the package",
                None => "device code for an ISA in a package for all ISAs",
            };
            let finding = Finding::error(Code::MisplacedCode, what).because(inside.join(", "));
            found.push(of(finding));
        } else if !called.is_empty() {
            let what = match target {
                Some(_) => "name of another ISA than the package",
                None => "name of an ISA in a package for all ISAs",
            };
            let finding = Finding::warning(Code::MisplacedCode, what).because(called.join(", "));
            found.push(of(finding));
        }
        if let Some(part) = code.unread {
            let what = format!("{part} cannot be read, so its ISAs are unknown");
            found.push(of(Finding::warning(Code::UnreadCode, what)));
        }
    }
    found
}

fn below(member: &str) -> &str {
    member.split_once('/').map_or("", |(_, path)| path)
}
