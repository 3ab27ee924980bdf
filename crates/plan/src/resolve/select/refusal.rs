//! Reasons why a package does not take a file, although one of its lines concerns the artifact.

use super::super::resolved_dist::ResolvedDist;
use super::{Narrowed, Narrowing, RuleMatch, SelectionTrace, rule_of};
use crate::catalog::{Artifact, ArtifactId, CatalogEntry};
use base::source::Place;
use manifest::Manifest;

/// The line that keeps a file out of a package.
#[derive(Debug, Clone, Copy)]
pub(in crate::resolve) enum Refusal<'a> {
    /// A devel package leaves the artifact out.
    WithoutArtifact(&'a Place),
    /// A devel package leaves the component out.
    WithoutComponent(&'a Place),
    /// An exclude line matches.
    Excluded(&'a Place),
    /// No include line matches; the first one.
    NotIncluded(&'a Place),
    /// The line names other components of the artifact.
    OtherComponents(&'a Place),
}

impl<'a> Refusal<'a> {
    pub fn place(self) -> &'a Place {
        match self {
            Self::WithoutArtifact(place)
            | Self::WithoutComponent(place)
            | Self::Excluded(place)
            | Self::NotIncluded(place)
            | Self::OtherComponents(place) => place,
        }
    }
}

/// Refusals of one artifact by a package that it fits.
pub(in crate::resolve) struct Refusals<'a> {
    /// Refusal of all files, by the artifact's name and component.
    whole: Option<Refusal<'a>>,
    /// Rules for single files, if the package takes the artifact.
    narrowing: Option<(Narrowing<'a>, Option<&'a Place>)>,
}

impl<'a> Refusals<'a> {
    /// Evaluates the package's lines for the artifact.
    pub fn new(manifest: &'a Manifest, dist: &ResolvedDist<'a>, artifact: &'a Artifact) -> Self {
        let mut heard = Heard::default();
        let takes = rule_of(manifest, dist.package, &artifact.id, &mut heard).is_some();
        let first = dist.package.includes.first().map(|rule| &rule.glob.place);
        Self {
            whole: heard.0.filter(|_| !takes),
            narrowing: takes.then(|| (Narrowing::new(manifest, dist.package, artifact), first)),
        }
    }

    /// Returns the line that keeps the file out; `None` if the package takes it or no line concerns
    /// its artifact.
    pub fn of(&self, entry: &CatalogEntry) -> Option<Refusal<'a>> {
        let Some((narrowing, first_include)) = &self.narrowing else { return self.whole };
        match narrowing.narrow(entry, |_| ()) {
            Narrowed::In(_) => None,
            Narrowed::Excluded(place) => Some(Refusal::Excluded(place)),
            Narrowed::NotIncluded => first_include.map(Refusal::NotIncluded),
        }
    }
}

impl Refusals<'_> {
    /// Returns true if the package takes the file.
    pub fn takes(&self, entry: &CatalogEntry) -> bool {
        self.narrowing.is_some() && self.of(entry).is_none()
    }
}

/// The last line that refuses a whole artifact.
#[derive(Default)]
struct Heard<'a>(Option<Refusal<'a>>);

impl<'a> SelectionTrace<'a> for Heard<'a> {
    fn on_match(&mut self, _: &'a ArtifactId, said: RuleMatch<'a>) {
        let refusal = match said {
            RuleMatch::OtherComponents(rule) => Refusal::OtherComponents(&rule.name.place),
            RuleMatch::WithoutArtifact(place) => Refusal::WithoutArtifact(place),
            RuleMatch::WithoutComponent(place) => Refusal::WithoutComponent(place),
            _ => return,
        };
        // Leaving out the artifact has priority over its components.
        if !matches!(self.0, Some(Refusal::WithoutArtifact(_))) {
            self.0 = Some(refusal);
        }
    }
}
