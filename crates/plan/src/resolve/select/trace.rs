//! Who listens while entries are selected: the planner, to know which rules counted, and an
//! explanation, to tell what each one said.

use super::Selected;
use crate::catalog::ArtifactId;
use base::names::PackageName;
use base::source::{Place, Spanned};
use manifest::{ArtifactRule, DropRule, PathRule};

/// What a rule says of an artifact, or of a path in one.
#[derive(Debug, Clone, Copy)]
pub(in crate::resolve) enum RuleMatch<'a> {
    /// An artifact rule names this component.
    Takes(&'a ArtifactRule),
    /// An artifact rule names the artifact and other components.
    OtherComponents(&'a ArtifactRule),
    /// `artifacts-of` a package that names the artifact by this rule.
    Inherits(&'a Spanned<PackageName>, &'a ArtifactRule),
    /// A devel package leaves the artifact out.
    WithoutArtifact(&'a Place),
    /// A devel package leaves the component out.
    WithoutComponent(&'a Place),
    /// An include rule matches the path.
    Includes(&'a PathRule),
    /// There are include rules, and none matches the path.
    NotIncluded,
    /// An exclude rule matches the path.
    Excludes(&'a PathRule),
    /// A rule drops the path from every package.
    Drops(&'a DropRule),
}

/// Why one of several entries for a path counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resolve) enum Why {
    /// There is no other.
    Alone,
    /// All are the same, and this is the first that may be executed.
    Executable,
    /// All are the same, and this one's artifact is the first by name.
    First,
    /// They differ, which is an error.
    Differ,
}

/// Hears what every rule says and what comes of it, in the order in which selection goes.
pub(in crate::resolve) trait SelectionTrace<'a> {
    /// A rule sees an artifact, or a path in it.
    fn on_match(&mut self, artifact: &'a ArtifactId, said: RuleMatch<'a>);

    /// A rule sees a directory in an artifact. Rules are over files: for that alone none counts.
    fn on_directory_match(&mut self, _artifact: &'a ArtifactId, _said: RuleMatch<'a>) {}

    /// The artifact's entries are taken, as far as includes and excludes let them.
    fn admit(&mut self, _artifact: &'a ArtifactId) {}

    /// Includes, excludes and drops leave a file of the artifact.
    fn keep(&mut self, _artifact: &'a ArtifactId) {}

    /// Of `candidates` for one path `_first` counts.
    fn settle(&mut self, _candidates: &[Selected<'a>], _first: &Selected<'a>, _why: Why) {}
}
