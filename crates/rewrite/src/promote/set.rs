//! Promoted packages and their versions.

use std::collections::{BTreeMap, BTreeSet};

use crate::promote::local;
use base::names::Requirement;
use base::version::Version;
use manifest::Manifest;

#[derive(Debug)]
pub(super) struct Set {
    pub from: Version,
    pub to: Version,
    /// Normalised names of the given packages and of the manifest's distributions.
    names: BTreeSet<String>,
    /// Name of the product in local parts of foreign versions.
    product: String,
    /// Old and new versions of packages with the version in their local part.
    others: BTreeMap<String, (Version, Version)>,
}

impl Set {
    pub fn new(manifest: &Manifest, names: BTreeSet<String>, from: Version, to: Version) -> Self {
        let product = manifest.product().unwrap_or_default().to_owned();
        Self { from, to, names, product, others: BTreeMap::new() }
    }

    /// Adds a package with the version in its local part; returns its new version.
    pub fn add(&mut self, name: &str, old: &Version) -> Option<Version> {
        let new = local::promoted(old, &self.product, &self.from, &self.to)?;
        self.others.insert(name.to_owned(), (old.clone(), new.clone()));
        Some(new)
    }

    pub fn locals(&self) -> (String, String) {
        (local::part(&self.product, &self.from), local::part(&self.product, &self.to))
    }

    /// Requirement with a new pin; `None` if unchanged.
    pub fn repinned(&self, text: &str) -> Option<String> {
        let requirement: Requirement = text.parse().ok()?;
        requirement.repinned(|version| {
            let version: Version = version.parse().ok()?;
            self.version(&requirement.name, &version).map(ToString::to_string)
        })
    }

    fn version(&self, name: &str, version: &Version) -> Option<&Version> {
        match self.others.get(name) {
            Some((old, new)) => (old == version).then_some(new),
            None => (self.names.contains(name) && *version == self.from).then_some(&self.to),
        }
    }
}
