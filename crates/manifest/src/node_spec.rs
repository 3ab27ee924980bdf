//! Specifications of nodes: readers follow them, and `rockpack help manifest` prints them.

use serde::Serialize;

use super::PackageKind;

/// One of the two files of a manifest.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KdlFile {
    /// Its name, `packages.kdl`.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub does: &'static str,
    /// The nodes at its top, in reading order.
    pub nodes: &'static [NodeSpec],
}

/// A node of a file or a block.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NodeSpec {
    /// Its name.
    pub name: &'static str,
    /// Its syntax with every part.
    pub usage: &'static str,
    /// Its effect, in one sentence.
    pub does: &'static str,
    /// Its number in a file or block.
    pub times: Arity,
    /// The kinds of package that can have it; empty outside of packages.
    pub kinds: &'static [PackageKind],
    /// Its arguments in their order, then its properties.
    pub parts: &'static [ArgSpec],
    /// The nodes in its block.
    pub nodes: &'static [NodeSpec],
    /// An example that a manifest can have.
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

/// An argument or a property of a node.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ArgSpec {
    /// Its kind, and whether it is required.
    pub takes: ArgKind,
    /// A property's name, or the argument's word in the usage.
    pub name: &'static str,
    /// Its meaning.
    pub says: &'static str,
}

/// Kind of an argument or a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgKind {
    /// The next argument, required.
    Argument,
    /// The next argument, optional.
    OptionalArgument,
    /// All further arguments, perhaps none.
    Arguments,
    /// All further arguments, at least one.
    OneOrMore,
    /// A required property.
    Required,
    /// An optional property.
    Optional,
    /// A property that is `#true` or, when absent, false.
    Flag,
    /// An optional property: a whole number of at least 1.
    Count,
}

impl KdlFile {
    /// Returns every node, each before the nodes in its block, with the owner of its block.
    pub fn words(&self) -> Vec<(Option<&'static str>, &'static NodeSpec)> {
        fn below(
            owner: Option<&'static str>,
            words: &'static [NodeSpec],
            all: &mut Vec<(Option<&'static str>, &'static NodeSpec)>,
        ) {
            for word in words {
                all.push((owner, word));
                below(Some(word.name), word.nodes, all);
            }
        }
        let mut all = Vec::new();
        below(None, self.nodes, &mut all);
        all
    }
}

impl ArgKind {
    /// Returns whether it is an argument.
    pub(crate) fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::OptionalArgument | Self::Arguments | Self::OneOrMore)
    }

    /// Returns whether a node without it is at fault.
    pub fn is_required(self) -> bool {
        matches!(self, Self::Argument | Self::OneOrMore | Self::Required)
    }
}

/// Condition of a line: a mode.
pub(super) const MODE: ArgSpec = ArgSpec {
    takes: ArgKind::Optional,
    name: "mode",
    says: "Counts in this mode only: kpack or legacy.",
};

/// Condition of a line: a system.
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

    /// Returns the node under another name.
    pub(super) const fn named(
        self,
        name: &'static str,
        usage: &'static str,
        does: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, usage, does, example, ..self }
    }

    /// Limits how often it can be in its block.
    pub(super) const fn times(self, times: Arity) -> Self {
        Self { times, ..self }
    }

    /// Limits it to these kinds of package.
    pub(super) const fn of(self, kinds: &'static [PackageKind]) -> Self {
        Self { kinds, ..self }
    }
}

/// Returns the number of nodes in all lists.
pub(super) const fn count(lists: &[&[NodeSpec]]) -> usize {
    let (mut at, mut all) = (0, 0);
    while at < lists.len() {
        all += lists[at].len();
        at += 1;
    }
    all
}

/// Joins lists of nodes.
pub(super) const fn joined<const N: usize>(lists: &[&[NodeSpec]]) -> [NodeSpec; N] {
    let mut all = [NodeSpec::EMPTY; N];
    let (mut list, mut at, mut next) = (0, 0, 0);
    while list < lists.len() {
        if at == lists[list].len() {
            (list, at) = (list + 1, 0);
        } else {
            all[next] = lists[list][at];
            (at, next) = (at + 1, next + 1);
        }
    }
    all
}

/// Returns the nodes for every kind of package.
pub(super) const fn of_all<const N: usize>(nodes: &[NodeSpec]) -> [NodeSpec; N] {
    let mut all = [NodeSpec::EMPTY; N];
    let mut at = 0;
    while at < N {
        all[at] = nodes[at].of(PackageKind::ALL);
        at += 1;
    }
    all
}
