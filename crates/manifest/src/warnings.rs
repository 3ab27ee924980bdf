//! Warnings of doubtful lines.

use std::collections::HashSet;

use super::{LicenseExpression, Manifest, Package, PackageKind, RpathRule};
use base::names::{PackageName, RelPath};
use base::source::{Code, Place, Problem, Problems, Spanned};
use base::target::{Per, Target};

mod misspelled;

pub(super) fn misspellings(manifest: &Manifest) -> Problems {
    misspelled::collect(manifest)
}

/// In the order of the file.
pub(super) fn collect(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    manifest
        .project
        .licenses
        .iter()
        .for_each(|license_of| problems.extend(deprecated(&license_of.license)));
    for package in manifest.packages.values() {
        package.license.iter().for_each(|license| problems.extend(deprecated(license)));
        package.rpaths.iter().for_each(|rule| problems.extend(rpath(rule)));
        for alias in &package.aliases {
            let directory = alias.path.value.parent();
            problems
                .extend(directory.map_or_else(Problems::new, |d| elsewhere(&d, &alias.path.place)));
        }
        problems.extend(overlay(package));
    }
    problems.extend(unoffered(manifest));
    problems.extend(misspelled::collect(manifest));
    problems
}

pub(super) fn unoffered(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    let packages = || manifest.packages.values();
    let Some(selector) = packages().find(|p| p.kind == PackageKind::Selector) else {
        return problems;
    };
    let relied_on: HashSet<&PackageName> = packages().flat_map(relied_on).collect();
    for package in packages().filter(|p| p.kind != PackageKind::Selector) {
        if !relied_on.contains(&package.name.value) {
            problems.push(never_installed(package, selector));
        }
    }
    problems
}

fn relied_on(package: &Package) -> impl Iterator<Item = &PackageName> {
    let of_indexes = package.indexes.iter().flat_map(|index| &index.requires);
    let required = package.requires.iter().chain(of_indexes).map(|rule| &rule.package.value);
    required.chain(package.extras.iter().map(|extra| &extra.package.value))
}

fn never_installed(package: &Package, selector: &Package) -> Problem {
    let name = &*package.name;
    let is_apart = |target: Target| {
        let (of_selector, of_package) =
            (selector.distribution_for(target), package.distribution_for(target));
        of_selector.zip(of_package).is_some_and(|(a, b)| b.per != Per::None && a.per != b.per)
    };
    let pick = if Target::ALL.into_iter().any(is_apart) { " offer=\"all\"" } else { "" };
    Problem::warning(
        Code::NotOffered,
        format!("no extra offers package `{name}`, and no package requires it"),
    )
    .label(&package.name.place, "users can install it only by its name")
    .label(&selector.name.place, "no extra for it")
    .of_fact(name.as_str())
    .help(format!("add to `{}`: extra \"{name}\" package=\"{name}\"{pick}", *selector.name))
}

fn deprecated(license: &Spanned<LicenseExpression>) -> Problems {
    let mut problems = Problems::new();
    for id in license.value.deprecated() {
        // The identifiers of GNU are deprecated because they leave open whether later versions count.
        let gnu = spdx::license_id(id).is_some_and(spdx::LicenseId::is_gnu);
        let help = if gnu {
            format!("write `{id}-only` or `{id}-or-later`")
        } else {
            "see its successor on https://spdx.org/licenses".to_owned()
        };
        problems.push(
            Problem::warning(
                Code::DeprecatedLicense,
                format!(
                    "`{id}` is a deprecated SPDX \
                identifier"
                ),
            )
            .label(&license.place, "deprecated")
            .help(help),
        );
    }
    problems
}

fn rpath(rule: &RpathRule) -> Problems {
    elsewhere(&rule.directory, &rule.package.place)
}

/// Libraries are installed below `lib`, `lib64` and the like.
fn elsewhere(directory: &RelPath, place: &Place) -> Problems {
    if directory.segments().any(|segment| segment.starts_with("lib")) {
        return Problems::new();
    }
    Problem::warning(
        Code::NotALibraryDirectory,
        format!("`{directory}` is an unusual directory for libraries"),
    )
    .label(place, "no segment begins with `lib`")
    .help("check the directory")
    .into()
}

fn overlay(package: &Package) -> Problems {
    let Some(owner) = package
        .overlay
        .as_ref()
        .filter(|owner| package.requires.iter().all(|r| r.package.value != owner.value))
    else {
        return Problems::new();
    };
    Problem::warning(
        Code::OverlayNotRequired,
        format!("package `{}` overlays `{}`, but does not require it", *package.name, owner.value),
    )
    .label(&owner.place, "without `requires`, the platform directory can be missing")
    .help(format!("add the line `requires \"{}\"`", owner.value))
    .into()
}
