//! Artifacts that packages need, by the rules of a plan ([`super::select`]) over artifacts without
//! files.

use std::collections::{BTreeMap, BTreeSet};

use super::resolved_dist::{ResolvedDist, resolved_dists};
use super::select::{self, Matched};
use super::{targets, unused_rules};
use crate::Request;
use base::names::{ArtifactName, Component, Family, Mode, System};
use base::source::Problems;
use base::target::Target;
use base::version::Version;
use catalog::{Artifact, ArtifactId, BuildFacts, Catalog, Demand, Missing, Needed};
use manifest::{Manifest, Package, PackageKind};

/// The needed part of `there`: in the requested mode, in the mode with fewer problems, or in both
/// if neither has any.
pub fn needed(manifest: &Manifest, there: &[ArtifactId], request: &Request) -> Needed {
    let catalog = without_files(there);
    let needed_in = |mode| in_mode(manifest, &catalog, request, mode);
    let Some(mode) = request.mode else {
        let [kpack, legacy] = Mode::ALL.map(needed_in);
        let faults = |needed: &Needed| needed.problems.iter().count();
        return match faults(&kpack).cmp(&faults(&legacy)) {
            std::cmp::Ordering::Greater => legacy,
            std::cmp::Ordering::Equal if faults(&kpack) == 0 => union(kpack, legacy),
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal => kpack,
        };
    };
    needed_in(mode)
}

/// Artifacts that the packages of a request take.
#[derive(Debug, Clone, Copy)]
pub struct Requested<'w> {
    /// Manifest of the packages.
    pub manifest: &'w Manifest,
    /// Requested packages and targets.
    pub request: &'w Request,
}

impl Demand for Requested<'_> {
    fn needed(&self, existing: &[ArtifactId]) -> Needed {
        needed(self.manifest, existing, self.request)
    }

    fn possible(&self) -> Option<Vec<ArtifactId>> {
        let lists = [&self.request.linux_families, &self.request.windows_families];
        let targets: Vec<String> = lists.into_iter().flatten().flatten().cloned().collect();
        (!targets.is_empty()).then(|| possible(self.manifest, self.request, &targets))
    }
}

/// All artifacts that packages of these targets could take, for stores without listings.
fn possible(manifest: &Manifest, request: &Request, targets: &[String]) -> Vec<ArtifactId> {
    let mut families = BTreeSet::from(["generic".to_owned()]);
    for name in targets {
        let isas = manifest.families.expand(name).into_iter().map(String::from);
        let isas: Vec<String> = isas.collect();
        families
            .extend(isas.iter().flat_map(|isa| manifest.families.above(isa)).map(str::to_owned));
        families.extend(isas);
        families.insert(name.clone());
    }
    families.extend(manifest.families.axes.values().flatten().cloned());
    let families: Vec<Family> = families.iter().filter_map(|name| name.parse().ok()).collect();
    let rules = manifest.packages.values().flat_map(|package| &package.artifacts);
    let names: BTreeSet<&ArtifactName> = rules.map(|rule| &*rule.name).collect();
    let mut ids = Vec::new();
    for name in names {
        for component in Component::ALL {
            let id = |family: &Family| ArtifactId {
                name: name.clone(),
                component,
                family: family.clone(),
            };
            ids.extend(families.iter().map(id));
        }
    }
    let modes: Vec<Mode> = request.mode.map_or_else(|| Mode::ALL.to_vec(), |mode| vec![mode]);
    let catalog = without_files(&ids);
    let mut artifacts = BTreeSet::new();
    for mode in modes {
        artifacts.extend(in_mode(manifest, &catalog, request, mode).artifacts.into_keys());
    }
    artifacts.into_iter().collect()
}

fn without_files(there: &[ArtifactId]) -> Catalog {
    let artifact = |id: &ArtifactId| Artifact {
        id: id.clone(),
        absent_bases: Vec::new(),
        entries: Vec::new(),
    };
    let artifacts = there.iter().map(artifact).collect();
    Catalog { artifacts, ignored: Vec::new(), build: BuildFacts::default() }.sorted().into_owned()
}

fn union(one: Needed, other: Needed) -> Needed {
    let mut union = one;
    union.modes.extend(other.modes);
    for (id, packages) in other.artifacts {
        union.artifacts.entry(id).or_default().extend(packages);
    }
    union
}

fn in_mode(manifest: &Manifest, catalog: &Catalog, request: &Request, mode: Mode) -> Needed {
    let system = request.system.unwrap_or(System::Linux);
    // The version is irrelevant.
    let version = Some(request.version.clone().unwrap_or_else(Version::unknown));
    let request = Request { mode: Some(mode), system: Some(system), version, ..request.clone() };
    let (targets, mut problems) = targets::resolve(manifest, catalog, &request);
    let manifest = &manifest.for_target(Target { mode, system });
    let mut needed = Needed {
        modes: vec![mode],
        system,
        artifacts: BTreeMap::new(),
        missing: Vec::new(),
        problems: Problems::new(),
    };
    let dists =
        resolved_dists(manifest, &targets, targets::suffix(&request)).unwrap_or_else(|more| {
            problems.extend(more);
            Vec::new()
        });
    for package in manifest.packages.values().filter(|p| p.distribution().is_some()) {
        let package_dists: Vec<&ResolvedDist<'_>> =
            dists.iter().filter(|dist| std::ptr::eq(dist.package, package)).collect();
        take(manifest, catalog, package, &package_dists, &mut needed, &mut problems);
    }
    assert_matches(manifest, catalog, &mut needed);
    needed.problems = problems;
    needed
}

fn take(
    manifest: &Manifest,
    catalog: &Catalog,
    package: &Package,
    dists: &[&ResolvedDist<'_>],
    needed: &mut Needed,
    problems: &mut Problems,
) {
    let mut matched = Matched::default();
    for artifact in &catalog.artifacts {
        for dist in dists.iter().filter(|dist| dist.fits(&artifact.id)) {
            if select::takes_artifact(manifest, dist, &artifact.id, &mut matched) {
                let packages = needed.artifacts.entry(artifact.id.clone()).or_default();
                packages.insert(package.name.value.clone());
            }
        }
    }
    // A missing target is another problem.
    if dists.is_empty() || package.kind == PackageKind::Selector {
        return;
    }
    for rule in package.artifacts.iter().filter(|rule| rule.optional.is_none()) {
        let missing = |component| Missing {
            artifact: rule.name.value.clone(),
            component,
            package: package.name.value.clone(),
            rule: rule.name.place.shown().to_string(),
        };
        let took = |component: Component| matched.took(&rule.name, component);
        if rule.components.is_empty() && !Component::ALL.into_iter().any(took) {
            needed.missing.push(missing(None));
        }
        let untaken = rule.components.iter().filter(|component| !took(component.value));
        needed.missing.extend(untaken.map(|component| missing(Some(component.value))));
    }
    problems.extend(unused_rules::artifacts(catalog, package, &matched));
}

fn assert_matches(manifest: &Manifest, catalog: &Catalog, needed: &mut Needed) {
    let rules = manifest.packages.values().filter(|p| p.distribution().is_some());
    let components =
        rules.flat_map(|p| &p.without_components).filter(|rule| rule.optional.is_none());
    let components: BTreeSet<Component> = components.map(|rule| rule.component.value).collect();
    let named: BTreeSet<&ArtifactName> =
        manifest.packages.values().flat_map(|p| &p.artifacts).map(|rule| &*rule.name).collect();
    let drops: Vec<_> = manifest.drops.iter().filter(|rule| rule.optional.is_none()).collect();
    for artifact in &catalog.artifacts {
        let id = &artifact.id;
        let left_out = components.contains(&id.component) && named.contains(&id.name);
        if left_out || drops.iter().any(|rule| select::in_scope(rule, artifact)) {
            needed.artifacts.entry(id.clone()).or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Case, catalog, runtime};

    #[test]
    fn the_mode_that_lacks_less_counts_and_both_where_nothing_is_lacking() {
        let (a, both) =
            ("a_lib_generic f text f", "a_lib_generic f text f\nb_lib_generic g text g");
        let cases: [(&str, &str, &[Mode]); 5] = [
            ("", both, &[Mode::Kpack, Mode::Legacy]),
            ("", a, &[Mode::Kpack]),
            (" mode=\"kpack\"", a, &[Mode::Legacy]),
            (" mode=\"legacy\"", a, &[Mode::Kpack]),
            (" optional=\"-\"", a, &[Mode::Kpack, Mode::Legacy]),
        ];
        for (mode, entries, expected) in cases {
            let lines = format!("artifact \"a\" \"lib\"\nartifact \"b\" \"lib\"{mode}");
            let manifest = Case::new(&[runtime("core", &lines)], entries).manifest();
            let existing: Vec<ArtifactId> =
                catalog(entries).artifacts.into_iter().map(|artifact| artifact.id).collect();
            let found = needed(&manifest, &existing, &Request::default());
            assert_eq!(found.modes, expected, "{lines}");
        }
    }
}
