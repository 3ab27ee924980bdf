//! The package whose lines are decoded.

use super::{Context, FromText, Node, Once};
use crate::PackageKind;
use base::names::ArtifactName;
use base::source::{Place, Spanned};
use base::target::Condition;

/// What the decoders of one package's lines share.
pub(super) struct Scope<'c, 'a> {
    pub context: &'c Context<'a>,
    /// The package's kind, when it has a valid one.
    pub kind: Option<PackageKind>,
    once: Once,
}

impl<'c, 'a> Scope<'c, 'a> {
    pub fn new(context: &'c Context<'a>, kind: Option<PackageKind>) -> Self {
        Self { context, kind, once: Once::default() }
    }

    /// Notes what may be given once in the package.
    pub fn give(&self, what: &'static str, name: &str, when: Condition, place: &Place) -> bool {
        self.once.give(self.context.faults, (what, name), when, place)
    }

    /// Reads one argument that may be given once in the package.
    pub fn name_once<T: FromText + ToString>(
        &self,
        node: &mut Node<'_>,
        line: &'static str,
        what: &str,
    ) -> Option<Spanned<T>> {
        let name = node.argument::<T>(what)?;
        self.give(line, &name.value.to_string(), Condition::default(), &name.place);
        Some(name)
    }

    /// Artifacts of which a devel package takes what they have for single targets.
    pub fn every_target_of(&self, node: &mut Node<'_>) -> Vec<Spanned<ArtifactName>> {
        let names = node.at_least_one::<ArtifactName>("an artifact");
        for name in &names {
            self.give("every-target-of", name.as_str(), Condition::default(), &name.place);
        }
        names
    }
}
