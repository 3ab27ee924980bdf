//! Checks of packages against each other.

use std::collections::HashMap;

use super::Faults;
use crate::package::distribution::check_extra;
use crate::package::variant;
use crate::{LicenseOf, Package, PackageKind, RequireRule, VariantRule};
use base::names::{ArtifactName, PackageName};
use base::source::{Code, Problem, Spanned, nearest};

mod circle;
mod incomplete;
mod index;
mod names;
mod reliance;
mod words;

pub(super) use circle::projects as circles;
pub(super) use index::names as indexes;
pub(super) use names::{colliding as colliding_names, own_required, unknown_subprojects};
pub(super) use words::unknown_targets;

use reliance::{check_modes, check_offered, check_targets};

pub(super) fn packages(
    faults: &Faults,
    packages: &[Package],
    licenses: Option<&[LicenseOf]>,
    templates: Option<&[&str]>,
) {
    let mut by_name = HashMap::new();
    for package in packages {
        by_name.entry(&package.name.value).or_insert(package);
    }
    let find = |name: &PackageName| by_name.get(name).copied();
    for package in packages {
        for extra in &package.extras {
            find(&extra.package.value)
                .inspect(|target| check_extra(faults, extra, &target.distributions));
            find(&extra.package.value)
                .inspect(|target| check_offered(faults, package, extra, target));
        }
        if let Some(rule) = &package.variant {
            find(&rule.package.value)
                .inspect(|target| check_variant(faults, package, rule, target));
        }
        for rule in &package.requires {
            find(&rule.package.value)
                .inspect(|target| check_required(faults, package, rule, target));
        }
        for searched in first_each(package.searched()) {
            find(&searched.value)
                .filter(|target| target.kind == PackageKind::Runtime)
                .inspect(|target| check_searched(faults, package, searched, target));
        }
        if let Some(overlay) = &package.overlay {
            find(&overlay.value)
                .filter(|target| target.kind == PackageKind::Runtime)
                .inspect(|target| check_overlay(faults, package, overlay, target));
        }
        index::check(faults, package, packages);
        check_left_out(faults, package, packages);
        templates.inspect(|templates| check_template(faults, package, templates));
    }
    incomplete::check(faults, packages, licenses);
    circle::check(faults, packages);
}

fn first_each<'p>(
    names: impl Iterator<Item = &'p Spanned<PackageName>>,
) -> Vec<&'p Spanned<PackageName>> {
    let mut first: Vec<&Spanned<PackageName>> = Vec::new();
    for name in names {
        if first.iter().all(|earlier| earlier.value != name.value) {
            first.push(name);
        }
    }
    first
}

fn is_required_in_full(package: &Package, rule: &RequireRule) -> bool {
    package.requires.iter().any(|r| r.is_of_all() && r.package.value == rule.package.value)
}

fn check_variant(faults: &Faults, package: &Package, rule: &VariantRule, target: &Package) {
    if !check_modes(faults, package, "has variants of", &rule.package.place, target) {
        variant::check_package(faults, rule, &target.distributions);
    }
}

fn check_required(faults: &Faults, package: &Package, rule: &RequireRule, target: &Package) {
    if package.name.value == target.name.value {
        let problem = Problem::error(
            Code::RequiresCycle,
            format!("package `{}` requires itself", package.name.value),
        );
        faults
            .report(problem.label(&rule.package.place, "name another package, or remove the line"));
    } else if !check_modes(faults, package, "requires", &rule.package.place, target)
        && !is_required_in_full(package, rule)
    {
        check_targets(faults, package, "requires", &rule.package.place, target);
    }
}

fn check_overlay(
    faults: &Faults,
    package: &Package,
    overlay: &Spanned<PackageName>,
    target: &Package,
) {
    let (name, target_name) = (&package.name.value, &target.name.value);
    if name == target_name {
        let problem =
            Problem::error(Code::ImpossibleOverlay, format!("package `{name}` overlays itself"));
        faults.report(
            problem
                .label(&overlay.place, "name the package whose platform directory takes the files"),
        );
    } else if let Some(further) = target.overlay.as_ref().filter(|further| further.value == *name) {
        // Both packages are checked; the first reports it for both.
        if overlay.place.line() <= further.place.line() {
            let problem = Problem::error(
                Code::ImpossibleOverlay,
                format!("packages `{name}` and `{target_name}` overlay each other"),
            );
            let problem = problem
                .label(&overlay.place, "overlays the other package")
                .label(&further.place, "and vice versa");
            faults.report(
                problem.help("remove one `overlay` line: one package needs a platform directory"),
            );
        }
    } else if let Some(further) = &target.overlay {
        let problem = Problem::error(
            Code::ImpossibleOverlay,
            format!("package `{name}` overlays `{target_name}`, which is an overlay itself"),
        );
        let problem = problem
            .label(&overlay.place, "this package has no platform directory")
            .label(&further.place, "because of this line");
        faults.report(problem.help(format!("overlay `{}` instead", further.value)));
    } else {
        check_modes(faults, package, "overlays", &overlay.place, target);
    }
}

fn check_searched(
    faults: &Faults,
    package: &Package,
    searched: &Spanned<PackageName>,
    target: &Package,
) {
    if package.name.value == target.name.value && target.overlay.is_none() {
        return;
    }
    if let Some(overlay) = &target.overlay {
        let problem = Problem::error(
            Code::NoPlatformDirectory,
            format!("package `{}` has no platform directory to search", searched.value),
        );
        let problem = problem
            .label(&searched.place, "not searchable")
            .label(&overlay.place, "the package is an overlay");
        faults.report(problem.help(format!("write \"{}\"", overlay.value)));
    } else if !check_modes(faults, package, "searches", &searched.place, target) {
        check_targets(faults, package, "searches", &searched.place, target);
    }
}

fn check_left_out(faults: &Faults, package: &Package, packages: &[Package]) {
    let inherited = package
        .artifacts_of
        .iter()
        .filter_map(|p| packages.iter().find(|o| o.name.value == p.value));
    let sources: Vec<&Package> = inherited.chain([package]).collect();
    let unknown = sources.len() <= package.artifacts_of.len()
        || sources.iter().any(|source| !source.has_all_artifacts());
    let artifacts: Vec<&ArtifactName> =
        sources.iter().flat_map(|source| &source.artifacts).map(|rule| &rule.name.value).collect();
    let left_out = package.without_artifacts.iter();
    let left_out = left_out.map(|name| (name, Code::LeavesOutNothing, "leaves out"));
    let all_targets = package.every_target_of.iter();
    let all_targets = all_targets.map(|name| (name, Code::MissingArtifact, "takes"));
    let lines = left_out
        .chain(all_targets)
        .filter(|(name, ..)| !unknown && !artifacts.contains(&&name.value));
    for (name, code, does) in lines {
        let hint = nearest(name.as_str(), artifacts.iter().map(|n| n.as_str()))
            .map(|n| format!("; did you mean `{n}`?"))
            .unwrap_or_default();
        let owner = &package.name.value;
        let message = format!("package `{owner}` does not take artifact `{}`", name.value);
        faults.report(
            Problem::error(code, message)
                .label(&name.place, format!("this line {does} nothing{hint}"))
                .help("correct the name, or remove the line"),
        );
    }
}

fn check_template(faults: &Faults, package: &Package, templates: &[&str]) {
    let Some(template) = &package.template else { return };
    if templates.contains(&template.as_str()) {
        return;
    }
    let label = match nearest(template.as_str(), templates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "unknown name".to_owned(),
    };
    let list = super::super::reader::listed(templates.iter().copied());
    let problem =
        Problem::error(Code::UnknownTemplate, format!("unknown template `{}`", template.value));
    faults.report(problem.label(&template.place, label).help(format!("the templates are {list}")));
}
