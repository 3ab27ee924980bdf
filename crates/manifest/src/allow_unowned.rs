//! `allow-unowned`.

use super::Glob;
use base::names::{ArtifactName, Component};
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Lets plans and builds pass though these files are in no package and on no `drop` line. Every run warns of them, with
/// their number and size: for files without a decided package. Files that are never shipped belong on a `drop`
/// line.
#[derive(Debug, Clone, Line)]
#[line(
    "allow-unowned",
    example = r#"allow-unowned "lib/preview/**" reason="the preview gets its package with the next release""#
)]
pub struct AllowUnownedRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is all that is below the
    /// directory `a`.
    #[each("GLOB", "a glob", shown = r#""GLOB""#)]
    pub glob: Spanned<Glob>,
    /// Of this artifact only.
    #[prop]
    pub artifact: Option<ArtifactName>,
    /// Of this component only: lib, run, dev, dbg, doc or test.
    #[prop]
    pub component: Option<Component>,
    /// The reason why no package has them yet.
    #[prop("WHY")]
    pub reason: String,
    /// The reason why there may be no such file; without it, that is a warning.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets of the line.
    #[when]
    pub when: Condition,
}
