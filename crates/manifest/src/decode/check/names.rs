//! Names that collide once a target is filled in.

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;

use crate::{Distribution, Families, Package, Python};
use base::names::{DistName, PackageName, Requirement, normalized};
use base::source::{Code, Problem, Problems, Spanned, nearest};
use base::target::{Target, Variant};

type Owner<'p> = (&'p PackageName, &'p Distribution);

/// Reports distributions of two packages with one name, or one import package, in one mode.
pub(in super::super) fn colliding(
    packages: &IndexMap<PackageName, Package>,
    python: &Python,
    families: &Families,
) -> Problems {
    let mut problems = Problems::new();
    for target in Target::ALL {
        let (mut names, mut modules) = (BTreeMap::<String, Owner<'_>>::new(), BTreeMap::new());
        for package in packages.values() {
            let Some(declared) = package.distribution_for(target) else { continue };
            let owner: Owner<'_> = (&package.name.value, declared);
            for variant in variants(declared, families) {
                let name = declared.name.fill(&variant);
                let normal = name
                    .parse::<DistName>()
                    .map_or_else(|_| name.clone(), |name| name.normalized());
                let first = *names.entry(normal).or_insert(owner);
                problems.extend(clash("distribution", &name, first, owner));
                let module = declared.module.fill_identifier(&variant);
                let first = *modules.entry(module.clone()).or_insert(owner);
                problems.extend(clash("import package", &module, first, owner));
            }
        }
        for name in python.names() {
            if let Some(owner) = names.get(name.as_str()) {
                problems.push(occupied_name(name, *owner));
            }
        }
    }
    problems
}

fn occupied_name(name: &Spanned<PackageName>, (package, declared): Owner<'_>) -> Problem {
    Problem::error(
        Code::CollidingNames,
        format!("package `{package}` also makes a distribution `{}`", name.value),
    )
    .label(&name.place, "declared here")
    .label(&declared.name.place, declaration(declared))
    .help("give one of them another name")
    .of_fact(name.as_str())
}

fn variants(declared: &Distribution, families: &Families) -> Vec<Variant> {
    if declared.name.has_placeholder() {
        declared.per.variants(families)
    } else {
        vec![Variant::None]
    }
}

fn clash(noun: &str, name: &str, first: Owner<'_>, second: Owner<'_>) -> Problems {
    if first.0 == second.0 {
        return Problems::new();
    }
    Problem::error(
        Code::CollidingNames,
        format!("packages `{}` and `{}` both make the {noun} `{name}`", first.0, second.0),
    )
    .label(&second.1.name.place, declaration(second.1))
    .label(&first.1.name.place, declaration(first.1))
    .help("give one of them another name")
    .of_fact(format!("{} {}", first.0, second.0))
    .into()
}

fn declaration(declared: &Distribution) -> &'static str {
    if declared.name.has_placeholder() { "for a target of families.kdl" } else { "declared here" }
}

pub(in super::super) fn unknown_subprojects(
    packages: &IndexMap<PackageName, Package>,
    families: &Families,
) -> Problems {
    let rules = packages.values().flat_map(|package| &package.artifacts);
    let mut problems = Problems::new();
    for subproject in rules.filter_map(|rule| rule.subproject.as_ref()) {
        if families.subprojects.contains_key(&subproject.value) {
            continue;
        }
        let names = families.subprojects.keys().map(String::as_str);
        let label = match nearest(&subproject.value, names) {
            Some(near) => format!("families.kdl declares `{near}`; is one of the two misspelled?"),
            None => "families.kdl does not declare it".to_owned(),
        };
        let message = format!("unknown subproject `{}`", subproject.value);
        problems.push(
            Problem::error(Code::UnknownSubproject, message).label(&subproject.place, label).help(
                "declare it in families.kdl with the ISAs that lack it, or remove `subproject`",
            ),
        );
    }
    problems
}

/// Reports `requires-dist` of packages of this manifest: no version would be pinned.
pub(in super::super) fn own_required(packages: &IndexMap<PackageName, Package>) -> Problems {
    let (mut problems, mut owners) = (Problems::new(), HashMap::new());
    for package in packages.values() {
        let names = package.distributions.iter().filter_map(|d| normalized(d.name.as_str()));
        names.for_each(|name| _ = owners.entry(name).or_insert(package));
    }
    for rule in packages.values().flat_map(|package| &package.requires_dist) {
        let Ok(requirement) = rule.requirement.as_str().parse::<Requirement>() else { continue };
        if let Some(owner) = owners.get(&requirement.name) {
            let message = format!(
                "`requires-dist` names `{}`, a distribution of package `{}`",
                requirement.name, owner.name.value
            );
            problems.push(
                Problem::error(Code::InvalidText, message)
                    .label(
                        &rule.requirement.place,
                        "this line does not pin the version of this \
                        build",
                    )
                    .label(&owner.name.place, "declared here")
                    .help(format!("write requires \"{}\" to pin the version", owner.name.value)),
            );
        }
    }
    problems
}
