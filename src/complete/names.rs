//! Names in packages.kdl and families.kdl.

use std::collections::{BTreeMap, BTreeSet};

use clap_complete::engine::CompletionCandidate;
use manifest::Manifest;

use super::{Line, beginning};
use crate::inputs;

/// Names for `--only`: packages, their distributions, projects and finished wheels.
pub fn packages(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let manifest = manifest(line)?;
    let mut names: BTreeMap<String, Option<&str>> = BTreeMap::new();
    for package in manifest.packages.values() {
        names.insert(package.name.to_string(), Some(package.summary.as_str()));
        for distribution in &package.distributions {
            let variants = distribution.per.variants(&manifest.families);
            let filled = variants.iter().map(|variant| distribution.name.fill(variant));
            names.extend(filled.map(|name| (name, None)));
        }
    }
    let projects = manifest.python.projects.iter().map(|project| &project.name);
    let wheels = manifest.python.wheels.iter().map(|wheel| &wheel.name);
    names.extend(projects.chain(wheels).map(|name| (name.to_string(), None)));
    Some(beginning(begin, names))
}

/// ISAs, families and levels, in a list separated by `,` or `;`.
pub fn targets(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let manifest = manifest(line)?;
    let start = begin.rfind([',', ';']).map_or(0, |separator| separator + 1);
    let (listed, begin) = begin.split_at(start);
    // A family has many ISAs.
    let names: BTreeSet<&str> = manifest.families.names().collect();
    let names = beginning(begin, names.into_iter().map(|name| (name, None))).into_iter();
    Some(names.map(|name| name.add_prefix(listed)).collect())
}

pub fn stores(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let manifest = manifest(line)?;
    Some(beginning(begin, manifest.stores.iter().map(|store| (&*store.name.value, None))))
}

/// Names with `=`, for a value.
pub fn variables(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let manifest = manifest(line)?;
    let names = manifest.python.variables.iter().map(|(name, _)| format!("{}=", name.value));
    Some(beginning(begin, names.map(|name| (name, None))))
}

fn manifest(line: &Line) -> Option<Manifest> {
    inputs::manifest::read_without_messages(line.path("manifest")).ok()
}
