//! The lines of the manifest that placed files: a member names its rule as text.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::Found;
use super::words::files;
use crate::manifest::Manifest;
use crate::source::{Place, Problem};

/// Places of rules by their text (`packages.kdl:12`).
pub(super) struct Places<'a>(BTreeMap<String, &'a Place>);

/// How many lines are labelled.
const SHOWN: usize = 3;

impl<'a> Places<'a> {
    pub fn new(manifest: &'a Manifest) -> Self {
        let mut places = BTreeMap::new();
        for package in manifest.packages.values() {
            let distributions = package.distributions.iter().map(|d| &d.name.place);
            let artifacts = package.artifacts.iter().map(|rule| &rule.name.place);
            let includes = package.includes.iter().map(|rule| &rule.glob.place);
            let aliases = package.aliases.iter().map(|rule| &rule.path.place);
            let inherited = package.artifacts_of.iter().map(|name| &name.place);
            for place in artifacts.chain(includes).chain(aliases).chain(inherited).chain(distributions) {
                places.entry(place.to_string()).or_insert(place);
            }
        }
        Self(places)
    }

    /// The line that placed a file.
    pub fn of(&self, found: &Found<'a>) -> Option<&'a Place> {
        self.0.get(&found.member.rule).copied()
    }

    /// Points at the lines that placed these files.
    pub fn label(&self, problem: Problem, found: &[Found<'a>]) -> Problem {
        let mut rules: IndexMap<&str, Vec<Found<'a>>> = IndexMap::new();
        for one in found {
            rules.entry(&one.member.rule).or_default().push(*one);
        }
        let known = rules.values().filter_map(|those| Some((self.of(&those[0])?, those)));
        known.take(SHOWN).fold(problem, |problem, (place, those)| problem.label(place, format!("takes {}", files(those))))
    }
}
