use std::collections::BTreeMap;

use super::LoadedFile;
use super::messages::files;
use base::source::{Place, Problem};
use manifest::Manifest;

pub(super) struct Places<'a>(BTreeMap<String, &'a Place>);

impl<'a> Places<'a> {
    pub fn new(manifest: &'a Manifest) -> Self {
        let mut places = BTreeMap::new();
        for package in manifest.packages.values() {
            let distributions = package.distributions.iter().map(|d| &d.name.place);
            let artifacts = package.artifacts.iter().map(|rule| &rule.name.place);
            let includes = package.includes.iter().map(|rule| &rule.glob.place);
            let aliases = package.aliases.iter().map(|rule| &rule.path.place);
            let inherited = package.artifacts_of.iter().map(|name| &name.place);
            for place in
                artifacts.chain(includes).chain(aliases).chain(inherited).chain(distributions)
            {
                places.entry(place.to_string()).or_insert(place);
            }
        }
        Self(places)
    }

    pub fn place_of(&self, found: &LoadedFile<'a>) -> Option<&'a Place> {
        self.0.get(&*found.member.rule).copied()
    }

    /// Labels the first file's line; the text names files from other lines.
    pub fn label(&self, problem: Problem, found: &[LoadedFile<'a>]) -> Problem {
        let Some((first, place)) = found.iter().find_map(|one| Some((one, self.place_of(one)?)))
        else {
            return problem;
        };
        let (here, elsewhere): (Vec<LoadedFile<'a>>, Vec<LoadedFile<'a>>) =
            found.iter().partition(|one| one.member.rule == first.member.rule);
        let suffix = if elsewhere.is_empty() {
            String::new()
        } else {
            format!("; other lines take {}", files(&elsewhere))
        };
        problem.label(place, format!("takes {}{suffix}", files(&here)))
    }
}
