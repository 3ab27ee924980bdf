//! `requires` and `requires-dist`.

use crate::python::Requirement;
use crate::text::Every;
use base::names::PackageName;
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Requires another package, at the same version.
#[derive(Debug, Clone, Line)]
#[line("requires", once, example = r#"requires "core""#)]
pub struct RequireRule {
    /// The package.
    #[arg("PACKAGE", "a package", resolve)]
    pub package: Spanned<PackageName>,
    /// all: every distribution of the package. Without it, the one for the same target.
    #[prop("all", name = "offer", via = Every, present)]
    pub all: bool,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Requires packages of others, `Requires-Dist` in the metadata.
#[derive(Debug, Clone, Line)]
#[line("requires-dist", once, example = r#"requires-dist "numpy>=2" "pyyaml""#)]
pub struct RequireDistRule {
    /// A requirement (PEP 508). Packages of this manifest are required by `requires`.
    #[each("REQUIREMENT", "a requirement")]
    pub requirement: Spanned<Requirement>,
    /// Targets.
    #[when]
    pub when: Condition,
}
