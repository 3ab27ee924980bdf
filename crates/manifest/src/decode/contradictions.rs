//! Pairs of lines of which one silently has no effect.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::{ArtifactRule, DropRule, Manifest, Package, PathRule, UnownedRule};
use base::names::{ArtifactName, Component};
use base::source::{Code, Place, Problem, Problems};
use base::target::Target;

pub(super) fn check(manifest: &Manifest) -> Problems {
    let drops = Drops::new(manifest);
    let mut problems = Problems::new();
    problems.extend(drops.repeated());
    problems.extend(drops.conflicts(manifest));
    problems.extend(drops.allowed(manifest));
    for package in manifest.packages.values() {
        problems.extend(left_out(package));
        problems.extend(narrowed(package));
    }
    problems
}

fn contradiction(message: String) -> Problem {
    Problem::error(Code::Contradiction, message)
}

const EVERY_FILE: &str = "**";

/// Glob, artifact and component of a `drop` line.
type Scope<'m> = (&'m str, Option<&'m ArtifactName>, Option<Component>);

struct Drops<'m> {
    by_scope: IndexMap<Scope<'m>, Vec<&'m DropRule>>,
}

impl<'m> Drops<'m> {
    fn new(manifest: &'m Manifest) -> Self {
        let mut by_scope: IndexMap<Scope<'m>, Vec<&DropRule>> = IndexMap::new();
        for drop in manifest.drops.iter() {
            let glob = if drop.is_of_all_files() { EVERY_FILE } else { drop.glob.as_str() };
            by_scope.entry((glob, drop.artifact.as_ref(), drop.component)).or_default().push(drop);
        }
        Self { by_scope }
    }

    fn in_scope(&self, scope: Scope<'m>) -> impl Iterator<Item = &'m DropRule> {
        self.by_scope.get(&scope).into_iter().flatten().copied()
    }

    fn repeated(&self) -> Problems {
        let mut problems = Problems::new();
        for drops in self.by_scope.values() {
            for (index, drop) in drops.iter().enumerate() {
                let meets = |earlier: &&&DropRule| earlier.when.meets(drop.when).is_some();
                if let Some(first) = drops[..index].iter().find(meets) {
                    let message = format!("drop `{}` is given twice", drop.glob.as_str());
                    let problem = Problem::error(Code::GivenTwice, message);
                    let problem = problem.label(&drop.glob.place, "second");
                    problems.push(problem.label(&first.glob.place, "first"));
                }
            }
        }
        problems
    }

    /// Reports artifacts and components that packages name and that are dropped whole.
    fn conflicts(&self, manifest: &'m Manifest) -> Problems {
        let mut problems = Problems::new();
        for package in manifest.packages.values() {
            for rule in &package.artifacts {
                let name = &rule.name;
                let whole = self.in_scope((EVERY_FILE, Some(&name.value), None));
                let whole = whole.map(|drop| (drop, &name.place));
                // A line without components takes those that are not dropped.
                let parts = rule.components.iter().flat_map(|component| {
                    let of_artifact = (EVERY_FILE, Some(&name.value), Some(component.value));
                    let of_all = (EVERY_FILE, None, Some(component.value));
                    let drops = self.in_scope(of_artifact).chain(self.in_scope(of_all));
                    drops.map(|drop| (drop, &component.place))
                });
                let conflicts =
                    whole.chain(parts).filter(|(drop, _)| meet(manifest, package, rule, drop));
                conflicts.for_each(|(drop, place)| {
                    problems.push(conflict(package, rule, place, drop));
                });
            }
        }
        problems
    }

    fn allowed(&self, manifest: &'m Manifest) -> Problems {
        let mut problems = Problems::new();
        for allowed in manifest.excuses.unowned.iter() {
            let globs = [EVERY_FILE, allowed.glob.as_str()];
            let scopes = globs.into_iter().flat_map(|glob| {
                [None, allowed.artifact.as_ref()].into_iter().flat_map(move |artifact| {
                    [None, allowed.component].map(|component| (glob, artifact, component))
                })
            });
            let mut drops = scopes.flat_map(|scope| self.in_scope(scope));
            if let Some(drop) = drops.find(|drop| drop.when.meets(allowed.when).is_some()) {
                problems.push(allowed_and_dropped(allowed, drop));
            }
        }
        problems
    }
}

fn meet(manifest: &Manifest, package: &Package, rule: &ArtifactRule, drop: &DropRule) -> bool {
    let applies = |target: &Target| drop.when.holds(*target) && rule.when.holds(*target);
    Target::ALL
        .iter()
        .filter(|target| applies(target))
        .any(|target| takes(manifest, package, *target))
}

/// Devel packages take artifacts of packages that are not built themselves.
fn takes(manifest: &Manifest, package: &Package, target: Target) -> bool {
    let inherits = |devel: &Package| {
        devel.artifacts_of.iter().any(|source| source.value == package.name.value)
            && devel.distribution_for(target).is_some()
    };
    package.distribution_for(target).is_some() || manifest.packages.values().any(inherits)
}

fn conflict(package: &Package, rule: &ArtifactRule, place: &Place, drop: &DropRule) -> Problem {
    let (name, package) = (&rule.name.value, &package.name.value);
    let files = match drop.component {
        Some(component) => format!("component `{component}` of artifact `{name}`"),
        None => format!("artifact `{name}`"),
    };
    contradiction(format!("package `{package}` takes {files}, and a `drop` line drops all of it"))
        .label(place, "taken here")
        .label(&drop.glob.place, format!("dropped here: {}", drop.reason))
        .help("remove one of the lines, or replace \"**\" by globs of the files to drop")
}

fn allowed_and_dropped(allowed: &UnownedRule, drop: &DropRule) -> Problem {
    let glob = allowed.glob.as_str();
    contradiction(format!(
        "files that `ignore \"unowned-files\" in=\"{glob}\"` excuses are dropped"
    ))
    .label(&allowed.glob.place, "may be in no package")
    .label(&drop.glob.place, format!("dropped here: {}", drop.reason))
    .help("remove one of the lines")
}

/// Reports artifacts and components that a devel package takes and leaves out.
fn left_out(package: &Package) -> Problems {
    let mut problems = Problems::new();
    let mut report = |subject: String, left_out_line: &Place, line: &Place| {
        let message = format!("package `{}` takes and leaves out {subject}", *package.name);
        let problem =
            contradiction(message).label(line, "taken here").label(left_out_line, "left out here");
        problems.push(problem.help("remove one of the lines"));
    };
    for out in &package.without_artifacts {
        let artifacts =
            package.artifacts.iter().map(|rule| &rule.name).chain(&package.every_target_of);
        for line in artifacts.filter(|line| line.value == out.value) {
            report(format!("artifact `{}`", out.value), &out.place, &line.place);
        }
    }
    for rule in &package.without_components {
        let out = &rule.component;
        let lines = package.artifacts.iter().filter(|line| line.when.meets(rule.when).is_some());
        for line in lines.flat_map(|line| &line.components).filter(|c| c.value == out.value) {
            report(format!("component `{}`", out.value), &out.place, &line.place);
        }
    }
    problems
}

/// Reports globs that a package includes and excludes.
fn narrowed(package: &Package) -> Problems {
    let mut includes: HashMap<&str, Vec<&PathRule>> = HashMap::new();
    for include in package.includes.iter() {
        includes.entry(include.glob.as_str()).or_default().push(include);
    }
    let mut problems = Problems::new();
    for exclude in package.excludes.iter() {
        let glob = exclude.glob.as_str();
        let mut matching = includes.get(glob).into_iter().flatten();
        if let Some(include) = matching.find(|include| include.when.meets(exclude.when).is_some()) {
            let message = format!("package `{}` includes and excludes `{glob}`", *package.name);
            let problem = contradiction(message)
                .label(&include.glob.place, "included here")
                .label(&exclude.glob.place, "excluded here");
            problems.push(problem.help("remove one of the lines"));
        }
    }
    problems
}
