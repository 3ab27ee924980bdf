//! Which distributions are installed together, because one says that it needs the other.

use std::collections::BTreeSet;

use crate::Distribution;
use base::names::PackageName;
use manifest::{Manifest, Package, PackageKind};

/// For each distribution, by its number, those that are there wherever it is.
#[derive(Debug)]
pub(super) struct Together {
    with: Vec<BTreeSet<usize>>,
}

impl Together {
    pub fn new(manifest: &Manifest, distributions: &[&Distribution]) -> Self {
        let direct: Vec<Vec<usize>> =
            distributions.iter().map(|d| direct(manifest, distributions, d)).collect();
        Self { with: (0..distributions.len()).map(|from| reached(&direct, from)).collect() }
    }

    /// Whether `other` is there wherever `one` is.
    pub fn guaranteed(&self, one: usize, other: usize) -> bool {
        self.with[one].contains(&other)
    }
}

fn reached(direct: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = open.pop() {
        open.extend(direct[at].iter().copied().filter(|next| found.insert(*next)));
    }
    found
}

/// What a distribution brings along of its own: what its package requires, the owner of the directory
/// that it overlays, what a devel tree links into, and what its selectors install in any case.
fn direct(
    manifest: &Manifest,
    distributions: &[&Distribution],
    distribution: &Distribution,
) -> Vec<usize> {
    let Some(package) = manifest.packages.get(&distribution.package) else { return Vec::new() };
    let required = package.requires.iter().map(|rule| &rule.package);
    let own = required.chain(&package.overlay).chain(&package.artifacts_of).map(|p| &p.value);
    let named: BTreeSet<&PackageName> =
        own.chain(selected(manifest, distributions, package)).collect();
    let above = distribution.variant.as_deref().map(|target| manifest.families.above(target));
    let is_above = |other: &Distribution| {
        let level = other.variant.as_deref();
        level.is_some_and(|level| above.as_ref().is_some_and(|above| above.contains(&level)))
    };
    let fits = |other: &Distribution| {
        other.variant.is_none() || other.variant == distribution.variant || is_above(other)
    };
    distributions
        .iter()
        .enumerate()
        .filter(|(_, d)| {
            named.contains(&d.package) && fits(d) || {
                d.package == distribution.package && is_above(d)
            }
        })
        .map(|(index, _)| index)
        .collect()
}

/// The packages that every selector offering `package` requires: nobody is offered it without them.
fn selected<'m>(
    manifest: &'m Manifest,
    distributions: &[&Distribution],
    package: &Package,
) -> BTreeSet<&'m PackageName> {
    let built = |p: &&Package| {
        p.kind == PackageKind::Selector && distributions.iter().any(|d| d.package == p.name.value)
    };
    let offers = |p: &&Package| {
        let extras = p.extras.iter().map(|e| &e.package.value);
        p.requires
            .iter()
            .map(|r| &r.package.value)
            .chain(extras)
            .any(|name| *name == package.name.value)
    };
    let required = manifest
        .packages
        .values()
        .filter(built)
        .filter(offers)
        .map(|p| p.requires.iter().map(|r| &r.package.value).collect());
    required.reduce(|one: BTreeSet<_>, other| &one & &other).unwrap_or_default()
}
