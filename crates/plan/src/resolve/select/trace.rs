//! Observers of the selection. The planner records rules that applied; an explanation records the
//! effect of each rule.

use super::Selected;
use crate::catalog::ArtifactId;
use base::names::PackageName;
use base::source::{Place, Spanned};
use manifest::{ArtifactRule, DropRule, PathRule};

/// Match of a rule with an artifact or a path in it.
#[derive(Debug, Clone, Copy)]
pub(in crate::resolve) enum RuleMatch<'a> {
    /// An artifact rule names this component.
    Takes(&'a ArtifactRule),
    /// An artifact rule names the artifact with other components.
    OtherComponents(&'a ArtifactRule),
    /// `artifacts-of` a package that names the artifact by this rule.
    Inherits(&'a Spanned<PackageName>, &'a ArtifactRule),
    /// A devel package leaves the artifact out.
    WithoutArtifact(&'a Place),
    /// A devel package leaves the component out.
    WithoutComponent(&'a Place),
    /// An include rule matches the path.
    Includes(&'a PathRule),
    /// The package has include rules, and none matches the path.
    NotIncluded,
    /// An exclude rule matches the path.
    Excludes(&'a PathRule),
    /// A rule drops the path from every package.
    Drops(&'a DropRule),
}

/// Reason for the selection among several entries of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resolve) enum Why {
    /// It is the only one.
    Alone,
    /// All are equal; it is the first executable one.
    Executable,
    /// All are equal; its artifact is the first by name.
    First,
    /// The entries differ, which is an error.
    Differ,
}

/// Receives rule matches and results in evaluation order.
pub(in crate::resolve) trait SelectionTrace<'a> {
    /// A rule matches an artifact or a path in it.
    fn on_match(&mut self, artifact: &'a ArtifactId, said: RuleMatch<'a>);

    /// A rule matches a directory. Rules apply to files, so that such a match alone does not make
    /// the rule used.
    fn on_directory_match(&mut self, _artifact: &'a ArtifactId, _said: RuleMatch<'a>) {}

    /// The artifact is taken, restricted by includes and excludes.
    fn admit(&mut self, _artifact: &'a ArtifactId) {}

    /// A file of the artifact remains after includes, excludes and drops.
    fn keep(&mut self, _artifact: &'a ArtifactId) {}

    /// `_first` was selected among the `candidates` of one path.
    fn settle(&mut self, _candidates: &[Selected<'a>], _first: &Selected<'a>, _why: Why) {}
}
