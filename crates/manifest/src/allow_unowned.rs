//! `allow-unowned`.

use super::Glob;
use base::names::{ArtifactName, Component};
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Lets plans and builds pass though these files are in no package and on no `drop` line, for files
/// without a decided package. Every run warns of them. Files that are never shipped belong on a
/// `drop` line.
#[derive(Debug, Clone, Line)]
#[line(
    "allow-unowned",
    example = r#"allow-unowned "lib/preview/**" reason="the preview gets its package with the next release""#
)]
pub struct AllowUnownedRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is
    /// all below `a`.
    #[each("GLOB", "a glob", shown = r#""GLOB""#)]
    pub glob: Spanned<Glob>,
    /// Of this artifact only.
    #[prop]
    pub artifact: Option<ArtifactName>,
    /// Of this component only: lib, run, dev, dbg, doc or test.
    #[prop]
    pub component: Option<Component>,
    /// Reason why no package has them yet.
    #[prop("WHY")]
    pub reason: String,
    /// Reason why there may be no such file; without it, a warning.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}
