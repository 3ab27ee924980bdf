//! `forbid`.

use crate::Glob;
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Stops the plan if the package takes one of these paths, for files that an artifact may get one
/// day and that belong elsewhere.
#[derive(Debug, Clone, Line)]
#[line(
    "forbid",
    once,
    example = r#"forbid "bin/profile-*" reason="they are in the profiler's package""#
)]
pub struct ForbidRule {
    /// Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is
    /// all below `a`, and a link `a` itself.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// Reason why they do not belong in the package.
    #[prop("WHY")]
    pub reason: String,
    /// Targets.
    #[when]
    pub when: Condition,
}
