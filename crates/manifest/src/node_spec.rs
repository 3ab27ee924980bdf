//! The nodes of the two KDL files as data: what the decoder goes by and people read.

use serde::Serialize;

use super::PackageKind;

/// One of the files that a manifest is.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KdlFile {
    /// Its name, `packages.kdl`.
    pub name: &'static str,
    /// What it says, in one sentence.
    pub does: &'static str,
    /// The nodes at its top, in the order in which they are best read.
    pub nodes: &'static [NodeSpec],
}

/// A node that a file or a block knows.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NodeSpec {
    /// What it is called.
    pub name: &'static str,
    /// How it is written, with everything that it can have.
    pub usage: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
    /// How often it can stand in its file or block.
    pub times: Arity,
    /// The kinds of package that it means something in; empty where it stands in no package.
    pub kinds: &'static [PackageKind],
    /// Its arguments in their order, then its properties.
    pub parts: &'static [ArgSpec],
    /// The nodes in its block; empty when it has none.
    pub nodes: &'static [NodeSpec],
    /// A whole one, as it can stand in a manifest.
    pub example: &'static str,
}

/// How often a node can stand in its file or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arity {
    /// Exactly once.
    Once,
    /// Once, or not at all.
    AtMostOnce,
    /// Once or more.
    AtLeastOnce,
    /// As often as there is something to say.
    Any,
}

/// An argument or a property of a node.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ArgSpec {
    /// What it is and whether it has to be there.
    pub takes: ArgKind,
    /// A property's name, or what stands for the argument in the usage.
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
}

/// What a decoder takes of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgKind {
    /// The next argument, which has to be there.
    Argument,
    /// The next argument, which can be absent.
    OptionalArgument,
    /// All further arguments, perhaps none.
    Arguments,
    /// All further arguments, of which there has to be one.
    OneOrMore,
    /// A property that has to be there.
    Required,
    /// A property that can be absent.
    Optional,
    /// A property that is `#true` or, when absent, false.
    Flag,
    /// A property that is a whole number of at least 1 and can be absent.
    Count,
}

impl KdlFile {
    /// Every node, each before those in its block, with the node in whose block it stands.
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
    /// Whether it is an argument, rather than a property.
    pub fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::OptionalArgument | Self::Arguments | Self::OneOrMore)
    }

    /// Whether a node without it is at fault.
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
    const EMPTY: Self = Self {
        name: "",
        usage: "",
        does: "",
        times: Arity::Any,
        kinds: &[],
        parts: &[],
        nodes: &[],
        example: "",
    };

    /// The node under another name.
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

    /// It means something in these kinds of package.
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
