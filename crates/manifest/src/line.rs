//! Types that are lines of a manifest: each has its specification and reads itself.

use crate::NodeSpec;
use crate::reader::{Block, Node};
use base::target::Target;

mod context;
mod once;
mod scope;
#[cfg(test)]
mod tests;

pub(crate) use context::Context;
pub(crate) use once::Once;
pub(crate) use scope::{Scope, inner};

/// A type that a node becomes. `#[derive(Line)]` implements it.
pub(crate) trait Line: Sized {
    /// The type itself unless it is a line alone.
    type Made;

    const SPEC: NodeSpec;

    /// Reads a node, which can have several values. Every part is read before one of them fails.
    fn read<'a>(node: &mut Node<'a>, scope: &Scope<'_, 'a>) -> Option<Vec<Self::Made>>;
}

/// Nodes that share a block with others. `#[derive(Line)]` implements it for structs without a
/// name.
pub(crate) trait Lines: Sized {
    const NODES: &'static [NodeSpec];

    fn take<'a>(lines: &mut Block<'a>, scope: &Scope<'_, 'a>) -> Option<Self>;
}

/// Lines that can be reduced to one target. `#[derive(Line)]` implements it.
pub(crate) trait Keep {
    /// Removes lines in the block that do not count for `target`; returns whether the line itself counts.
    fn keep(&mut self, target: Target) -> bool;
}
