//! Findings in packages that are meant.

use super::Glob;
use crate::names::PackageName;
use crate::source::{Code, Spanned};

/// `ignore "rpath-leads-nowhere" package="core" in="lib/x/**" to="**/y" reason="…" optional="…"`.
#[derive(Debug, Clone)]
pub struct IgnoreRule {
    /// What is found; one of [`Code::OF_PACKAGES`].
    pub code: Spanned<Code>,
    /// In this package only.
    pub package: Option<Spanned<PackageName>>,
    /// In these members only; the path in the wheel, or below its first directory.
    pub glob: Option<Glob>,
    /// Of rpaths that lead to these directories only; below site-packages.
    pub to: Option<Glob>,
    /// Why it is meant.
    pub reason: String,
    /// Why it is no mistake when nothing is found.
    pub optional: Option<String>,
}
