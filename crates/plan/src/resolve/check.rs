use std::collections::{BTreeMap, HashMap};

use super::describe::pattern_without_match;
use super::ignored::IgnoreLines;
use super::links::{Filled, by_package};
use super::resolved_dist::ResolvedDist;
use crate::Distribution;
use base::names::{ModuleName, PackageName, RelPath, System};
use base::source::{Code, Problem, Problems};
use base::text::counted;
use manifest::{Library, Package};

pub(super) fn directories(made: &[(ResolvedDist<'_>, Distribution)]) -> Problems {
    let mut problems = Problems::new();
    let made_of = Made::new(made);
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
            let mut owners = made_of.packages.get(&rule.package.value).into_iter().flatten();
            let owner = owners.find(|owner| dist.relies_on(owner));
            if owner.is_some_and(|owner| !made_of.has_directory(owner, &rule.directory)) {
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

/// Distributions by package, and by platform directory, which overlays share.
struct Made<'m, 'a> {
    packages: HashMap<&'m PackageName, Vec<&'m ResolvedDist<'a>>>,
    directories: HashMap<&'m ModuleName, Vec<&'m Distribution>>,
}

impl<'m, 'a> Made<'m, 'a> {
    fn new(made: &'m [(ResolvedDist<'a>, Distribution)]) -> Self {
        let mut new = Self { packages: HashMap::new(), directories: HashMap::new() };
        for (dist, distribution) in made {
            new.packages.entry(&dist.package.name.value).or_default().push(dist);
            new.directories.entry(&dist.platform_dir).or_default().push(distribution);
        }
        new
    }

    fn has_directory(&self, owner: &ResolvedDist<'_>, directory: &RelPath) -> bool {
        let prefix = format!("{}/{directory}/", owner.platform_dir);
        let mut distributions = self.directories.get(&owner.platform_dir).into_iter().flatten();
        distributions.any(|distribution| {
            let first = distribution.members.partition_point(|m| m.path.as_str() < &*prefix);
            distribution.members.get(first).is_some_and(|m| m.path.as_str().starts_with(&prefix))
        })
    }
}

pub(super) fn libraries(
    filled: &[Filled<'_>],
    system: System,
    ignore_lines: &IgnoreLines<'_>,
) -> Problems {
    let mut problems = Problems::new();
    let mut packages: Vec<&Package> = filled.iter().map(|f| f.dist.package).collect();
    packages.dedup_by_key(|package| &package.name.value);
    let filled = by_package(filled);
    for package in packages {
        let of_package = filled.get(&package.name.value).map_or(&[][..], Vec::as_slice);
        let needed = package.libraries.iter().filter(|library| library.optional.is_none());
        let mut missing: BTreeMap<Option<usize>, Vec<(&Library, String)>> = BTreeMap::new();
        for library in needed {
            let Some((pattern, label)) = in_vain(library, of_package, system) else { continue };
            let rule = ignore_lines.accept(Code::MissingLibrary, &package.name, &pattern);
            missing.entry(rule).or_default().push((library, label));
        }
        for (rule, missing) in missing {
            let message = format!(
                "package `{}` lacks {} that the runtime finds by name",
                *package.name,
                library_count(missing.len())
            );
            let problem = Problem::warning(Code::MissingLibrary, message)
                .help("correct the pattern, take the library, or give a reason: optional=\"…\"");
            let labelled = missing.into_iter().fold(problem, |problem, (library, label)| {
                problem.label(&library.name.place, label)
            });
            problems.push(ignore_lines.with_reason(labelled, rule));
        }
    }
    problems
}

fn library_count(libraries: usize) -> String {
    if libraries == 1 { "a library".to_owned() } else { counted(libraries, "library") }
}

fn in_vain(library: &Library, all: &[&Filled<'_>], system: System) -> Option<(String, String)> {
    let unmatched: Vec<_> = all
        .iter()
        .filter_map(|f| Some((f, pattern_without_match(library, system, &f.runtime.placed)?)))
        .collect();
    let (first, pattern) = unmatched.first()?;
    let label = match unmatched.len() {
        many if many == all.len() => format!("no file matches `{pattern}`"),
        1 => format!("no file of {} matches `{pattern}`", first.dist.name),
        many => format!("no file of {} and {} more matches `{pattern}`", first.dist.name, many - 1),
    };
    Some(((*pattern).to_owned(), label))
}
