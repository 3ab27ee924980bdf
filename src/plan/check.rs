//! What has to hold over the whole plan: nothing lost unnoticed, nothing searched in vain.

use std::collections::BTreeSet;

use super::instance::Instance;
use super::targets::Targets;
use super::view::Item;
use super::{Distribution, Unowned};
use crate::catalog::{ArtifactId, Catalog, Entry, EntryKind};
use crate::elf::stub::StubMachine;
use crate::manifest::{DropRule, Manifest, applies};
use crate::names::System;
use crate::source::{Problem, Problems};

/// An rpath rule whose directory its package does not have: a warning.
pub(super) fn rpaths(made: &[(Instance<'_>, Distribution)]) -> Problems {
    let mut problems = Problems::new();
    let paths: BTreeSet<&str> = made.iter().flat_map(|(_, d)| d.members.iter().map(|m| m.path.as_str())).collect();
    let there = |directory: &str| {
        let prefix = format!("{directory}/");
        paths.range(prefix.as_str()..).next().is_some_and(|p| p.starts_with(&prefix))
    };
    let mut seen = BTreeSet::new();
    for (instance, _) in made {
        for rule in &instance.package.rpaths {
            let owner = made.iter().find(|(o, _)| o.package.name.value == *rule.package && instance.relies_on(o));
            let Some((owner, _)) = owner else { continue };
            if !there(&format!("{}/{}", owner.platform_dir, rule.directory)) && seen.insert(rule.package.place.to_string()) {
                problems.push(
                    Problem::warning(format!("package `{}` has no directory `{}`", *rule.package, rule.directory))
                        .label(&rule.package.place, "libraries are searched there in vain"),
                );
            }
        }
    }
    problems
}

/// Files that no package selects and no rule drops, of artifacts for anything that is built.
pub(super) fn unowned(manifest: &Manifest, catalog: &Catalog, targets: &Targets, selected: &BTreeSet<*const Entry>) -> Vec<Unowned> {
    let built = |id: &ArtifactId| id.family.is_generic() || targets.built.iter().any(|t| t == id.family.base());
    let mut unowned = Vec::new();
    for artifact in catalog.artifacts.iter().filter(|a| built(&a.id)) {
        for entry in &artifact.entries {
            let counts = !matches!(entry.kind, EntryKind::Directory) && !selected.contains(&std::ptr::from_ref(entry));
            if counts && dropped(manifest, targets, &artifact.id, entry).next().is_none() {
                unowned.push(Unowned { origin: Item { artifact, entry }.origin(), size: entry.size() });
            }
        }
    }
    unowned
}

/// The rules that drop a file which no package takes, in their order.
pub(super) fn dropped<'m>(manifest: &'m Manifest, targets: &Targets, id: &ArtifactId, entry: &Entry) -> impl Iterator<Item = &'m DropRule> {
    manifest.drops.iter().filter(|rule| drops(rule, targets, id, entry))
}

fn drops(rule: &DropRule, targets: &Targets, id: &ArtifactId, entry: &Entry) -> bool {
    applies(rule.mode, targets.mode)
        && rule.artifact.as_ref().is_none_or(|a| *a == id.name)
        && rule.component.is_none_or(|c| c == id.component)
        && rule.glob.matches(&entry.path)
}

/// The oldest glibc that everything shipped can run on, as a platform tag (PEP 600).
pub(super) fn platform_tag(
    catalog: &Catalog,
    made: &[(Instance<'_>, Distribution)],
    machine: StubMachine,
    system: System,
) -> Option<String> {
    if system != System::Linux {
        return None;
    }
    let architecture = match machine {
        StubMachine::X86_64 => "x86_64",
        StubMachine::Aarch64 => "aarch64",
    };
    let sources = made.iter().flat_map(|(_, d)| d.all_members().filter_map(|m| m.step.source()));
    let sources: BTreeSet<_> = sources.map(|s| (&s.artifact, &s.base, &s.path)).collect();
    let entries = catalog.artifacts.iter().flat_map(|a| a.entries.iter().map(move |e| (&a.id, e)));
    let shipped = entries.filter(|(id, e)| sources.contains(&(*id, &e.base, &e.path))).filter_map(|(_, e)| e.elf());
    // Files that need nothing newer run wherever a tag of this form is known at all: from glibc 2.17 on.
    let needs = shipped.filter(|facts| StubMachine::of(facts.machine) == Some(machine)).map(|facts| facts.glibc.unwrap_or((2, 17)));
    let (major, minor) = needs.max()?.max((2, 17));
    Some(format!("manylinux_{major}_{minor}_{architecture}"))
}
