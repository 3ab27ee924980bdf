//! Specifications of nodes: readers follow them, and `rockpack help manifest` prints them.

use serde::Serialize;

use super::PackageKind;

/// A file of a manifest.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KdlFile {
    /// Name, `packages.kdl`.
    pub name: &'static str,
    /// Purpose.
    pub does: &'static str,
    /// Nodes in reading order.
    pub nodes: &'static [NodeSpec],
}

/// Node of a file or a block.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NodeSpec {
    /// Name.
    pub name: &'static str,
    /// Syntax with every part.
    pub usage: &'static str,
    /// Effect.
    pub does: &'static str,
    /// Number in a file or block.
    pub times: Arity,
    /// Kinds of package; empty outside of packages.
    pub kinds: &'static [PackageKind],
    /// Arguments in order, then properties.
    pub parts: &'static [ArgSpec],
    /// Nodes in its block.
    pub nodes: &'static [NodeSpec],
    /// Example.
    pub example: &'static str,
}

/// Number of nodes of one name in a file or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arity {
    /// Exactly once.
    Once,
    /// Once, or not at all.
    AtMostOnce,
    /// Once or more.
    AtLeastOnce,
    /// Any number.
    Any,
}

/// Argument or property of a node.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ArgSpec {
    /// Kind, and whether it is required.
    pub takes: ArgKind,
    /// Name of a property, or the argument's word in the usage.
    pub name: &'static str,
    /// Meaning.
    pub says: &'static str,
}

/// Kind of an argument or a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgKind {
    /// Next argument.
    Argument,
    /// Next argument, optional.
    OptionalArgument,
    /// All further arguments, perhaps none.
    Arguments,
    /// All further arguments, at least one.
    OneOrMore,
    /// Required property.
    Required,
    /// Optional property.
    Optional,
    /// Property that defaults to false.
    Flag,
    /// Optional whole number of at least 1.
    Count,
}

impl KdlFile {
    /// Returns every node before the nodes in its block, with the block's owner.
    pub fn words(&self) -> Vec<(Option<&'static str>, &'static NodeSpec)> {
        fn below(
            owner: Option<&'static str>,
            words: &'static [NodeSpec],
            pairs: &mut Vec<(Option<&'static str>, &'static NodeSpec)>,
        ) {
            for word in words {
                pairs.push((owner, word));
                below(Some(word.name), word.nodes, pairs);
            }
        }
        let mut pairs = Vec::new();
        below(None, self.nodes, &mut pairs);
        pairs
    }
}

impl ArgKind {
    pub(crate) fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::OptionalArgument | Self::Arguments | Self::OneOrMore)
    }

    /// Returns whether nodes require it.
    pub fn is_required(self) -> bool {
        matches!(self, Self::Argument | Self::OneOrMore | Self::Required)
    }
}

pub(super) const MODE: ArgSpec = ArgSpec {
    takes: ArgKind::Optional,
    name: "mode",
    says: "Counts in this mode only: kpack or legacy.",
};

pub(super) const ON: ArgSpec = ArgSpec {
    takes: ArgKind::Optional,
    name: "on",
    says: "Counts on this system only: linux or windows.",
};

impl NodeSpec {
    pub(super) const EMPTY: Self = Self {
        name: "",
        usage: "",
        does: "",
        times: Arity::Any,
        kinds: &[],
        parts: &[],
        nodes: &[],
        example: "",
    };

    pub(super) const fn named(
        self,
        name: &'static str,
        usage: &'static str,
        does: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, usage, does, example, ..self }
    }

    pub(super) const fn times(self, times: Arity) -> Self {
        Self { times, ..self }
    }

    pub(super) const fn for_kinds(self, kinds: &'static [PackageKind]) -> Self {
        Self { kinds, ..self }
    }
}

pub(super) const fn count(lists: &[&[NodeSpec]]) -> usize {
    let (mut index, mut total) = (0, 0);
    while index < lists.len() {
        total += lists[index].len();
        index += 1;
    }
    total
}

pub(super) const fn joined<const N: usize>(lists: &[&[NodeSpec]]) -> [NodeSpec; N] {
    let mut nodes = [NodeSpec::EMPTY; N];
    let (mut list, mut index, mut next) = (0, 0, 0);
    while list < lists.len() {
        if index == lists[list].len() {
            (list, index) = (list + 1, 0);
        } else {
            nodes[next] = lists[list][index];
            (index, next) = (index + 1, next + 1);
        }
    }
    nodes
}

pub(super) const fn of_all<const N: usize>(nodes: &[NodeSpec]) -> [NodeSpec; N] {
    let mut specs = [NodeSpec::EMPTY; N];
    let mut index = 0;
    while index < N {
        specs[index] = nodes[index].for_kinds(PackageKind::ALL);
        index += 1;
    }
    specs
}
