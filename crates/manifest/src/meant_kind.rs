//! Kinds of packages by their lines.

use crate::kdl;
use crate::{NodeSpec, PackageKind};

/// So many foreign lines are one mistake, of the kind; fewer are mistakes of the lines.
const FEWEST: usize = 4;

pub(crate) fn written_kind(node: &kdl::Node) -> Option<PackageKind> {
    node.property("kind").and_then(kdl::Value::as_text)?.parse().ok()
}

/// Returns the kind that all lines fit, if several do not fit the written one.
pub(crate) fn kind_of_lines(node: &kdl::Node, words: &[NodeSpec]) -> Option<PackageKind> {
    let is_foreign = |line: &kdl::Node, kind: PackageKind| {
        words.iter().any(|word| word.name == line.name.text && !word.kinds.contains(&kind))
    };
    let lines = || node.block.iter().flatten();
    let foreign = |kind: PackageKind| lines().filter(|line| is_foreign(line, kind)).count();
    if foreign(written_kind(node)?) < FEWEST {
        return None;
    }
    let fitting = PackageKind::ALL.iter().copied().filter(|kind| foreign(*kind) == 0);
    fitting.min_by_key(|kind| *kind != PackageKind::Runtime)
}
