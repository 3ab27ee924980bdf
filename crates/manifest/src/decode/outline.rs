//! What a package says of others, for the checks of several packages together.

use crate::{Distribution, Extra, IndexRule, PackageKind, VariantRule, built_for};
use base::names::{ArtifactName, PackageName, RelPath};
use base::source::Spanned;
use base::target::{Condition, Target};

/// What a package says of others. It is kept of every package that has a name, so that a
/// mistake elsewhere in the package does not hide one between packages.
#[derive(Debug)]
pub(super) struct Outline {
    pub name: Spanned<PackageName>,
    pub when: Condition,
    /// Its kind; where it says none, the one that its lines are of.
    pub kind: Option<PackageKind>,
    /// What it does not say of `kind`, and of the lines that every package has.
    pub missing: Vec<&'static str>,
    pub license: Option<String>,
    pub distributions: Vec<Distribution>,
    /// Whether there are `distribution` lines and every one was decoded.
    pub whole: bool,
    pub overlay: Option<Spanned<PackageName>>,
    pub requires: Vec<Spanned<PackageName>>,
    /// The same with what its indexes require.
    pub requires_anywhere: Vec<Spanned<PackageName>>,
    /// Packages among them of which every distribution is required.
    pub requires_all: Vec<PackageName>,
    pub extras: Vec<Extra>,
    pub indexes: Vec<IndexRule>,
    pub variant: Option<VariantRule>,
    /// Packages in whose platform directories something is looked for.
    pub searched: Vec<Spanned<PackageName>>,
    pub template: Option<Spanned<RelPath>>,
    pub artifacts: Vec<ArtifactName>,
    /// Those among them that have to be there.
    pub needed: Vec<ArtifactName>,
    /// Whether every `artifact` line was decoded.
    pub all_artifacts: bool,
    pub artifacts_of: Vec<Spanned<PackageName>>,
    pub every_target_of: Vec<Spanned<ArtifactName>>,
    pub without_artifacts: Vec<Spanned<ArtifactName>>,
}

impl Outline {
    pub fn built_for(&self, target: Target) -> Option<&Distribution> {
        built_for(&self.distributions, self.when, target)
    }

    pub fn is_built(&self, target: Target) -> bool {
        self.built_for(target).is_some()
    }
}
