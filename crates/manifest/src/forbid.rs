//! `forbid "bin/tool-*" reason="…"`: paths that an artifact must not bring into a package.

use super::{Glob, HasGlob};

use base::source::Spanned;
use base::target::Condition;

/// Paths that a package must not take; where its rules take one, there is no plan.
#[derive(Debug, Clone)]
pub struct ForbidRule {
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// Why they do not belong there.
    pub reason: String,
    /// Where it counts.
    pub when: Condition,
}

impl HasGlob for ForbidRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}
