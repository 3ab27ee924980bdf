//! Composes the nodes of a file: groups, includes, changes, and `optional` of lines about artifacts
//! that a build can lack.
//!
//! Works on KDL nodes before they are read. A node keeps its place in its file.

use std::collections::BTreeSet;

use super::VOCABULARY;
use super::line::{Context, Line, Scope};
use super::reader::{Block, Faults};
use super::{Arity, KdlFile, ManifestFiles, NodeSpec};
use crate::kdl;
use base::names::RelPath;
use base::source::{Problems, Source};

mod absent;
mod change;
mod group;
pub(crate) mod include;
mod remove;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use words::{CHANGE, GROUP, INCLUDE, REMOVE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// `packages.kdl`.
    Packages,
    /// `families.kdl`.
    Families,
}

impl FileKind {
    fn file(self) -> KdlFile {
        match self {
            Self::Packages => VOCABULARY[0],
            Self::Families => VOCABULARY[1],
        }
    }
}

/// Returns the nodes of the source of `faults`, composed.
///
/// # Errors
/// If the text is not KDL.
pub(super) fn file(
    faults: &Faults,
    source: &Source,
    kind: FileKind,
    files: Option<&ManifestFiles<'_>>,
) -> Result<Vec<kdl::Node>, Problems> {
    let nodes = kdl::parse(source)?;
    let mut composer = Composer { faults, source, kind, files, included_files: BTreeSet::new() };
    let nodes = composer.composed(nodes);
    Ok(match kind {
        FileKind::Packages => absent::spread(faults, source, nodes),
        FileKind::Families => nodes,
    })
}

struct Composer<'c> {
    faults: &'c Faults,
    source: &'c Source,
    kind: FileKind,
    files: Option<&'c ManifestFiles<'c>>,
    included_files: BTreeSet<String>,
}

enum Edit {
    Change(change::Change),
    Remove(remove::Removal),
}

impl Composer<'_> {
    fn composed(&mut self, nodes: Vec<kdl::Node>) -> Vec<kdl::Node> {
        let words = self.kind.file().nodes;
        let mut composed = Vec::new();
        let mut edits = Vec::new();
        let nodes = group::spread(self.faults, words, nodes);
        let declared_names = nodes.iter().filter_map(include::unique_name).collect();
        for node in nodes {
            match node.name.text.as_str() {
                "include" => composed.extend(self.included(&node, &declared_names)),
                "change" | "remove" => edits.extend(edit(self.faults, words, &node)),
                _ => composed.push(node),
            }
        }
        let owner = self.kind.file().name;
        apply(self.faults, owner, words, &mut composed, edits);
        composed
    }
}

fn edit(faults: &Faults, words: &'static [NodeSpec], node: &kdl::Node) -> Option<Edit> {
    match node.name.text.as_str() {
        "change" => change::read(faults, words, node).map(Edit::Change),
        _ => remove::read(faults, node).map(Edit::Remove),
    }
}

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

fn read_line<T: Line>(faults: &Faults, node: &kdl::Node) -> Option<T::Made> {
    let place = faults.at(&node.name.span);
    let no_file = |_: &Source, _: &RelPath| Err("includes are not allowed here".to_owned());
    let context = Context::survey(faults, &[], &[], &no_file);
    let nodes = std::slice::from_ref(node);
    let mut block = Block::new(faults, String::new(), place, const { &[T::SPEC] }, nodes);
    let scope = Scope::new(&context, None);
    block.collect(T::SPEC.name, Arity::Any, |node| T::read(node, &scope)).pop()
}

fn arguments(node: &kdl::Node) -> impl Iterator<Item = &str> {
    node.entries.iter().filter(|entry| entry.name.is_none()).filter_map(|e| e.value.as_text())
}
