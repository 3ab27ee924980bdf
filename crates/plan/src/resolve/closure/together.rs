use std::collections::{BTreeSet, HashMap, HashSet};

use crate::Distribution;
use base::names::PackageName;
use manifest::{Manifest, Package, PackageKind};

/// Distributions that are always installed together.
///
/// Packages that all selectors of a package require are one group: an edge from each package to
/// each other would be quadratic.
#[derive(Debug)]
pub(super) struct Together {
    /// By index of the distribution.
    reached: Vec<Reached>,
    /// Distributions that each group reaches.
    groups: Vec<HashSet<usize>>,
}

/// Distributions that are installed with one: directly, and by groups.
#[derive(Debug, Default)]
struct Reached {
    direct: HashSet<usize>,
    groups: Vec<usize>,
}

impl Together {
    pub fn new(manifest: &Manifest, distributions: &[&Distribution]) -> Self {
        let edges = Edges::new(manifest, distributions);
        let groups: Vec<HashSet<usize>> =
            (0..edges.groups.len()).map(|group| edges.reached_by_group(group)).collect();
        let reached = (0..distributions.len()).map(|from| edges.reached(from, &groups)).collect();
        Self { reached, groups }
    }

    /// Returns true if `other` is always installed with `one`.
    pub(crate) fn guaranteed(&self, one: usize, other: usize) -> bool {
        let reach = &self.reached[one];
        reach.direct.contains(&other)
            || reach.groups.iter().any(|group| self.groups[*group].contains(&other))
    }
}

/// Graph of the distributions, by index.
struct Edges {
    direct: Vec<Vec<usize>>,
    group_of: Vec<Option<usize>>,
    /// Distributions that all selectors of a package require.
    groups: Vec<Vec<usize>>,
}

impl Edges {
    fn new(manifest: &Manifest, distributions: &[&Distribution]) -> Self {
        let named = ByPackage::new(manifest, distributions);
        let selectors = Selectors::new(manifest, &named);
        let mut numbers = HashMap::new();
        let (mut direct, mut group_of, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for distribution in distributions {
            let package = manifest.packages.get(&distribution.package);
            direct
                .push(package.map_or_else(Vec::new, |package| named.direct(package, distribution)));
            let offering = package.and_then(|p| selectors.offering.get(&p.name.value));
            group_of.push(offering.map(|offering| {
                *numbers.entry((offering, distribution.variant.as_deref())).or_insert_with(|| {
                    let required = selectors.required_by_all(offering);
                    groups.push(named.fitting(required, distribution));
                    groups.len() - 1
                })
            }));
        }
        Self { direct, group_of, groups }
    }

    fn reached_by_group(&self, group: usize) -> HashSet<usize> {
        let mut members = HashSet::new();
        let mut groups = HashSet::from([group]);
        let mut open = self.groups[group].clone();
        while let Some(at) = open.pop() {
            if members.insert(at) {
                open.extend(&self.direct[at]);
                let next = self.group_of[at].filter(|group| groups.insert(*group));
                open.extend(next.into_iter().flat_map(|group| &self.groups[group]));
            }
        }
        members
    }

    fn reached(&self, from: usize, groups: &[HashSet<usize>]) -> Reached {
        let (mut reach, mut open) = (Reached::default(), vec![from]);
        while let Some(at) = open.pop() {
            if reach.groups.iter().any(|group| groups[*group].contains(&at))
                || !reach.direct.insert(at)
            {
                continue;
            }
            reach.groups.extend(self.group_of[at].filter(|group| !reach.groups.contains(group)));
            open.extend(&self.direct[at]);
        }
        reach
    }
}

struct ByPackage<'n> {
    manifest: &'n Manifest,
    distributions: &'n [&'n Distribution],
    indices_of: HashMap<&'n PackageName, Vec<usize>>,
}

impl<'n> ByPackage<'n> {
    fn new(manifest: &'n Manifest, distributions: &'n [&'n Distribution]) -> Self {
        let mut indices_of: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, distribution) in distributions.iter().enumerate() {
            indices_of.entry(&distribution.package).or_default().push(index);
        }
        Self { manifest, distributions, indices_of }
    }

    fn indices(&self, package: &PackageName) -> impl Iterator<Item = usize> {
        self.indices_of.get(package).into_iter().flatten().copied()
    }

    /// Requirements, the owner of an overlaid directory, link targets of a devel tree, and levels
    /// above.
    fn direct(&self, package: &Package, distribution: &Distribution) -> Vec<usize> {
        let required = package.requires.iter().map(|rule| &rule.package);
        let named = required.chain(&package.overlay).chain(&package.artifacts_of);
        let mut direct = self.fitting(named.map(|name| &name.value), distribution);
        let above = self.above(distribution);
        direct.extend(
            self.indices(&package.name.value)
                .filter(|other| is_above(self.distributions[*other], &above)),
        );
        direct
    }

    /// Distributions of packages that fit the target of `distribution`.
    fn fitting<'p>(
        &self,
        packages: impl IntoIterator<Item = &'p PackageName>,
        distribution: &Distribution,
    ) -> Vec<usize> {
        let above = self.above(distribution);
        let fits = |other: &Distribution| {
            other.variant.is_none()
                || other.variant == distribution.variant
                || is_above(other, &above)
        };
        let candidates = packages.into_iter().flat_map(|package| self.indices(package));
        candidates.filter(|other| fits(self.distributions[*other])).collect()
    }

    fn above(&self, distribution: &Distribution) -> Vec<&'n str> {
        let families = &self.manifest.families;
        distribution.variant.as_deref().map_or_else(Vec::new, |target| families.above(target))
    }
}

fn is_above(other: &Distribution, above: &[&str]) -> bool {
    other.variant.as_deref().is_some_and(|level| above.contains(&level))
}

struct Selectors<'m> {
    /// Packages by index of the selector.
    required: Vec<BTreeSet<&'m PackageName>>,
    /// Selectors that require a package or have it in an extra.
    offering: HashMap<&'m PackageName, Vec<usize>>,
}

impl<'m> Selectors<'m> {
    fn new(manifest: &'m Manifest, named: &ByPackage<'_>) -> Self {
        let mut selectors = Self { required: Vec::new(), offering: HashMap::new() };
        let is_built = |p: &&Package| {
            p.kind == PackageKind::Selector && named.indices_of.contains_key(&p.name.value)
        };
        for (number, package) in manifest.packages.values().filter(is_built).enumerate() {
            let required: BTreeSet<&PackageName> =
                package.requires.iter().map(|rule| &rule.package.value).collect();
            let extras = package.extras.iter().map(|extra| &extra.package.value);
            let offered: BTreeSet<&PackageName> = required.iter().copied().chain(extras).collect();
            for name in offered {
                selectors.offering.entry(name).or_default().push(number);
            }
            selectors.required.push(required);
        }
        selectors
    }

    fn required_by_all(&self, selectors: &[usize]) -> BTreeSet<&'m PackageName> {
        let requirements = selectors.iter().map(|number| self.required[*number].clone());
        requirements.reduce(|one, other| &one & &other).unwrap_or_default()
    }
}
