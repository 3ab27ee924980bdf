//! Names of projects in lines about publishing and promotion.

use std::collections::BTreeSet;

use crate::{Glob, Manifest, PackageKind};
use base::names::normalized;
use base::source::{Code, Problem, Problems, Spanned, nearest};
use base::target::Target;
use base::text::counted;

/// Warns of unknown names with the prefix of the manifest's packages, and of packages that no
/// shelf takes.
pub(super) fn collect(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    let mut names = of_packages(manifest);
    let python = &manifest.python;
    let built = python.projects.iter().map(|project| &project.name);
    let built = built.chain(python.wheels.iter().map(|wheel| &wheel.name));
    names.extend(built.filter_map(|name| normalized(name.as_str())));
    let Some(prefix) = prefix(manifest) else { return problems };
    let published = &manifest.publishing;
    let promoted = manifest.promotions.iter().flat_map(|line| &line.names);
    let shelved = published.shelves.iter().flat_map(|shelf| &shelf.projects);
    for name in promoted.chain(shelved).chain(&published.outside) {
        let text = name.as_str();
        if text.starts_with(&prefix) && !names.iter().any(|package| is_name_of(name, package)) {
            problems.push(matches_nothing(name, &names));
        }
    }
    let Some(shelf) = published.shelves.last() else { return problems };
    let homeless = |name: &&String| {
        let is_taken = published.shelves.iter().any(|shelf| shelf.takes(name));
        !is_taken && !published.is_outside(name)
    };
    let packages = of_packages(manifest);
    let homeless: Vec<&String> = packages.iter().filter(homeless).collect();
    if let Some(first) = homeless.first() {
        let suffix = match homeless.len() - 1 {
            0 => String::new(),
            count => format!(" and {}", counted(count, "more package")),
        };
        let message = format!("no `shelf` takes `{first}`{suffix}: none is published on shelves");
        let problem = Problem::warning(Code::Misspelled, message);
        let problem = problem.label(&shelf.path.place, "the last shelf");
        problems.push(problem.help(format!("add to a shelf: project \"{first}\"")));
    }
    problems
}

fn matches_nothing(name: &Spanned<Glob>, names: &BTreeSet<String>) -> Problem {
    let message = format!("no package of this manifest is named `{}`", name.as_str());
    let label = match nearest(name.as_str(), names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "matches nothing".to_owned(),
    };
    let problem = Problem::warning(Code::Misspelled, message).label(&name.place, label);
    problem.help("correct the name, or remove it")
}

/// Beginning of the names of all other packages: the selector's, and `-`.
fn prefix(manifest: &Manifest) -> Option<String> {
    let selectors =
        manifest.packages.values().filter(|package| package.kind == PackageKind::Selector);
    let names =
        selectors.flat_map(|package| &package.distributions).map(|package| package.name.as_str());
    names.filter_map(normalized).map(|name| name + "-").next()
}

fn of_packages(manifest: &Manifest) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for package in manifest.packages.values() {
        for declared in Target::ALL.iter().filter_map(|target| package.distribution_for(*target)) {
            let variants = declared.per.variants(&manifest.families).into_iter();
            names.extend(variants.filter_map(|variant| normalized(&declared.name.fill(&variant))));
        }
    }
    names
}

fn is_name_of(name: &Spanned<Glob>, candidate: &str) -> bool {
    candidate.parse().is_ok_and(|path| name.matches(&path))
}
