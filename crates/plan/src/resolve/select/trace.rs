//! Observers of the selection: planner and explanation.

use super::Selected;
use base::names::PackageName;
use base::source::{Place, Spanned};
use catalog::ArtifactId;
use manifest::{ArtifactRule, DropRule, PathRule};

#[derive(Debug, Clone, Copy)]
pub(in crate::resolve) enum RuleMatch<'a> {
    Takes(&'a ArtifactRule),
    OtherComponents(&'a ArtifactRule),
    Inherits(&'a Spanned<PackageName>, &'a ArtifactRule),
    WithoutArtifact(&'a Place),
    WithoutComponent(&'a Place),
    Includes(&'a PathRule),
    NotIncluded,
    Excludes(&'a PathRule),
    Drops(&'a DropRule),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resolve) enum Why {
    Alone,
    Executable,
    First,
    Differ,
}

/// Observer, called in evaluation order.
pub(in crate::resolve) trait SelectionTrace<'a> {
    fn on_match(&mut self, artifact: &'a ArtifactId, rule_match: RuleMatch<'a>);

    /// A rule that matches only a directory is not used yet, because rules apply to files.
    fn on_directory_match(&mut self, _artifact: &'a ArtifactId, _rule_match: RuleMatch<'a>) {}

    fn admit(&mut self, _artifact: &'a ArtifactId) {}

    fn keep(&mut self, _artifact: &'a ArtifactId) {}

    fn choose(&mut self, _candidates: &[Selected<'a>], _first: &Selected<'a>, _why: Why) {}
}
