//! `requires` and `requires-dist`.

use crate::Glob;
use crate::requirement::Requirement;
use crate::text::Every;
use base::names::PackageName;
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Requires another package, at the same version.
#[derive(Debug, Clone, Line)]
#[line("requires", once, example = r#"requires "core" compatible="lib/libfft*""#)]
pub struct RequireRule {
    /// The package.
    #[arg("PACKAGE", "a package", resolve)]
    pub package: Spanned<PackageName>,
    /// all: every distribution of the package. Without it, the one for the same target.
    #[prop("all")]
    pub offer: Option<Every>,
    /// Installed paths of the required package that this package's files must match. With
    /// `--since`, this package is new when one of them changes, and accepts later versions of the
    /// required one. Without it, an overlay must match the files from its own artifacts, and every
    /// other package is new when the required one is.
    #[prop("GLOB")]
    pub compatible: Option<Spanned<Glob>>,
    /// Targets.
    #[when]
    pub when: Condition,
}

impl RequireRule {
    /// Returns whether it requires every distribution of the package.
    pub fn is_of_all(&self) -> bool {
        self.offer.is_some()
    }
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
