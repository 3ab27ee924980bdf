//! Requirements of a set on its own packages.

use std::collections::BTreeMap;

use crate::{Finding, Package, Set};
use base::source::Code;
use wheel::package::Requirement;

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let offers = Offers::new(&set.packages);
    let of_package = |package: &Package<'_>| {
        let unmet = package.requires.iter().filter_map(|requirement| offers.unmet(requirement));
        unmet.map(|finding| finding.within(&package.file)).collect::<Vec<_>>()
    };
    set.packages.iter().flat_map(of_package).collect()
}

struct Offers<'p>(BTreeMap<&'p str, Vec<Offer<'p>>>);

struct Offer<'p> {
    package: &'p Package<'p>,
    /// `None` if invalid: it meets every requirement.
    version: Option<pep440_rs::Version>,
}

impl<'p> Offers<'p> {
    pub fn new(packages: &'p [Package<'p>]) -> Self {
        let mut by_name: BTreeMap<&str, Vec<Offer<'_>>> = BTreeMap::new();
        for package in packages {
            let Some(name) = &package.name else { continue };
            let version = package.version.as_ref().and_then(|v| v.as_str().parse().ok());
            by_name.entry(name).or_default().push(Offer { package, version });
        }
        Self(by_name)
    }

    /// Reports a requirement on a package of the set that no version of it meets.
    pub fn unmet(&self, requirement: &Requirement) -> Option<Finding> {
        let named = self.0.get(&*requirement.name)?;
        let fits = |offer: &&Offer<'_>| match (&requirement.versions, &offer.version) {
            (Some(versions), Some(version)) => versions.contains(version),
            _ => true,
        };
        let fitting: Vec<&Offer<'_>> = named.iter().filter(fits).collect();
        if fitting.is_empty() {
            let versions = named.iter().filter_map(|offer| offer.package.version.as_ref());
            let offered: Vec<String> = versions.map(ToString::to_string).collect();
            let message = format!(
                "it requires `{}`, but the set has {} {}",
                requirement.text,
                requirement.name,
                offered.join(" and ")
            );
            return Some(Finding::error(Code::UnmetRequirement, message));
        }
        let mut extras = requirement.extras.iter();
        let extra = extras
            .find(|extra| !fitting.iter().any(|offer| offer.package.extras.contains(*extra)))?;
        let message = format!(
            "it requires `{}`, but {} has no extra `{extra}`",
            requirement.text, requirement.name
        );
        Some(Finding::error(Code::UnmetExtra, message))
    }
}
