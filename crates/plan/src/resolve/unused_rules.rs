use std::collections::BTreeSet;

use super::directory;
use super::select::Matched;
use base::names::{ArtifactName, Component};
use base::source::{Capped, Code, Problem, Problems, nearest};
use catalog::{Artifact, Catalog, CatalogEntry, EntryKind};
use manifest::{ArtifactRule, Glob, Manifest, Package, PathRule};

const REMEDY: &str = "correct the name, remove the line, or give a reason: optional=\"…\"";
const GLOB_REMEDY: &str = "correct the glob, remove the line, or give a reason: optional=\"…\"";

pub(super) fn rules(catalog: &Catalog, package: &Package, matched: &Matched<'_>) -> Problems {
    let mut problems = artifacts(catalog, package, matched);
    let mut idle = Capped::default();
    let follow = following(catalog, package);
    let globs = package
        .includes
        .iter()
        .map(|r| ("includes", r))
        .chain(package.excludes.iter().map(|r| ("excludes", r)));
    for (what, rule) in globs.filter(|(_, r)| r.optional.is_none() && !matched.used(r)) {
        if !follow.contains(&std::ptr::from_ref(rule)) {
            idle.report(|| {
                let (label, help) = why_no_path(catalog, rule, matched);
                let (glob, package) = (rule.glob.as_str(), &*package.name);
                let message = format!("`{glob}` of package `{package}` {what} nothing");
                Problem::error(Code::MatchesNothing, message)
                    .label(&rule.glob.place, label)
                    .help(help)
            });
        }
    }
    problems.extend(idle.into_problems());
    problems
}

pub(super) fn artifacts(catalog: &Catalog, package: &Package, matched: &Matched<'_>) -> Problems {
    let mut problems = Problems::new();
    for rule in package.artifacts.iter().filter(|r| r.optional.is_none()) {
        artifact(catalog, package, rule, matched, &mut problems);
    }
    problems
}

/// Rules that match in proposed artifacts: the error of the missing artifact explains them.
fn following(catalog: &Catalog, package: &Package) -> BTreeSet<*const PathRule> {
    let proposed = proposed(catalog, package);
    let entries = proposed.into_iter().flat_map(|name| catalog.named(name)).flat_map(files);
    let lists = [&package.includes, &package.excludes];
    let rules = entries.flat_map(|entry| lists.map(|list| list.matching(&entry.path))).flatten();
    rules.map(|(_, rule)| std::ptr::from_ref(rule)).collect()
}

/// Artifacts that the errors of this package's missing artifacts propose. A line that may be
/// absent has no error, so it explains nothing.
pub(super) fn proposed<'a>(catalog: &'a Catalog, package: &Package) -> BTreeSet<&'a ArtifactName> {
    let rules = package.artifacts.iter().filter(|_| package.distribution().is_some());
    let missing =
        rules.filter(|rule| rule.optional.is_none() && catalog.named(&rule.name).is_empty());
    missing.filter_map(|rule| proposal(catalog, package, rule)).collect()
}

/// Artifact with a name near that of `missing`. None of the package's other lines takes the same
/// components of it: they would be given twice.
fn proposal<'a>(
    catalog: &'a Catalog,
    package: &Package,
    missing: &ArtifactRule,
) -> Option<&'a ArtifactName> {
    let takes_the_same = |rule: &ArtifactRule| {
        let (components, missing) = (&rule.components, &missing.components);
        components.is_empty()
            || missing.is_empty()
            || components.iter().any(|it| missing.iter().any(|other| other.value == it.value))
    };
    let is_free = |name: &ArtifactName| {
        !package.artifacts.iter().any(|rule| rule.name.value == *name && takes_the_same(rule))
    };
    let names = || catalog.artifacts.iter().map(|it| &it.id.name).filter(|name| is_free(name));
    let near = nearest(missing.name.as_str(), names().map(ArtifactName::as_str))?;
    names().find(|name| name.as_str() == near)
}

pub(super) fn inherits_missing(manifest: &Manifest, catalog: &Catalog, package: &Package) -> bool {
    let inherited = package
        .artifacts_of
        .iter()
        .filter_map(|p| manifest.packages.get(&p.value))
        // Other packages are not made, so their missing artifacts are no error.
        .filter(|other| other.distribution().is_some())
        .flat_map(|other| &other.artifacts);
    let mut needed = inherited.filter(|rule| rule.optional.is_none());
    needed.any(|rule| catalog.named(&rule.name).is_empty())
}

pub(super) fn lacks_artifact(package: &Package, matched: &Matched<'_>) -> bool {
    let needed = package.artifacts.iter().filter(|r| r.optional.is_none());
    let took = |rule: &ArtifactRule, c: Component| matched.took(&rule.name, c);
    needed.into_iter().any(|rule| match rule.components.as_slice() {
        [] => Component::ALL.iter().all(|c| !took(rule, *c)),
        components => components.iter().any(|c| !took(rule, c.value)),
    })
}

pub(super) fn check_without_package(manifest: &Manifest, catalog: &Catalog) -> Problems {
    let mut problems = Problems::new();
    let entries = || catalog.artifacts.iter().flat_map(files);
    let advice = |glob: &Glob| {
        let catalog_entries = catalog.artifacts.iter().flat_map(|a| &a.entries);
        directory::advice(directory::matched(glob, catalog_entries), glob, GLOB_REMEDY, || {
            no_path(nearest(glob.as_str(), entries().map(|e| e.path.as_str())))
        })
    };
    for text in manifest.project.license_texts.iter().filter(|text| text.optional.is_none()) {
        if !entries().any(|entry| text.glob.matches(&entry.path)) {
            let (label, help) = advice(&text.glob);
            problems.push(
                Problem::error(
                    Code::MatchesNothing,
                    format!("`{}` matches no licence text", text.glob.as_str()),
                )
                .label(&text.glob.place, label)
                .help(help),
            );
        }
    }
    for rule in manifest.project.compression.iter().filter(|rule| rule.optional.is_none()) {
        if !entries().any(|entry| rule.glob.matches(&entry.path)) {
            let (label, help) = advice(&rule.glob);
            problems.push(
                Problem::error(
                    Code::MatchesNothing,
                    format!("`{}` matches no compressible file", rule.glob.as_str()),
                )
                .label(&rule.glob.place, label)
                .help(help),
            );
        }
    }
    for package in manifest.packages.values().filter(|p| p.distribution().is_some()) {
        problems.extend(components(manifest, catalog, package));
    }
    problems
}

fn components(manifest: &Manifest, catalog: &Catalog, package: &Package) -> Problems {
    let inherited = package
        .artifacts_of
        .iter()
        .filter_map(|p| manifest.packages.get(&p.value))
        .flat_map(|other| &other.artifacts);
    let names: BTreeSet<&ArtifactName> =
        inherited.chain(&package.artifacts).map(|rule| &rule.name.value).collect();
    let mut problems = Problems::new();
    for rule in package.without_components.iter().filter(|rule| rule.optional.is_none()) {
        if !catalog
            .artifacts
            .iter()
            .any(|a| a.id.component == *rule.component && names.contains(&a.id.name))
        {
            problems.push(
                Problem::error(
                    Code::MatchesNothing,
                    format!(
                        "package `{}` leaves out component `{}`, which none of its artifacts have",
                        *package.name, *rule.component
                    ),
                )
                .label(&rule.component.place, "none of its artifacts have this component")
                .help(REMEDY),
            );
        }
    }
    problems
}

fn artifact(
    catalog: &Catalog,
    package: &Package,
    rule: &ArtifactRule,
    matched: &Matched<'_>,
    problems: &mut Problems,
) {
    let name = &*rule.name;
    let missing = |what: String| Problem::error(Code::MissingArtifact, what).help(REMEDY);
    let artifacts: Vec<&Artifact> = catalog.named(name).iter().collect();
    if artifacts.is_empty() {
        let label = proposal(catalog, package, rule).map_or_else(
            || "no such artifact".to_owned(),
            |n| format!("no such artifact; did you mean `{n}`?"),
        );
        problems
            .push(missing(format!("artifact `{name}` is missing")).label(&rule.name.place, label));
        return;
    }
    let label = format!("matches nothing; existing artifacts: {}", first_names(&artifacts));
    if rule.components.is_empty() && Component::ALL.iter().all(|c| !matched.took(name, *c)) {
        problems.push(
            missing(format!("artifact `{name}` has no files for this package"))
                .label(&rule.name.place, &*label),
        );
    }
    for component in rule.components.iter().filter(|c| !matched.took(name, c.value)) {
        let message =
            format!("artifact `{name}` has no component `{}` for this package", **component);
        problems.push(missing(message).label(&component.place, &*label));
    }
}

const SHOWN: usize = 6;

fn first_names(artifacts: &[&Artifact]) -> String {
    let first: Vec<String> = artifacts.iter().take(SHOWN).map(|a| a.id.to_string()).collect();
    let more = if artifacts.len() > SHOWN {
        format!(" and {} more", artifacts.len() - SHOWN)
    } else {
        String::new()
    };
    first.join(", ") + &more
}

fn files(artifact: &Artifact) -> impl Iterator<Item = &CatalogEntry> {
    artifact.entries.iter().filter(|e| !matches!(e.kind, EntryKind::Directory))
}

fn why_no_path(catalog: &Catalog, rule: &PathRule, matched: &Matched<'_>) -> (String, String) {
    let artifacts =
        || catalog.artifacts.iter().filter(|a| matched.took(&a.id.name, a.id.component));
    let directory = directory::matched(&rule.glob, artifacts().flat_map(|a| &a.entries));
    directory::advice(directory, &rule.glob, GLOB_REMEDY, || {
        elsewhere_or_near(catalog, rule, artifacts().flat_map(files))
    })
}

fn elsewhere_or_near<'e>(
    catalog: &Catalog,
    rule: &PathRule,
    selected: impl Iterator<Item = &'e CatalogEntry>,
) -> String {
    let elsewhere: Vec<&Artifact> =
        catalog.artifacts.iter().filter(|a| files(a).any(|e| rule.glob.matches(&e.path))).collect();
    if !elsewhere.is_empty() {
        return format!(
            "only artifacts outside of this package have such paths: {}",
            first_names(&elsewhere)
        );
    }
    no_path(nearest(rule.glob.as_str(), selected.map(|e| e.path.as_str())))
}

fn no_path(near: Option<&str>) -> String {
    near.map_or_else(
        || "no installed path matches".to_owned(),
        |path| format!("no installed path matches; the nearest is `{path}`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::select::SelectionTrace;
    use crate::resolve::tests::{Fixture, devel, runtime};

    #[test]
    fn a_package_lacks_an_artifact_when_one_of_its_components_is_not_taken() {
        let entries = "a_lib_generic f text f\na_run_generic g text g\nb_lib_generic h text h";
        let two = "artifact \"a\" \"lib\" \"run\"";
        let optional = format!("{two} optional=\"-\"");
        let cases: [(String, &[&str], bool); 7] = [
            (runtime("core", two), &["a_lib_generic", "a_run_generic"], false),
            (runtime("core", two), &["a_lib_generic"], true),
            (runtime("core", two), &[], true),
            (runtime("core", &optional), &["a_lib_generic"], false),
            (devel("artifact \"a\""), &["a_run_generic"], false),
            (devel("artifact \"a\""), &["b_lib_generic"], true),
            (devel("artifact \"a\" optional=\"-\""), &[], false),
        ];
        for (package, taken, expected) in cases {
            let fixture = Fixture::new(std::slice::from_ref(&package), entries);
            let mut matched = Matched::default();
            for artifact in &fixture.catalog.artifacts {
                if taken.contains(&&*artifact.id.to_string()) {
                    matched.admit(&artifact.id);
                }
            }
            let dists = fixture.dists();
            assert_eq!(lacks_artifact(dists[0].package, &matched), expected, "{package} {taken:?}");
        }
    }
}
