use super::super::resolved_dist::ResolvedDist;
use super::{Narrowed, Narrowing, RuleMatch, SelectionTrace, rule_of};
use base::source::Place;
use catalog::{Artifact, ArtifactId, CatalogEntry};
use manifest::Manifest;

#[derive(Debug, Clone, Copy)]
pub(in crate::resolve) enum Refusal<'a> {
    WithoutArtifact(&'a Place),
    WithoutComponent(&'a Place),
    Excluded(&'a Place),
    /// First include line, if none matches.
    NotIncluded(&'a Place),
    OtherComponents(&'a Place),
}

impl<'a> Refusal<'a> {
    pub fn verb(self) -> &'static str {
        match self {
            Self::WithoutArtifact(_) | Self::WithoutComponent(_) => "leaves out",
            Self::Excluded(_) => "excludes",
            Self::NotIncluded(_) => "does not include",
            Self::OtherComponents(_) => "does not take",
        }
    }

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

pub(in crate::resolve) struct Refusals<'a> {
    whole: Option<Refusal<'a>>,
    narrowing: Option<(Narrowing<'a>, Option<&'a Place>)>,
}

impl<'a> Refusals<'a> {
    pub fn new(manifest: &'a Manifest, dist: &ResolvedDist<'a>, artifact: &'a Artifact) -> Self {
        let mut first_refusal = FirstRefusal::default();
        let takes = rule_of(manifest, dist.package, &artifact.id, &mut first_refusal).is_some();
        let first = dist.package.includes.first().map(|rule| &rule.glob.place);
        Self {
            whole: first_refusal.0.filter(|_| !takes),
            narrowing: takes.then(|| (Narrowing::new(manifest, dist.package, artifact), first)),
        }
    }

    /// `None` if taken, or if no line concerns the artifact.
    pub fn refusal(&self, entry: &CatalogEntry) -> Option<Refusal<'a>> {
        let Some((narrowing, first_include)) = &self.narrowing else { return self.whole };
        match narrowing.narrow(entry, |_| ()) {
            Narrowed::In(_) => None,
            Narrowed::Excluded(place) => Some(Refusal::Excluded(place)),
            Narrowed::NotIncluded => first_include.map(Refusal::NotIncluded),
        }
    }
}

impl Refusals<'_> {
    pub fn takes(&self, entry: &CatalogEntry) -> bool {
        self.narrowing.is_some() && self.refusal(entry).is_none()
    }
}

#[derive(Default)]
struct FirstRefusal<'a>(Option<Refusal<'a>>);

impl<'a> SelectionTrace<'a> for FirstRefusal<'a> {
    fn on_match(&mut self, _: &'a ArtifactId, rule_match: RuleMatch<'a>) {
        let refusal = match rule_match {
            RuleMatch::OtherComponents(rule) => Refusal::OtherComponents(&rule.name.place),
            RuleMatch::WithoutArtifact(place) => Refusal::WithoutArtifact(place),
            RuleMatch::WithoutComponent(place) => Refusal::WithoutComponent(place),
            _ => return,
        };
        // Artifacts precede components.
        if !matches!(self.0, Some(Refusal::WithoutArtifact(_))) {
            self.0 = Some(refusal);
        }
    }
}
