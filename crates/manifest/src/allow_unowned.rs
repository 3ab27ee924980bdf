//! `allow-unowned "lib/new/**" reason="…"`: files that may be in no package for now.

use super::{Glob, HasGlob};
use base::names::{ArtifactName, Component};
use base::source::Spanned;
use base::target::Condition;

/// Files that no package takes and no rule drops, and that do not stop a plan.
#[derive(Debug, Clone)]
pub struct AllowUnownedRule {
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// Of this artifact only.
    pub artifact: Option<ArtifactName>,
    /// Of this component only.
    pub component: Option<Component>,
    /// Where it counts.
    pub when: Condition,
    /// Why it is left open.
    pub reason: String,
    /// Why it is no mistake when no such file is there.
    pub optional: Option<String>,
}

impl HasGlob for AllowUnownedRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}
