//! The ledger: differences between two sets of packages, each with the reason why it is accepted.

use super::{Glob, NodeSpec};
use crate::kdl;
use crate::line::{Context, Lines as _, Scope};
use crate::reader::{Block, Faults};
use crate::text::choice;
use base::names::RelPath;
use base::source::{Problems, Source, Spanned};
use manifest_derive::Line;

/// Kind of a difference, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerClass {
    /// A package of one side only.
    Package,
    /// A file of the old side only.
    OnlyTheirs,
    /// A file with other content or another execute bit.
    Different,
    /// A command.
    Command,
    /// An extra.
    Extra,
    /// Requirements of one project.
    Requirement,
    /// A tag.
    Tag,
    /// A link of a devel archive: another target, or a file on one side.
    Link,
    /// The same bytes at another path, or in another package.
    Moved,
    /// The same program or library with another search path.
    Rpath,
    /// A file of the new side only.
    OnlyOurs,
    /// A field of the metadata.
    Metadata,
}

choice!(
    LedgerClass,
    "a class of differences",
    "package" => Package,
    "only-theirs" => OnlyTheirs,
    "different" => Different,
    "command" => Command,
    "extra" => Extra,
    "requirement" => Requirement,
    "tag" => Tag,
    "link" => Link,
    "moved" => Moved,
    "rpath" => Rpath,
    "only-ours" => OnlyOurs,
    "metadata" => Metadata
);

impl LedgerClass {
    /// Returns the word in the ledger.
    pub fn as_str(self) -> &'static str {
        let words = <Self as crate::text::Choice>::WORDS;
        words.iter().find(|(_, class)| *class == self).map_or("", |(word, _)| word)
    }
}

/// Accepts differences of a class between two sets of packages.
#[derive(Debug, Clone, Line)]
#[line(
    "accept",
    usage = r#"accept "CLASS" "GLOB" package="NAME" reason="WHY" optional="WHY""#,
    example = r#"accept "only-ours" "lib/lib*.so" package="example-core" reason="programs load these names""#
)]
pub struct AcceptRule {
    /// Class: package, only-theirs, only-ours, different, moved, rpath or link; of facts command,
    /// extra, requirement, tag or metadata.
    #[arg("CLASS", "a class")]
    pub class: Spanned<LedgerClass>,
    /// Paths in the package, or below its first directory; of facts, names.
    #[arg("GLOB", "a path or a name", many)]
    pub globs: Vec<Spanned<Glob>>,
    /// Of this distribution only, or a glob over distributions, in an index's normal form (PEP 503).
    #[prop("NAME")]
    pub package: Option<Spanned<Glob>>,
    /// Reason why the difference is right.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why there may be no such difference; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}

impl AcceptRule {
    /// Returns whether it accepts a difference at a path, or of a name.
    pub fn accepts(&self, class: LedgerClass, package: &str, name: &str) -> bool {
        let below = name.split_once('/').map(|(_, below)| below);
        let accepts_name = |glob: &Spanned<Glob>| {
            matches(glob, name) || below.is_some_and(|path| matches(glob, path))
        };
        self.class.value == class
            && self.package.as_ref().is_none_or(|glob| matches(glob, package))
            && self.globs.iter().any(accepts_name)
    }
}

fn matches(glob: &Glob, name: &str) -> bool {
    name.parse::<RelPath>().is_ok_and(|path| glob.matches(&path))
}

/// Nodes of a ledger.
pub(crate) const NODES: &[NodeSpec] = LedgerLines::NODES;

#[derive(Line)]
struct LedgerLines {
    #[child]
    rules: Vec<AcceptRule>,
}

/// Reads a ledger: `accept` lines.
///
/// # Errors
/// All mistakes with their places.
pub fn ledger(source: &Source) -> Result<Vec<AcceptRule>, Problems> {
    let nodes = kdl::parse(source)?;
    let faults = Faults::new(source);
    let rules = file(&faults, &nodes);
    let problems = faults.into_problems();
    match rules {
        Some(rules) if problems.is_empty() => Ok(rules),
        _ => Err(problems),
    }
}

pub(crate) fn file(faults: &Faults, nodes: &[kdl::Node]) -> Option<Vec<AcceptRule>> {
    let no_files = |_: &Source, _: &RelPath| Err("includes are not allowed here".to_owned());
    let context = Context::survey(faults, NODES, nodes, &no_files);
    let mut block = Block::of_file(faults, NODES, nodes);
    let lines = LedgerLines::take(&mut block, &Scope::new(&context, None));
    block.finish();
    lines.map(|lines| lines.rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<AcceptRule>, String> {
        ledger(&Source::new("parity.kdl", text)).map_err(|problems| format!("{problems:?}"))
    }

    #[test]
    fn accepts_paths_in_a_package_and_below_its_directory() {
        let text = r#"accept "only-ours" "lib/*.so" "_core/bin/x" package="a-*" reason="new""#;
        let rules = read(text).unwrap();
        let accepts = |class, package: &str, path: &str| rules[0].accepts(class, package, path);
        assert!(accepts(LedgerClass::OnlyOurs, "a-b", "_core/lib/x.so"));
        assert!(accepts(LedgerClass::OnlyOurs, "a-b", "_core/bin/x"));
        assert!(!accepts(LedgerClass::OnlyOurs, "b", "_core/lib/x.so"));
        assert!(!accepts(LedgerClass::OnlyTheirs, "a-b", "_core/lib/x.so"));
        assert!(!accepts(LedgerClass::OnlyOurs, "a-b", "_core/lib/deep/x.so"));
    }

    #[test]
    fn refuses_unknown_classes_and_lines_without_reason() {
        let class = read(r#"accept "only-hours" "x" reason="typo""#).unwrap_err();
        assert!(class.contains("did you mean `only-ours`?"), "{class}");
        let reason = read(r#"accept "moved" "x""#).unwrap_err();
        assert!(reason.contains("reason"), "{reason}");
        let node = read(r#"acept "moved" "x" reason="typo""#).unwrap_err();
        assert!(node.contains("did you mean `accept`?"), "{node}");
    }
}
