//! `forbid "bin/tool-*" reason="…"`: paths that an artifact must not bring into a package.

use super::{Glob, HasGlob};
use crate::names::Mode;
use crate::source::Spanned;

/// Paths that a package must not take; where its rules take one, there is no plan.
#[derive(Debug, Clone)]
pub struct ForbidRule {
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// Why they do not belong there.
    pub reason: String,
    /// Counts in this mode only.
    pub mode: Option<Mode>,
}

impl HasGlob for ForbidRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}
