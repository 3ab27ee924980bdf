//! Rules that match nothing: each is a mistake, unless the manifest says why it can be so.

use super::select::Matched;
use crate::catalog::{Artifact, Catalog};
use crate::manifest::{ArtifactRule, Manifest, Package, PathRule, applies};
use crate::names::{ArtifactName, Component, Mode};
use crate::source::{Place, Problem, Problems, nearest};

/// What to do about a rule that says it has to match.
const REMEDY: &str = "correct the name, remove the line, or say why it can be absent: optional=\"…\"";

/// The rules of a package that match nothing in any of its distributions.
pub(super) fn rules(manifest: &Manifest, catalog: &Catalog, package: &Package, mode: Mode, matched: &Matched<'_>) -> Problems {
    let mut problems = Problems::new();
    for rule in package.artifacts.iter().filter(|r| applies(r.mode, mode) && r.optional.is_none()) {
        artifact(catalog, rule, matched, &mut problems);
    }
    for without in package.without_artifacts.iter().filter(|w| !names(manifest, package).any(|name| *name == w.value)) {
        problems.push(left_out_in_vain(manifest, package, without, &without.place));
    }
    let globs = package.includes.iter().map(|r| ("includes", r)).chain(package.excludes.iter().map(|r| ("excludes", r)));
    for (what, rule) in globs.filter(|(_, r)| applies(r.mode, mode) && r.optional.is_none() && !matched.used(r)) {
        problems.push(
            Problem::error(format!("`{}` of package `{}` {what} nothing", rule.glob.as_str(), *package.name))
                .label(&rule.glob.place, why_no_path(catalog, rule, matched))
                .help("correct the glob, remove the line, or say why it can be so: optional=\"…\""),
        );
    }
    problems
}

fn artifact(catalog: &Catalog, rule: &ArtifactRule, matched: &Matched<'_>, problems: &mut Problems) {
    let name = &*rule.name;
    let there: Vec<&Artifact> = catalog.artifacts.iter().filter(|a| a.id.name == *name).collect();
    if there.is_empty() {
        let hint = nearest(name.as_str(), catalog.artifacts.iter().map(|a| a.id.name.as_str()));
        let label = hint.map_or_else(|| "no such artifact".to_owned(), |n| format!("no such artifact; did you mean `{n}`?"));
        problems.push(Problem::error(format!("artifact `{name}` is not there")).label(&rule.name.place, label).help(REMEDY));
        return;
    }
    let label = format!("takes nothing; there are {}", some(&there));
    if rule.components.is_empty() && Component::ALL.iter().all(|c| !matched.took(name, *c)) {
        let what = format!("artifact `{name}` has nothing that this package can take");
        problems.push(Problem::error(what).label(&rule.name.place, &*label).help(REMEDY));
    }
    for component in rule.components.iter().filter(|c| !matched.took(name, c.value)) {
        let what = format!("artifact `{name}` has no component `{}` that this package can take", **component);
        problems.push(Problem::error(what).label(&component.place, &*label).help(REMEDY));
    }
}

/// How many artifacts are named before the rest is counted.
const SHOWN: usize = 6;

fn some(artifacts: &[&Artifact]) -> String {
    let first: Vec<String> = artifacts.iter().take(SHOWN).map(|a| a.id.to_string()).collect();
    let more = if artifacts.len() > SHOWN { format!(" and {} more", artifacts.len() - SHOWN) } else { String::new() };
    first.join(", ") + &more
}

/// Where a glob would match, or else what is nearest to it.
fn why_no_path(catalog: &Catalog, rule: &PathRule, matched: &Matched<'_>) -> String {
    let elsewhere: Vec<&Artifact> = catalog.artifacts.iter().filter(|a| a.entries.iter().any(|e| rule.glob.matches(&e.path))).collect();
    if !elsewhere.is_empty() {
        return format!("only artifacts that this package does not take have such paths: {}", some(&elsewhere));
    }
    let taken = catalog.artifacts.iter().filter(|a| matched.took(&a.id.name, a.id.component));
    let near = nearest(rule.glob.as_str(), taken.flat_map(|a| &a.entries).map(|e| e.path.as_str()));
    near.map_or_else(|| "no installed path matches".to_owned(), |path| format!("no installed path matches; the nearest is `{path}`"))
}

/// The artifacts that a devel package names or inherits, in any mode.
fn names<'m>(manifest: &'m Manifest, package: &'m Package) -> impl Iterator<Item = &'m ArtifactName> {
    let inherited = package.artifacts_of.iter().filter_map(|p| manifest.packages.get(&p.value)).flat_map(|other| &other.artifacts);
    inherited.chain(&package.artifacts).map(|rule| &rule.name.value)
}

fn left_out_in_vain(manifest: &Manifest, package: &Package, name: &ArtifactName, place: &Place) -> Problem {
    let hint = nearest(name.as_str(), names(manifest, package).map(ArtifactName::as_str));
    let hint = hint.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    Problem::error(format!("package `{}` does not take artifact `{name}` anyway", *package.name))
        .label(place, format!("leaves out nothing{hint}"))
        .help("correct the name, or remove the line")
}
