use std::collections::BTreeMap;

use super::links::Filled;
use super::place::{Placed, shared_library};
use base::source::{Code, Problem, Problems};
use catalog::{Catalog, CatalogEntry, EntryKind, FileType};
use manifest::{LibraryRule, Manifest};

/// A pattern for missing libraries may match one shipped library: other builds lack it.
pub(super) fn check(manifest: &Manifest, catalog: &Catalog, filled: &[Filled<'_>]) -> Problems {
    let mut problems = license_texts(manifest, catalog);
    let rules = [&manifest.system_libraries, &manifest.excuses.missing_libraries];
    if rules.into_iter().flatten().all(|rule| !rule.name.is_glob()) {
        return problems;
    }
    let shipped = shipped(filled);
    for rule in manifest.system_libraries.iter().filter(|rule| rule.name.is_glob()) {
        if let Some((name, package)) = shipped.iter().find(|(name, _)| rule.name.matches(name)) {
            let label = format!("matches `{name}`, which package `{package}` ships");
            problems.push(problem(rule, "is for libraries of the system", &label));
        }
    }
    for rule in manifest.excuses.missing_libraries.iter().filter(|rule| rule.name.is_glob()) {
        let matching = || shipped.keys().filter(|name| rule.name.matches(name));
        let Some(first) = matching().next() else { continue };
        if let Some(other) = matching().find(|other| stem(other) != stem(first)) {
            let label = format!("matches `{first}` and `{other}`, which packages ship");
            problems.push(problem(rule, "is for one missing library", &label));
        }
    }
    problems
}

/// Licence texts are in the metadata: a library there is found by no program.
fn license_texts(manifest: &Manifest, catalog: &Catalog) -> Problems {
    let mut problems = Problems::new();
    let entries = || catalog.artifacts.iter().flat_map(|artifact| &artifact.entries);
    for rule in manifest.project.license_texts.iter() {
        let is_code = |entry: &&CatalogEntry| {
            matches!(
                entry.kind,
                EntryKind::File { content: FileType::Elf(_) | FileType::Pe(_), .. }
            ) && rule.glob.matches(&entry.path)
        };
        if let Some(entry) = entries().find(is_code) {
            let message =
                format!("`{}` is for licence texts, but matches code", rule.glob.as_str());
            let problem = Problem::error(Code::TooWide, message);
            let label = format!("matches `{}`", entry.path);
            problems.push(
                problem.label(&rule.glob.place, label).help("write a part of the texts' names"),
            );
        }
    }
    problems
}

fn problem(rule: &LibraryRule, is: &str, label: &str) -> Problem {
    Problem::error(
        Code::TooWide,
        format!("`{}` {is}, but matches shipped ones", rule.name.as_str()),
    )
    .label(&rule.name.place, label)
    .help("name the libraries one by one")
}

fn shipped<'f>(filled: &'f [Filled<'_>]) -> BTreeMap<&'f str, &'f str> {
    let mut names = BTreeMap::new();
    for one in filled {
        for (path, (placed, _)) in &one.runtime.placed {
            let Placed::File(item) = placed else { continue };
            let Some(facts) = shared_library(item) else { continue };
            let name = path.segments().next_back().unwrap_or_default();
            for name in facts.soname.as_deref().into_iter().chain([name]) {
                names.entry(name).or_insert(one.dist.package.name.as_str());
            }
        }
    }
    names
}

fn stem(name: &str) -> &str {
    name.split(".so").next().unwrap_or(name)
}
