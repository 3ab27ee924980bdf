//! Required packages of which no file needs a library.

use std::collections::BTreeSet;

use super::{LoadedFile, Need, Resolved};
use crate::Note;
use base::names::PackageName;
use manifest::{Manifest, Package, PackageKind, RequireRule};

#[derive(Default)]
pub(super) struct Used<'a> {
    loading: BTreeSet<&'a PackageName>,
    pairs: BTreeSet<(&'a PackageName, &'a PackageName)>,
}

impl<'a> Used<'a> {
    pub fn add(&mut self, file: &LoadedFile<'a>, need: &Need<'a>) {
        let package = &file.distribution.package;
        self.loading.insert(package);
        if let Resolved::Member(found) | Resolved::ThroughLoader { found, .. } = &need.resolved {
            self.pairs.insert((package, &found.distribution.package));
        }
    }

    /// Ignores packages without libraries.
    pub fn notes(&self, manifest: &Manifest) -> Vec<Note> {
        let packages = manifest.packages.values();
        let loading = packages.filter(|package| {
            package.kind == PackageKind::Runtime && self.loading.contains(&package.name.value)
        });
        let unneeded = |package: &Package, rule: &RequireRule| {
            let (name, required) = (&package.name.value, &rule.package.value);
            let is_built =
                manifest.packages.get(required).is_some_and(|p| p.distribution().is_some());
            is_built && !self.pairs.contains(&(name, required)) && !names(package, required)
        };
        let note = |package: &Package, rule: &RequireRule| {
            Note::from(format!(
                "package `{}` requires `{}`, but none of its files needs a library of it ({})",
                package.name.value, rule.package.value, rule.package.place
            ))
        };
        loading
            .flat_map(|package| package.requires.iter().map(move |rule| (package, rule)))
            .filter(|(package, rule)| unneeded(package, rule))
            .map(|(package, rule)| note(package, rule))
            .collect()
    }
}

fn names(package: &Package, other: &PackageName) -> bool {
    let variables = package.environment.iter().flat_map(|line| &line.directories);
    let mut searched = variables.chain(&package.python_path).map(|rule| &rule.package.value);
    searched.any(|name| name == other)
        || package.overlay.as_ref().is_some_and(|overlay| overlay.value == *other)
}
