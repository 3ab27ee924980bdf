//! Device code in the wrong package: by what members are called, and by what is in them.

use std::collections::BTreeSet;

use super::{Finding, Package};
use base::names::TargetNames;
use base::source::Code;
use binary::device_code::{Code as DeviceCode, Reading};

/// What is needed to tell for which ISAs code is.
#[derive(Debug)]
pub struct Targets {
    /// The targets there are.
    names: TargetNames,
    pub(super) reading: Reading,
}

impl Targets {
    /// By the targets that a manifest declares.
    pub fn new(names: TargetNames) -> Self {
        let reading = Reading::new(names.prefixes());
        Self { names, reading }
    }

    /// Whether a member's path names a target: what is in it has to be of that target too.
    pub(super) fn names_one(&self, member: &str) -> bool {
        !self.names.in_path(below(member)).is_empty()
    }
}

/// A member that tells something of device code.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub member: String,
    pub code: DeviceCode,
}

/// What is in a package for a target (for none in particular without one) and belongs elsewhere.
///
/// A name is doubtful, what is inside is certain: the first is a warning, the second an error.
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
        // A text in a file that is called by no ISA is a text.
        let texts = code.texts.iter().filter_map(|text| names.in_text(text));
        inside.extend(texts.filter(|_| !called.is_empty()).map(str::to_owned));
        let called: Vec<&str> = called.into_iter().filter(|name| elsewhere(name)).collect();
        let inside: Vec<&str> =
            inside.iter().map(String::as_str).filter(|name| elsewhere(name)).collect();
        if !inside.is_empty() {
            let what = match target {
                Some(_) => "has code for another ISA than the package",
                None => "has code for an ISA, and the package is for none in particular",
            };
            let finding = Finding::error(Code::MisplacedCode, what).because(inside.join(", "));
            found.push(of(finding));
        } else if !called.is_empty() {
            let what = match target {
                Some(_) => "is called by another ISA than the package",
                None => "is called by an ISA, and the package is for none in particular",
            };
            let finding = Finding::warning(Code::MisplacedCode, what).because(called.join(", "));
            found.push(of(finding));
        }
        if let Some(part) = code.unread {
            let what = format!("{part} cannot be read, so that nobody knows for which ISAs it is");
            found.push(of(Finding::warning(Code::UnreadCode, what)));
        }
    }
    found
}

/// A member's path below the package's first directory, whose name can tell the package's target.
fn below(member: &str) -> &str {
    member.split_once('/').map_or("", |(_, path)| path)
}
