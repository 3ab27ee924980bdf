use std::collections::BTreeSet;

use crate::Distribution;
use base::names::PackageName;
use manifest::{Manifest, Package, PackageKind};

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

    pub(crate) fn guaranteed(&self, one: usize, other: usize) -> bool {
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

/// Requirements, the owner of an overlaid directory, link targets of a devel tree, and packages
/// that all its selectors require.
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
