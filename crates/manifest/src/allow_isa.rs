//! `allow-isa`.

use super::Glob;
use base::names::{PackageName, RelPath};
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Accepts device code of an ISA in a package for another ISA, or for none. A plan finds it by
/// names of files, `rockpack wheel verify` also by content.
#[derive(Debug, Clone, Line)]
#[line(
    "allow-isa",
    once,
    example = r#"allow-isa "share/tuning/**" reason="the library reads the parameters of all GPUs""#
)]
pub struct AllowIsaRule {
    /// Installed paths of files; `*` stays in one directory, `**` spans them, `a/**` is all below
    /// `a`.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// In this package only.
    #[prop("PACKAGE", resolve, key)]
    pub package: Option<PackageName>,
    /// Reason why the package has it.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why there may be no such file; without it, a warning.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

impl AllowIsaRule {
    /// Returns whether it accepts a file; the path is below the platform directory.
    pub fn is_about(&self, package: &PackageName, path: &RelPath) -> bool {
        self.package.as_ref().is_none_or(|name| name == package) && self.glob.matches(path)
    }
}
