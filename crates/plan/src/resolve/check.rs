use std::collections::BTreeMap;

use super::describe::pattern_without_match;
use super::expected::Expectations;
use super::links::Filled;
use super::resolved_dist::ResolvedDist;
use crate::Distribution;
use base::names::System;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use manifest::{Library, Package};

pub(super) fn directories(made: &[(ResolvedDist<'_>, Distribution)]) -> Problems {
    let mut problems = Problems::new();
    for (dist, _) in made {
        let rpaths =
            dist.package.rpaths.iter().map(|rule| (rule, "libraries search this directory"));
        let environment = dist
            .package
            .environment
            .iter()
            .flat_map(|e| &e.directories)
            .map(|rule| (rule, "an environment variable contains this directory"));
        let python = dist.package.python_path.iter();
        let python = python.map(|rule| (rule, "Python searches this directory"));
        for (rule, label) in
            rpaths.chain(environment).chain(python).filter(|(rule, _)| rule.optional.is_none())
        {
            let owner = made
                .iter()
                .find(|(o, _)| o.package.name.value == *rule.package && dist.relies_on(o));
            let absent = |owner: &ResolvedDist<'_>| {
                !has_directory(made, &format!("{}/{}/", owner.platform_dir, *rule.directory))
            };
            if owner.is_some_and(|(owner, _)| absent(owner)) {
                problems.push(
                    Problem::warning(
                        Code::MissingDirectory,
                        format!(
                            "package `{}` has no directory `{}`",
                            *rule.package, *rule.directory
                        ),
                    )
                    .label(&rule.directory.place, label)
                    .of_fact(rule.directory.place.to_string())
                    .help(
                        "correct the directory, remove the line, or give a reason: \
                            optional=\"…\"",
                    ),
                );
            }
        }
    }
    problems
}

fn has_directory(made: &[(ResolvedDist<'_>, Distribution)], prefix: &str) -> bool {
    made.iter().any(|(_, distribution)| {
        let first = distribution.members.partition_point(|m| m.path.as_str() < prefix);
        distribution.members.get(first).is_some_and(|m| m.path.as_str().starts_with(prefix))
    })
}

pub(super) fn libraries(
    filled: &[Filled<'_>],
    system: System,
    expected: &Expectations<'_>,
) -> Problems {
    let mut problems = Problems::new();
    let mut packages: Vec<&Package> = filled.iter().map(|f| f.dist.package).collect();
    packages.dedup_by_key(|package| &package.name.value);
    for package in packages {
        let of_package: Vec<&Filled<'_>> =
            filled.iter().filter(|f| f.dist.package.name.value == package.name.value).collect();
        let needed = package.libraries.iter().filter(|library| library.optional.is_none());
        let mut missing: BTreeMap<Option<usize>, Vec<(&Library, String)>> = BTreeMap::new();
        for library in needed {
            let Some((pattern, label)) = in_vain(library, &of_package, system) else { continue };
            let rule = expected.find(Code::MissingLibrary, &package.name, &pattern);
            missing.entry(rule).or_default().push((library, label));
        }
        for (rule, missing) in missing {
            let what = format!(
                "package `{}` lacks {} that the runtime finds by name",
                *package.name,
                several(missing.len())
            );
            let problem = Problem::warning(Code::MissingLibrary, what)
                .help("correct the pattern, take the library, or give a reason: optional=\"…\"");
            let labelled = missing.into_iter().fold(problem, |problem, (library, label)| {
                problem.label(&library.name.place, label)
            });
            problems.push(expected.apply(labelled, rule));
        }
    }
    problems
}

fn several(libraries: usize) -> String {
    if libraries == 1 { "a library".to_owned() } else { counted(libraries, "library") }
}

fn in_vain(library: &Library, all: &[&Filled<'_>], system: System) -> Option<(String, String)> {
    let without: Vec<_> = all
        .iter()
        .filter_map(|f| Some((f, pattern_without_match(library, system, &f.runtime.placed)?)))
        .collect();
    let (first, pattern) = without.first()?;
    let label = match without.len() {
        many if many == all.len() => format!("no file matches `{pattern}`"),
        1 => format!("no file of {} matches `{pattern}`", first.dist.name),
        many => format!("no file of {} and {} more matches `{pattern}`", first.dist.name, many - 1),
    };
    Some(((*pattern).to_owned(), label))
}
