//! Scope of a node: its file, the kind of its package, and the names given so far.

use super::{Context, Once};
use crate::PackageKind;
use crate::reader::{Block, Node};
use base::names::PackageName;
use base::source::{Place, Spanned};
use base::target::Condition;

pub(crate) struct Scope<'c, 'a> {
    pub context: &'c Context<'a>,
    /// Kind of the package, if valid.
    pub kind: Option<PackageKind>,
    once: Once,
}

impl<'c, 'a> Scope<'c, 'a> {
    pub fn new(context: &'c Context<'a>, kind: Option<PackageKind>) -> Self {
        Self { context, kind, once: Once::default() }
    }

    /// Notes a name that may be given once in the block; returns whether it is new.
    pub fn give(&self, noun: &'static str, name: &str, when: Condition, place: &Place) -> bool {
        self.once.give(self.context.faults, (noun, name), when, place)
    }

    pub fn give_in_file(&self, noun: &'static str, name: &str, when: Condition, place: &Place) {
        self.context.give(noun, name, when, place);
    }

    pub fn resolve(&self, name: &Spanned<PackageName>, kind: Option<PackageKind>) {
        self.context.resolve(name, kind);
    }
}

/// Returns the block of a node with a scope of its own: its names count in it alone.
pub(crate) fn inner<'c, 'a>(
    node: &mut Node<'a>,
    scope: &Scope<'c, 'a>,
) -> (Scope<'c, 'a>, Block<'a>) {
    (Scope::new(scope.context, scope.kind), node.block())
}
