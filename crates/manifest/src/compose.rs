//! From the text of a file to the nodes that are decoded: groups are spread over their lines,
//! included files are put in place, the changes that the file makes to them are carried out, and lines about
//! artifacts that a build can lack become optional.
//!
//! All of it is done to KDL nodes, before anything is decoded, so that decoders know nothing of
//! it. A node keeps the place in the file that it was written in.

use std::collections::BTreeSet;

use super::decode::VOCABULARY;
use super::reader::{Block, Faults, Node};
use super::{Beside, KdlFile, NodeSpec};
use crate::kdl;
use base::source::{Problems, Source};

mod absent;
mod change;
mod group;
mod include;
mod remove;
#[cfg(test)]
mod tests;

/// Which of a manifest's two files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// `packages.kdl`.
    Packages,
    /// `families.kdl`.
    Families,
}

impl Which {
    fn file(self) -> KdlFile {
        match self {
            Self::Packages => VOCABULARY[0],
            Self::Families => VOCABULARY[1],
        }
    }
}

/// The nodes of the source that `faults` is about. Mistakes in includes and changes are reported there.
///
/// # Errors
/// When the text is not KDL.
pub(super) fn file(
    faults: &Faults,
    source: &Source,
    which: Which,
    beside: Option<&Beside<'_>>,
) -> Result<Vec<kdl::Node>, Problems> {
    let nodes = kdl::parse(source)?;
    let mut composer = Composer { faults, source, which, beside, taken: BTreeSet::new() };
    let nodes = composer.composed(nodes);
    Ok(match which {
        Which::Packages => absent::spread(faults, source, nodes),
        Which::Families => nodes,
    })
}

struct Composer<'c> {
    faults: &'c Faults,
    /// The file that was asked for: what it includes is beside it.
    source: &'c Source,
    which: Which,
    beside: Option<&'c Beside<'c>>,
    /// What was included, each once.
    taken: BTreeSet<String>,
}

/// What a line that is about other lines asks for, in the order of the file.
enum Edit {
    Change(change::Change),
    Remove(remove::Removal),
}

impl Composer<'_> {
    fn composed(&mut self, nodes: Vec<kdl::Node>) -> Vec<kdl::Node> {
        let words = self.which.file().nodes;
        let mut composed = Vec::new();
        let mut edits = Vec::new();
        for node in group::spread(self.faults, words, nodes) {
            match node.name.text.as_str() {
                "include" => composed.extend(self.included(&node)),
                "change" | "remove" => edits.extend(edit(self.faults, words, &node)),
                _ => composed.push(node),
            }
        }
        let owner = self.which.file().name;
        apply(self.faults, owner, words, &mut composed, edits);
        composed
    }
}

/// Reads `change` or `remove`, where `words` can stand.
fn edit(faults: &Faults, words: &'static [NodeSpec], node: &kdl::Node) -> Option<Edit> {
    match node.name.text.as_str() {
        "change" => change::read(faults, words, node).map(Edit::Change),
        _ => remove::read(faults, node).map(Edit::Remove),
    }
}

/// Carries out edits of the nodes of `owner`, in their order.
fn apply(
    faults: &Faults,
    owner: &str,
    words: &'static [NodeSpec],
    nodes: &mut Vec<kdl::Node>,
    edits: Vec<Edit>,
) {
    for edit in edits {
        match edit {
            Edit::Change(change) => change.apply(faults, owner, words, nodes),
            Edit::Remove(removal) => removal.apply(faults, owner, words, nodes),
        }
    }
}

/// Reads one line with the reader that all lines are read with, so that its mistakes look alike.
fn one<T>(
    faults: &Faults,
    node: &kdl::Node,
    spec: &'static NodeSpec,
    read: impl FnMut(&mut Node<'_>) -> Option<T>,
) -> Option<T> {
    let place = faults.at(&node.name.span);
    let mut block = Block::new(
        faults,
        String::new(),
        place,
        std::slice::from_ref(spec),
        std::slice::from_ref(node),
    );
    block.every(spec.name, read).pop()
}

/// The texts of a node's arguments; others stand for nothing that a line can be found by.
fn arguments(node: &kdl::Node) -> impl Iterator<Item = &str> {
    node.entries.iter().filter(|entry| entry.name.is_none()).filter_map(|e| e.value.as_text())
}
