//! Indexes of selectors: requirements, names and shelves.

use crate::decode::Faults;
use crate::{Families, IndexRule, Package, Publishing, RequireRule};
use base::names::{PackageName, normalized};
use base::source::{Code, Problem, Problems, nearest};
use base::target::{Per, Target, Values as _};

use indexmap::IndexMap;

pub(super) fn check(faults: &Faults, package: &Package, packages: &[Package]) {
    for index in &package.indexes {
        if let Some(problem) = several(package, index) {
            faults.report(problem);
        }
        for rule in &index.requires {
            let target = packages.iter().find(|o| o.name.value == rule.package.value);
            let problem = target.and_then(|target| required(package, index, rule, target));
            if let Some(problem) = problem {
                faults.report(problem);
            }
        }
    }
}

/// Reports an index with several selectors.
fn several(package: &Package, index: &IndexRule) -> Option<Problem> {
    let counts = |at: &Target| index.when.holds(*at);
    let mut built =
        Target::ALL.into_iter().filter(counts).filter_map(|at| package.distribution_for(at));
    let other = built.find(|distribution| distribution.per != Per::None)?;
    let message = format!("index `{}` would have several selectors", index.name.value);
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&index.name.place, "one index has one of them")
        .label(&other.name.place, format!("per=\"{}\" makes one each", other.per.word()));
    Some(problem.help("limit the line to a mode in which there is one selector: mode=\"kpack\""))
}

/// Returns the fault of a requirement: of a package that is not built, or of an ambiguous distribution.
fn required(
    package: &Package,
    index: &IndexRule,
    rule: &RequireRule,
    target: &Package,
) -> Option<Problem> {
    let (name, other) = (&package.name.value, &target.name.value);
    if name == other {
        let message = format!("package `{name}` requires itself");
        let problem = Problem::error(Code::RequiresCycle, message);
        let label = "name another package here, or take the line away";
        return Some(problem.label(&rule.package.place, label));
    }
    if !package.is_whole() || !target.is_whole() {
        return None;
    }
    let counts = |at: &Target| {
        index.when.holds(*at) && rule.when.holds(*at) && package.distribution_for(*at).is_some()
    };
    let targets: Vec<Target> = Target::ALL.into_iter().filter(counts).collect();
    if let Some(at) = targets.iter().find(|at| target.distribution_for(**at).is_none()) {
        let place = format!("mode {} on {}", at.mode, at.system.as_str());
        let message = format!(
            "index `{}` requires `{other}`, which is not built in {place}",
            index.name.value
        );
        let problem = Problem::error(Code::NotBuiltInMode, message)
            .label(&rule.package.place, format!("there is no `{other}` in {place}"))
            .label(&target.name.place, "by the distributions here");
        let help = "limit the line to where the package is built, as with mode=\"kpack\"";
        return Some(problem.help(help));
    }
    let mut built = targets.into_iter().filter_map(|at| target.distribution_for(at));
    let several = built.find(|distribution| distribution.per != Per::None && !rule.all)?;
    let message = format!(
        "index `{}` requires `{other}`, of which there is one for each {}",
        index.name.value, several.per
    );
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&rule.package.place, "which of them is meant?")
        .label(&several.name.place, "makes several");
    Some(problem.help("write offer=\"all\" to require every one"))
}

/// Reports taken names of indexes, and shelves of unknown indexes.
pub(in super::super) fn names(
    packages: &IndexMap<PackageName, Package>,
    publishing: &Publishing,
    families: &Families,
) -> Problems {
    let mut problems = Problems::new();
    let all = || packages.values().flat_map(|package| &package.indexes);
    for index in all() {
        let name = index.name.as_str();
        let owner = if families.families().iter().any(|family| family == name) {
            Some("a target of this name can have a directory there")
        } else if distributions(packages, families).any(|other| other == name) {
            Some("the pages of a distribution of this name lie there")
        } else {
            None
        };
        if let Some(label) = owner {
            let message = format!("`{name}` cannot be the name of an index");
            let problem = Problem::error(Code::InvalidText, message);
            problems
                .push(problem.label(&index.name.place, label).help("take another, such as `whl`"));
        }
    }
    for index in publishing.shelves.iter().filter_map(|shelf| shelf.index.as_ref()) {
        if all().all(|other| other.name.value != index.value) {
            let known = nearest(index.as_str(), all().map(|other| other.name.as_str()));
            let label = known.map_or("nothing is called so".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
            let message = format!("there is no index `{}`", index.value);
            problems.push(
                Problem::error(Code::UnknownIndex, message)
                    .label(&index.place, label)
                    .help("an `index` line in a selector makes one"),
            );
        }
    }
    problems
}

/// Returns the names of distributions, as indexes compare them.
fn distributions<'p>(
    packages: &'p IndexMap<PackageName, Package>,
    families: &'p Families,
) -> impl Iterator<Item = String> + 'p {
    let declared = packages.values().flat_map(|package| &package.distributions);
    declared.flat_map(|declared| {
        let variants = declared.per.variants(families).into_iter();
        variants.filter_map(|variant| normalized(&declared.name.fill(&variant)))
    })
}
