//! Indexes of selectors: requirements, names and shelves.

use crate::decode::Faults;
use crate::{Families, IndexRule, Package, Publishing, RequireRule};
use base::names::{PackageName, normalized};
use base::source::{Code, Problem, Problems, nearest};
use base::target::{Per, Target, Values as _};

use indexmap::IndexMap;

pub(super) fn check(faults: &Faults, package: &Package, packages: &[Package]) {
    for index in &package.indexes {
        if let Some(problem) = split_selector(package, index) {
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

fn split_selector(package: &Package, index: &IndexRule) -> Option<Problem> {
    let applies = |target: &Target| index.when.holds(*target);
    let mut built = Target::ALL
        .into_iter()
        .filter(applies)
        .filter_map(|target| package.distribution_for(target));
    let split_selector = built.find(|distribution| distribution.per != Per::None)?;
    let message = format!("index `{}` must have one selector, not several", index.name.value);
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&index.name.place, "one selector required")
        .label(
            &split_selector.name.place,
            format!("per=\"{}\" makes several selectors", split_selector.per.word()),
        );
    Some(problem.help("limit the line to a mode with one selector: mode=\"kpack\""))
}

/// Returns the fault of a requirement: of a package that is not built, or of an ambiguous distribution.
fn required(
    package: &Package,
    index: &IndexRule,
    rule: &RequireRule,
    target: &Package,
) -> Option<Problem> {
    let (name, required_name) = (&package.name.value, &target.name.value);
    if name == required_name {
        let message = format!("package `{name}` requires itself");
        let problem = Problem::error(Code::RequiresCycle, message);
        let label = "name another package, or remove the line";
        return Some(problem.label(&rule.package.place, label));
    }
    if !package.is_whole() || !target.is_whole() {
        return None;
    }
    let counts = |built_for: &Target| {
        index.when.holds(*built_for)
            && rule.when.holds(*built_for)
            && package.distribution_for(*built_for).is_some()
    };
    let targets: Vec<Target> = Target::ALL.into_iter().filter(counts).collect();
    if let Some(missing) =
        targets.iter().find(|missing| target.distribution_for(**missing).is_none())
    {
        let place = format!("mode {} on {}", missing.mode, missing.system.as_str());
        let message = format!(
            "index `{}` requires `{required_name}`, which is not built in {place}",
            index.name.value
        );
        let problem = Problem::error(Code::NotBuiltInMode, message)
            .label(&rule.package.place, format!("`{required_name}` does not exist in {place}"))
            .label(&target.name.place, "its distributions are declared here");
        let help = "limit the line to the modes and systems of the package, for example \
            mode=\"kpack\"";
        return Some(problem.help(help));
    }
    let mut built = targets.into_iter().filter_map(|built_for| target.distribution_for(built_for));
    let several = built.find(|distribution| distribution.per != Per::None && !rule.is_of_all())?;
    let message = format!(
        "index `{}` requires `{required_name}`, which has a distribution for each {}",
        index.name.value, several.per
    );
    let problem = Problem::error(Code::OtherTarget, message)
        .label(&rule.package.place, "ambiguous")
        .label(&several.name.place, "several distributions");
    Some(problem.help("write offer=\"all\" to require all of them"))
}

pub(in super::super) fn names(
    packages: &IndexMap<PackageName, Package>,
    publishing: &Publishing,
    families: &Families,
) -> Problems {
    let mut problems = Problems::new();
    let indexes = || packages.values().flat_map(|package| &package.indexes);
    for index in indexes() {
        let name = index.name.as_str();
        let owner = if families.families().iter().any(|family| family == name) {
            Some("a target has this name")
        } else if distributions(packages, families).any(|distribution| distribution == name) {
            Some("a distribution has this name")
        } else {
            None
        };
        if let Some(label) = owner {
            let message = format!("`{name}` cannot be the name of an index");
            let problem = Problem::error(Code::InvalidText, message);
            problems.push(problem.label(&index.name.place, label).help(
                "choose another name, such as \
                    `whl`",
            ));
        }
    }
    for index in publishing.shelves.iter().filter_map(|shelf| shelf.index.as_ref()) {
        if indexes().all(|declared| declared.name.value != index.value) {
            let near_name =
                nearest(index.as_str(), indexes().map(|declared| declared.name.as_str()));
            let label = near_name
                .map_or("unknown name".to_owned(), |near| format!("did you mean `{near}`?"));
            let message = format!("unknown index `{}`", index.value);
            problems.push(
                Problem::error(Code::UnknownIndex, message)
                    .label(&index.place, label)
                    .help("declare it with an `index` line in a selector"),
            );
        }
    }
    problems
}

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
