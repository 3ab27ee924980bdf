//! Rules over a set. Each runs for every command that can know the facts it asks for.

use base::source::{Code, Severity};
use rayon::prelude::*;

use crate::{Command, Fact, Finding, Level, Rule, Set, level};

pub mod code;
mod content;
mod dlls;
mod extensions;
pub(crate) mod libraries;
mod modes;
pub(crate) mod names;
pub mod owners;
mod places;
mod platform;
mod requirements;
mod rpaths;
pub(crate) mod stable_abi;
pub(crate) mod stacks;
pub(crate) mod symbols;

/// All rules, in the order of their findings.
pub const RULES: &[Rule] = &[
    Rule {
        name: "places",
        codes: &[Code::UnsafeName, Code::MemberTwice, Code::FileAndDirectory],
        asks: &[Fact::Paths],
        run: places::check,
    },
    Rule { name: "names", codes: &[Code::UnsafeName], asks: &[Fact::Paths], run: names::check },
    Rule {
        name: "lookalikes",
        codes: &[Code::CaseClash, Code::FileAndDirectory],
        asks: &[Fact::Paths],
        run: owners::within,
    },
    Rule { name: "modes", codes: &[Code::MemberMode], asks: &[Fact::Modes], run: modes::check },
    Rule {
        name: "programs",
        codes: &[Code::NotExecutable],
        asks: &[Fact::Modes, Fact::Binaries],
        run: modes::programs,
    },
    Rule {
        name: "scripts",
        codes: &[Code::NotExecutable],
        asks: &[Fact::Modes, Fact::Content],
        run: modes::scripts,
    },
    Rule {
        name: "content",
        codes: &[Code::BrokenElf, Code::BrokenPe],
        asks: &[Fact::Content],
        run: content::check,
    },
    Rule {
        name: "loaders",
        codes: &[Code::UnusualLoader],
        asks: &[Fact::Binaries],
        run: platform::loaders,
    },
    Rule {
        name: "machines",
        codes: &[Code::WrongPlatform],
        asks: &[Fact::Binaries, Fact::Tags],
        run: platform::machines,
    },
    Rule {
        name: "tags",
        codes: &[Code::TagContradicted],
        asks: &[Fact::Binaries, Fact::Tags],
        run: platform::tags,
    },
    Rule {
        name: "extensions",
        codes: &[Code::ForeignExtension],
        asks: &[Fact::Paths, Fact::Tags],
        run: extensions::check,
    },
    Rule {
        name: "owners",
        codes: &[Code::TwoOwners, Code::CaseClash, Code::FileAndDirectory],
        asks: &[Fact::Paths, Fact::Others],
        run: owners::check,
    },
    Rule {
        name: "libraries",
        codes: &[Code::LibraryNotFound],
        asks: &[Fact::Binaries],
        run: libraries::check,
    },
    Rule {
        name: "rpaths",
        codes: &[Code::RpathOutside, Code::RpathLeadsNowhere, Code::Runpath],
        asks: &[Fact::Binaries],
        run: rpaths::check,
    },
    Rule {
        name: "symbols",
        codes: &[Code::UnresolvedSymbol],
        asks: &[Fact::Symbols],
        run: symbols::check,
    },
    Rule {
        name: "dlls",
        codes: &[Code::ImportLeadsNowhere, Code::ForeignExtension, Code::UnresolvedSymbol],
        asks: &[Fact::Binaries, Fact::Others],
        run: dlls::check,
    },
    Rule {
        name: "stacks",
        codes: &[Code::ExecutableStack],
        asks: &[Fact::Binaries],
        run: stacks::check,
    },
    Rule {
        name: "stable-abi",
        codes: &[Code::StableAbi],
        asks: &[Fact::Symbols, Fact::Tags],
        run: stable_abi::check,
    },
    Rule {
        name: "requirements",
        codes: &[Code::UnmetRequirement, Code::UnmetExtra],
        asks: &[Fact::Requirements],
        run: requirements::check,
    },
    Rule {
        name: "device-code",
        codes: &[Code::MisplacedCode, Code::UnreadCode],
        asks: &[Fact::DeviceCode, Fact::Targets],
        run: code::check,
    },
];

/// Judges a set for a command: faults of reading first, by package, then all rules.
pub fn judge(set: &Set<'_>, command: Command) -> Vec<Finding> {
    let faults = set.packages.iter().flat_map(|package| package.faults.iter().cloned());
    rank(faults, command).chain(judge_by(set, command, |_| true)).collect()
}

/// Judges a set for a command by some rules, side by side: no rule sees findings of another.
pub(crate) fn judge_by(
    set: &Set<'_>,
    command: Command,
    is_selected: impl Fn(&Rule) -> bool,
) -> impl Iterator<Item = Finding> {
    let rules = RULES.iter().filter(|rule| command.runs(rule) && is_selected(rule));
    let rules: Vec<&Rule> = rules.collect();
    let findings: Vec<Vec<Finding>> = rules.into_par_iter().map(|rule| (rule.run)(set)).collect();
    rank(findings.into_iter().flatten(), command)
}

/// Gives findings the severity that a command has for their codes; drops those it does not judge.
pub fn rank(
    findings: impl IntoIterator<Item = Finding>,
    command: Command,
) -> impl Iterator<Item = Finding> {
    findings.into_iter().filter_map(move |finding| match level(finding.code, command) {
        Level::Error => Some(finding),
        Level::Warning => Some(Finding { severity: Severity::Warning, ..finding }),
        Level::Off(_) => None,
    })
}

#[cfg(test)]
mod tests;
