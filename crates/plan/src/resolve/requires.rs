use std::collections::{BTreeMap, BTreeSet, HashSet};

use indexmap::IndexSet;

use super::resolved_dist::{ResolvedDist, dist_name};
use super::targets::{Published, Targets};
use crate::since::is_compatible;
use base::names::{NameError, PackageName, System};
use base::target::{Per, Variant};
use manifest::{Manifest, Pick, RequireRule};

#[derive(Debug, Default)]
pub(super) struct Extras {
    pub by_name: BTreeMap<String, Vec<String>>,
}

pub(super) fn requires(
    manifest: &Manifest,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<Vec<String>, NameError> {
    if let Some(requirement) = of_variant(manifest, targets, dist)? {
        return Ok(vec![requirement]);
    }
    let mut requirements = IndexSet::new();
    let index = dist.package.indexes.iter().find(|index| Some(&*index.name) == dist.index);
    let of_index = index.into_iter().flat_map(|index| &index.requires);
    for rule in dist.package.requires.iter().chain(of_index) {
        if let Some(declared) = declared(manifest, &rule.package) {
            for variant in required(rule, declared, targets, dist) {
                let accepts_later = targets.since.is_some() && is_compatible(dist.package, rule);
                let mut requirement = requirement(declared, targets, &variant)?;
                if accepts_later {
                    requirement = requirement.replacen("==", ">=", 1);
                }
                requirements.insert(requirement);
            }
        }
    }
    let mut requirements = Vec::from_iter(requirements);
    requirements.extend(levels(manifest, targets, dist)?);
    let rules = dist.package.requires_dist.iter();
    requirements.extend(rules.map(|rule| rule.requirement.as_str().to_owned()));
    Ok(requirements)
}

/// Requirement without marker: the label selects the target. `None` without a target, as in the
/// plain wheel.
fn of_variant(
    manifest: &Manifest,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<Option<String>, NameError> {
    let rule = dist.package.variant.as_ref();
    let target = dist.labelled.as_ref().and_then(|labelled| labelled.target.as_ref());
    let declared = rule.and_then(|rule| declared(manifest, &rule.package));
    let pinned = |(declared, target)| pinned(declared, targets, target);
    declared.zip(target).map(pinned).transpose()
}

fn required(
    rule: &RequireRule,
    declared: &manifest::Distribution,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Vec<Variant> {
    if rule.is_of_all() {
        variants(declared, targets, dist)
    } else {
        vec![declared.per.installed_with(&dist.variant)]
    }
}

fn levels(
    manifest: &Manifest,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<Vec<String>, NameError> {
    let Variant::Of(per @ Per::Isa, target) = &dist.variant else { return Ok(Vec::new()) };
    let above = manifest.families.above(target).into_iter();
    let levels = above
        .filter(|level| targets.levels.contains_key(*level))
        .filter(|level| targets.has_package_for(dist.package, level));
    let variants = levels.map(|level| Variant::Of(per.clone(), level.to_owned()));
    variants.map(|variant| requirement(dist.declared, targets, &variant)).collect()
}

pub(super) fn extras(
    manifest: &Manifest,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<Extras, NameError> {
    let mut extras = Extras::default();
    for extra in &dist.package.extras {
        let Some(declared) = declared(manifest, &extra.package) else { continue };
        let variants = variants(declared, targets, dist);
        if variants.len() < extra.at_least {
            continue;
        }
        let name = extra.name.as_str().to_owned();
        match extra.pick {
            Pick::Only => {
                let requirement =
                    requirement(declared, targets, &declared.per.installed_with(&dist.variant))?;
                extras.by_name.insert(name, vec![requirement]);
            }
            Pick::All => {
                let requirements = variants
                    .iter()
                    .map(|v| requirement(declared, targets, v))
                    .collect::<Result<_, _>>()?;
                extras.by_name.insert(name, requirements);
            }
            Pick::Each => {
                for variant in &variants {
                    extras.by_name.insert(
                        extra.name.fill(variant),
                        vec![requirement(declared, targets, variant)?],
                    );
                }
            }
        }
    }
    Ok(extras)
}

pub(super) fn lines(requires: &[String], extras: &Extras) -> Vec<String> {
    let by_extra = extras.by_name.iter().flat_map(|(extra, requirements)| {
        requirements.iter().map(move |requirement| for_extra(requirement, extra))
    });
    requires.iter().cloned().chain(by_extra).collect()
}

fn for_extra(requirement: &str, extra: &str) -> String {
    match requirement.split_once(';') {
        None => format!("{requirement}; extra == \"{extra}\""),
        Some((what, marker)) => {
            format!("{what}; ({}) and extra == \"{extra}\"", marker.trim())
        }
    }
}

/// Requirements and extras. If packages are published for both systems, lines of one get a marker
/// (PEP 508): installers on the other report them as ignored.
pub(super) fn selected(
    manifest: &Manifest,
    other: Option<(System, &Manifest)>,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<(Vec<String>, Extras), NameError> {
    let lists_of = |manifest, dist: &ResolvedDist<'_>| {
        Ok((requires(manifest, targets, dist)?, extras(manifest, targets, dist)?))
    };
    let lists = lists_of(manifest, dist)?;
    let Some((system, manifest)) = other else { return Ok(lists) };
    let Some(package) = manifest.packages.get(&dist.package.name.value) else { return Ok(lists) };
    let other_lists = lists_of(manifest, &ResolvedDist { package, ..dist.clone() })?;
    let mut pairs = [(targets.system, lists), (system, other_lists)];
    pairs.sort_by_key(|(system, _)| *system);
    let [(first, (required, mut offered)), (second, (needs, mut offers))] = pairs;
    let required = merged(required, first, &needs, second);
    let names: BTreeSet<String> =
        offered.by_name.keys().chain(offers.by_name.keys()).cloned().collect();
    for name in names {
        let take = |extras: &mut Extras| extras.by_name.remove(&name).unwrap_or_default();
        let requirements = merged(take(&mut offered), first, &take(&mut offers), second);
        offered.by_name.insert(name, requirements);
    }
    Ok((required, offered))
}

fn merged(one: Vec<String>, of: System, other: &[String], system: System) -> Vec<String> {
    let marked = |requirement: String, system: System| {
        if requirement.contains(';') {
            return requirement;
        }
        format!("{requirement}; sys_platform == \"{}\"", system.sys_platform())
    };
    let in_one: HashSet<&String> = one.iter().collect();
    let alone: Vec<String> = other.iter().filter(|text| !in_one.contains(text)).cloned().collect();
    let in_other: HashSet<&String> = other.iter().collect();
    let lines =
        one.into_iter().map(|text| if in_other.contains(&text) { text } else { marked(text, of) });
    lines.chain(alone.into_iter().map(|text| marked(text, system))).collect()
}

fn declared<'a>(
    manifest: &'a Manifest,
    package: &PackageName,
) -> Option<&'a manifest::Distribution> {
    manifest.packages.get(package).and_then(|p| p.distribution())
}

fn variants(
    declared: &manifest::Distribution,
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Vec<Variant> {
    match &dist.variant {
        Variant::Of(per, _) if *per == declared.per => vec![dist.variant.clone()],
        _ => declared.per.variants(&Published(targets)),
    }
}

fn requirement(
    declared: &manifest::Distribution,
    targets: &Targets,
    variant: &Variant,
) -> Result<String, NameError> {
    let pinned = pinned(declared, targets, variant)?;
    Ok(match only_on(targets, variant) {
        Some(system) => format!("{pinned}; sys_platform == \"{}\"", system.sys_platform()),
        None => pinned,
    })
}

fn pinned(
    declared: &manifest::Distribution,
    targets: &Targets,
    variant: &Variant,
) -> Result<String, NameError> {
    let name = dist_name(declared, variant)?;
    Ok(format!("{name}=={}", targets.version_of(&name)))
}

fn only_on(targets: &Targets, variant: &Variant) -> Option<System> {
    let target = variant.as_str().filter(|_| targets.marked)?.to_owned();
    let mut systems = targets
        .published
        .iter()
        .filter(|(_, list)| list.contains(&target))
        .map(|(system, _)| *system);
    let first = systems.next()?;
    systems.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Case, Fixture, package};

    #[test]
    fn what_one_system_alone_requires_gets_its_marker_once() {
        let linux = ["a==1", "b==1", "c==1; python_version < \"4\""];
        let windows = ["a==1", "d==1", "e==1; python_version < \"4\""];
        let merged = merged(
            linux.map(str::to_owned).into(),
            System::Linux,
            &windows.map(str::to_owned),
            System::Windows,
        );
        assert_eq!(
            merged,
            [
                "a==1",
                "b==1; sys_platform == \"linux\"",
                "c==1; python_version < \"4\"",
                "d==1; sys_platform == \"win32\"",
                "e==1; python_version < \"4\"",
            ]
        );
    }

    #[test]
    fn a_level_is_required_of_packages_that_have_something_for_it() {
        let families = "isa \"gfx1250\" parent=\"gfx12\" product=\"A\"\nlevel \"gfx12\"\n";
        let device = |name: &str, artifact: &str| {
            let distribution =
                format!("\"x-{name}-{{isa}}\" module=\"x_{name}_{{isa}}\" per=\"isa\"");
            package(name, "runtime", &distribution, &format!("artifact \"{artifact}\" \"lib\""))
        };
        let packages = [device("one", "a"), device("two", "b")];
        let entries = "a_lib_gfx1250 f text f\na_lib_gfx12 g text g\nb_lib_gfx1250 h text h";
        let fixture = Fixture::of(&Case::new(&packages, entries).families(families));
        let required: Vec<(String, Vec<String>)> = fixture
            .dists()
            .iter()
            .map(|dist| {
                (
                    dist.name.to_string(),
                    requires(&fixture.manifest, &fixture.targets, dist).unwrap(),
                )
            })
            .collect();
        let expected = [
            ("x-one-gfx1250", vec!["x-one-gfx12==1.0"]),
            ("x-one-gfx12", vec![]),
            ("x-two-gfx1250", vec![]),
        ];
        let found: Vec<(&str, Vec<&str>)> = required
            .iter()
            .map(|(name, list)| (name.as_str(), list.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(found, expected);
    }
}
