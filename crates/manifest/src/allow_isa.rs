//! `allow-isa "share/db/**" reason="…"`: device code that is meant to be where it is.

use super::Glob;
use base::names::{PackageName, RelPath};
use base::source::Spanned;
use base::target::Condition;

/// Files that can be in a package for another ISA than theirs, or for none in particular; one for each glob.
#[derive(Debug, Clone)]
pub struct AllowIsaRule {
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// In this package only.
    pub package: Option<PackageName>,
    /// Why they are there.
    pub reason: String,
    /// Why it is no mistake when no such path is there.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

impl AllowIsaRule {
    /// Whether it is about a file of a package, whose path is below the platform directory.
    pub fn is_about(&self, package: &PackageName, path: &RelPath) -> bool {
        self.package.as_ref().is_none_or(|name| name == package) && self.glob.matches(path)
    }
}
