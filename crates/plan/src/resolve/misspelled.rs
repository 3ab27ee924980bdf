//! Lines that may match nothing, but nearly match something.

use std::collections::BTreeSet;

use super::describe::starts;
use super::links::{Filled, by_package};
use base::names::{RelPath, System};
use base::source::{Code, Place, Problem, Problems, misspelled};
use catalog::{Catalog, CatalogEntry};
use manifest::{Glob, Manifest, Package, ScriptTarget};

pub(super) fn check(
    manifest: &Manifest,
    catalog: &Catalog,
    filled: &[Filled<'_>],
    system: System,
) -> Problems {
    let mut problems = artifacts(manifest, catalog);
    let filled = by_package(filled);
    for package in manifest.packages.values() {
        let of_package = filled.get(&package.name.value).map_or(&[][..], Vec::as_slice);
        problems.extend(scripts(package, of_package, system));
        problems.extend(aliases(package, of_package));
    }
    problems.extend(globs(manifest, catalog));
    problems
}

fn warning(place: &Place, message: String, near: &str) -> Problem {
    Problem::warning(Code::Misspelled, message)
        .label(place, format!("did you mean `{near}`?"))
        .of_fact(place.to_string())
        .help("correct the name, or remove it")
}

fn artifacts(manifest: &Manifest, catalog: &Catalog) -> Problems {
    let mut problems = Problems::new();
    let existing_names: BTreeSet<&str> =
        catalog.artifacts.iter().map(|a| a.id.name.as_str()).collect();
    for package in manifest.packages.values() {
        let named: BTreeSet<&str> =
            package.artifacts.iter().map(|rule| rule.name.as_str()).collect();
        let free = || existing_names.iter().copied().filter(|name| !named.contains(name));
        for rule in package.artifacts.iter().filter(|rule| rule.optional.is_some()) {
            let name = rule.name.as_str();
            if let Some(near) = misspelled(name, free()).filter(|_| !existing_names.contains(name))
            {
                let message = format!("there is no artifact `{name}`");
                problems.push(warning(&rule.name.place, message, near));
            }
        }
    }
    problems
}

fn scripts(package: &Package, filled: &[&Filled<'_>], system: System) -> Problems {
    let mut problems = Problems::new();
    let ships = |path: &RelPath| filled.iter().any(|one| one.runtime.placed.contains_key(path));
    let program = |script: &manifest::Script| match &script.target.value {
        ScriptTarget::Program(program) => Some(program.clone()),
        ScriptTarget::Function(_) => None,
    };
    let started: BTreeSet<RelPath> = package.scripts.iter().filter_map(program).collect();
    for script in package.scripts.iter().filter(|script| script.optional.is_some()) {
        let Some(program) = program(script).filter(|_| !starts(script, system, ships)) else {
            continue;
        };
        let placed = filled.iter().flat_map(|one| one.runtime.placed.keys());
        if let Some(near) = near_path(&program, placed.filter(|path| !started.contains(*path))) {
            let message = format!("package `{}` has no program `{program}`", *package.name);
            problems.push(warning(&script.target.place, message, near));
        }
    }
    problems
}

fn aliases(package: &Package, filled: &[&Filled<'_>]) -> Problems {
    let mut problems = Problems::new();
    let named: BTreeSet<&RelPath> = package.aliases.iter().map(|rule| &rule.path.value).collect();
    for rule in package.aliases.iter().filter(|rule| rule.optional.is_some()) {
        let is_there = |one: &&Filled<'_>| {
            one.runtime.aliases.contains_key(&*rule.path)
                || one.runtime.placed.contains_key(&*rule.path)
        };
        if filled.iter().any(is_there) {
            continue;
        }
        let links = filled.iter().flat_map(|one| one.runtime.aliases.keys());
        if let Some(near) = near_path(&rule.path, links.filter(|path| !named.contains(path))) {
            let message = format!("package `{}` has no library `{}`", *package.name, *rule.path);
            problems.push(warning(&rule.path.place, message, near));
        }
    }
    problems
}

fn near_path<'p>(path: &RelPath, free: impl Iterator<Item = &'p RelPath>) -> Option<&'p str> {
    fn name(path: &RelPath) -> &str {
        let name = path.file_name();
        name.strip_prefix("lib").and_then(|name| name.split(".so").next()).unwrap_or(name)
    }
    let siblings: Vec<&RelPath> = free.filter(|other| other.parent() == path.parent()).collect();
    let near = misspelled(name(path), siblings.iter().map(|other| name(other)))
        .filter(|near| !is_other_word(name(path), near))?;
    siblings.into_iter().find(|other| name(other) == near).map(RelPath::as_str)
}

/// Returns true for names that differ in one short word, such as `x-rt` and `x-dl`.
fn is_other_word(one: &str, other: &str) -> bool {
    let words = |name: &str| name.split(['-', '_']).map(str::to_owned).collect::<Vec<_>>();
    let (first, second) = (words(one), words(other));
    let mut differ = first.iter().zip(&second).filter(|(a, b)| a != b);
    let short = |(a, b): (&String, &String)| a.len().max(b.len()) <= 3;
    first.len() == second.len() && differ.next().is_some_and(short) && differ.next().is_none()
}

fn globs(manifest: &Manifest, catalog: &Catalog) -> Problems {
    let packages = || manifest.packages.values();
    let narrowing = packages().flat_map(|p| p.includes.iter().chain(p.excludes.iter()));
    let narrowing = narrowing.filter(|rule| rule.optional.is_some()).map(|rule| &rule.glob);
    let forbidden = packages().flat_map(|p| p.forbids.iter()).map(|rule| &rule.glob);
    let allowed = manifest.excuses.with(Code::MisplacedCode).filter(|rule| rule.optional.is_some());
    let globs: Vec<_> =
        narrowing.chain(forbidden).chain(allowed.filter_map(|rule| rule.glob.as_ref())).collect();
    let mut problems = Problems::new();
    for glob in &globs {
        let other_globs = || globs.iter().filter(|other| other.as_str() != glob.as_str());
        let is_other = |near: &str| other_globs().any(|other| other.as_str() == near);
        if let Some(near) = near_glob(catalog, glob).filter(|near| !is_other(near)) {
            let message = format!("`{}` matches no path of an artifact", glob.as_str());
            problems.push(warning(&glob.place, message, &near));
        }
    }
    problems
}

fn near_glob(catalog: &Catalog, glob: &Glob) -> Option<String> {
    let segments: Vec<&str> = glob.as_str().split('/').collect();
    let is_literal = |segment: &&str| !segment.contains(['*', '?', '[', '{']);
    let literal = segments.iter().take_while(|s| is_literal(s)).count();
    let first =
        |segment: &str| segment.split(['*', '?', '[', '{']).next().unwrap_or_default().len();
    for at in (0..=literal).take_while(|at| *at < segments.len()) {
        let length = first(segments[at]);
        let word = &segments[at][..length];
        let start: String = segments[..at].iter().flat_map(|segment| [segment, "/"]).collect();
        let names = names_below(catalog, &start);
        if names.is_empty() {
            return None;
        }
        let is_whole = is_literal(&segments[at]);
        let words =
            names.iter().filter_map(|name| if is_whole { Some(*name) } else { name.get(..length) });
        if let Some(near) = misspelled(word, words) {
            let rest = &glob.as_str()[start.len() + length..];
            return Some(format!("{start}{near}{rest}"))
                .filter(|near| near.parse().is_ok_and(|near: Glob| matches(catalog, &near)));
        }
    }
    None
}

fn matches(catalog: &Catalog, glob: &Glob) -> bool {
    let entries = catalog.artifacts.iter().flat_map(|artifact| &artifact.entries);
    entries.into_iter().any(|entry| glob.matches(&entry.path))
}

/// Returns the names of files and directories below `start`, which is empty or ends with `/`.
fn names_below<'c>(catalog: &'c Catalog, start: &str) -> BTreeSet<&'c str> {
    let mut names = BTreeSet::new();
    for artifact in &catalog.artifacts {
        let from = artifact.entries.partition_point(|entry| entry.path.as_str() < start);
        let mut rest = &artifact.entries[from..];
        while let Some(path) = rest.first().map(|entry| entry.path.as_str()) {
            let Some(below) = path.strip_prefix(start) else { break };
            let name = below.split('/').next().unwrap_or_default();
            names.insert(name);
            // Most of a catalog is further below.
            let directory = &path[..path.len() - below.len() + name.len()];
            let is_inside = |entry: &CatalogEntry| {
                let rest = entry.path.as_str().strip_prefix(directory);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let inside = if below == name { 1 } else { rest.partition_point(is_inside) };
            rest = &rest[inside..];
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_word_is_no_misspelling() {
        assert!(is_other_word("rocprof-sys-rt", "rocprof-sys-dl"));
        for (one, other) in [("hipblass", "hipblas"), ("rocprof-sys-user", "rocprof-sys-usr")] {
            assert!(!is_other_word(one, other), "{one} {other}");
        }
    }
}
