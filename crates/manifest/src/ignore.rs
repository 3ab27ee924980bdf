//! Findings in packages, and warnings of plans, that are expected.

use super::Glob;
use base::names::{PackageName, RelPath};
use base::source::{Code, Spanned};

/// `ignore "rpath-leads-nowhere" package="core" in="lib/x/**" to="**/y" reason="…" optional="…"`.
#[derive(Debug, Clone)]
pub struct IgnoreRule {
    /// What is found; one of [`Code::OF_PACKAGES`] or [`Code::OF_PLANS`].
    pub code: Spanned<Code>,
    /// In this package only.
    pub package: Option<Spanned<PackageName>>,
    /// In these members only; the path in the wheel, or below its first directory. Of a plan's
    /// warnings, of these files only: paths below the platform directory.
    pub glob: Option<Glob>,
    /// Of rpaths that lead to these directories only; below site-packages.
    pub to: Option<Glob>,
    /// Why it is meant.
    pub reason: String,
    /// Why it is no mistake when nothing is found.
    pub optional: Option<String>,
}

impl IgnoreRule {
    /// Whether it is about warnings of plans, rather than findings in built packages.
    pub fn is_of_plans(&self) -> bool {
        Code::OF_PLANS.contains(&self.code.value)
    }

    /// Whether it expects this warning about a file of a package.
    pub fn expects(&self, code: Code, package: &PackageName, path: &str) -> bool {
        let within = |glob: &Glob| path.parse::<RelPath>().is_ok_and(|path| glob.matches(&path));
        self.code.value == code
            && self.package.as_ref().is_none_or(|name| name.value == *package)
            && self.glob.as_ref().is_none_or(within)
    }
}
