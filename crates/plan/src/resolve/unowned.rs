use std::collections::BTreeMap;

use super::directory;
use super::entries::EntrySet;
use super::install_tree::Item;
use super::select::{in_scope, is_about};
use super::taken_and_dropped;
use super::targets::{Targets, TargetsOrigin};
use crate::Dropped;
use base::source::{Code, Problem, Problems};
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, EntryKind};
use manifest::{DropRule, Manifest, UnownedRule};

mod allowed;
mod cause;
mod group;
mod remedy;
mod report;

pub(super) use cause::{Cause, Causes};
pub(super) use report::{Ownership, check};

#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub item: Item<'a>,
    pub allowed: Option<&'a UnownedRule>,
}

pub(super) struct Leftover<'a> {
    pub unowned: Vec<Left<'a>>,
    pub dropped: Vec<Dropped>,
    pub problems: Problems,
}

pub(super) fn find<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    targets: &Targets,
    selected: &EntrySet<'_>,
) -> Leftover<'a> {
    let mut counts: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    let mut unowned = Vec::new();
    let is_left = |item: &Item<'_>| {
        !matches!(item.entry.kind, EntryKind::Directory) && !selected.contains(item)
    };
    for artifact in catalog.artifacts.iter().filter(|a| is_wanted(manifest, &a.id, targets)) {
        let items = artifact.entries.iter().map(|entry| Item { artifact, entry });
        for item in items.filter(is_left) {
            let entry = item.entry;
            match first(manifest, artifact, entry) {
                Some(index) => {
                    let (files, size) = counts.entry(index).or_default();
                    (*files, *size) = (*files + 1, *size + entry.size());
                }
                None => unowned.push(Left { item, allowed: allowing(manifest, artifact, entry) }),
            }
        }
    }
    let rules = || manifest.drops.iter().enumerate();
    let dropped = rules().map(|(index, rule)| {
        let (files, size) = counts.get(&index).copied().unwrap_or_default();
        Dropped { rule: rule.glob.place.to_string(), reason: rule.reason.clone(), files, size }
    });
    let dropped: Vec<Dropped> = dropped.filter(|d| d.files > 0).collect();
    let idle =
        rules().filter(|(index, rule)| !counts.contains_key(index) && rule.optional.is_none());
    let idle = idle.filter_map(|(_, rule)| idle_drop(rule, catalog, selected)).take(MOST_IDLE);
    let mut problems = Problems::new();
    idle.for_each(|problem| problems.push(problem));
    Leftover { unowned, dropped, problems }
}

pub(super) fn dropping<'m>(manifest: &'m Manifest, item: &Item<'_>) -> Option<&'m DropRule> {
    first(manifest, item.artifact, item.entry).map(|index| &manifest.drops[index])
}

/// Rules with `everywhere` apply before selection, and so have priority.
fn first(manifest: &Manifest, artifact: &Artifact, entry: &CatalogEntry) -> Option<usize> {
    let counts = |rule: &DropRule| in_scope(rule, artifact);
    let matching = manifest.drops.matching(&entry.path).filter(|(_, rule)| counts(rule));
    matching.min_by_key(|(index, rule)| (!rule.everywhere, *index)).map(|(index, _)| index)
}

fn allowing<'m>(
    manifest: &'m Manifest,
    artifact: &Artifact,
    entry: &CatalogEntry,
) -> Option<&'m UnownedRule> {
    let mut matching = manifest.excuses.unowned.matching(&entry.path).map(|(_, rule)| rule);
    matching.find(|rule| is_about(rule.artifact.as_ref(), rule.component, artifact))
}

/// A list of targets leaves out the others. Without one, every file has an owner.
fn is_wanted(manifest: &Manifest, id: &ArtifactId, targets: &Targets) -> bool {
    let everything = targets.origin == TargetsOrigin::Everything;
    everything || id.family.is_generic() || targets.builds(manifest.families.target_of(&id.family))
}

const MOST_IDLE: usize = 100;

fn idle_drop(rule: &DropRule, catalog: &Catalog, selected: &EntrySet<'_>) -> Option<Problem> {
    let scope: Vec<&Artifact> = catalog.artifacts.iter().filter(|a| in_scope(rule, a)).collect();
    let is_meant = |item: &Item<'_>| {
        !matches!(item.entry.kind, EntryKind::Directory) && rule.glob.matches(&item.entry.path)
    };
    let matched: Vec<Item<'_>> = scope
        .iter()
        .flat_map(|artifact| artifact.entries.iter().map(move |entry| Item { artifact, entry }))
        .filter(is_meant)
        .collect();
    let example = matched.iter().find(|item| selected.contains(item));
    let (label, help) = match (example, matched.is_empty(), scope.is_empty()) {
        (Some(_), ..) if taken_and_dropped::drops_whole_artifact(rule) => return None,
        (Some(item), ..) => (
            format!(
                "packages take all matches, such as `{}` of {}",
                item.entry.path, item.artifact.id
            ),
            IN_PACKAGES.to_owned(),
        ),
        (None, false, _) => return None,
        (None, true, true) => {
            ("no artifact has this name and component".to_owned(), REMEDY.to_owned())
        }
        (None, true, false) => {
            let directory = directory::matched(&rule.glob, scope.iter().flat_map(|a| &a.entries));
            let nothing = || "no path of these artifacts matches".to_owned();
            directory::advice(directory, &rule.glob, REMEDY, nothing)
        }
    };
    Some(
        Problem::error(Code::MatchesNothing, format!("`{}` drops nothing", rule.glob.as_str()))
            .label(&rule.glob.place, label)
            .help(help),
    )
}

const REMEDY: &str = "correct the rule, remove the line, or give a reason: optional=\"…\"";
const IN_PACKAGES: &str = "add everywhere=#true to leave such files out of every package, correct \
                           the rule, or remove the line";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime};

    #[test]
    fn a_rule_drops_nothing_where_packages_take_what_it_matches_or_nothing_does() {
        let entries = "a_lib_generic f text f\na_lib_gfx942 g text g";
        let cases = [
            (
                "drop \"f\" reason=\"-\"",
                true,
                Some("packages take all matches, such as `f` of a_lib_generic"),
            ),
            ("drop \"f\" reason=\"-\"", false, None),
            ("drop \"g\" reason=\"-\"", true, None),
            ("drop \"h\" reason=\"-\"", true, Some("no path of these artifacts matches")),
            (
                "drop \"f\" reason=\"-\" artifact=\"b\"",
                true,
                Some("no artifact has this name and component"),
            ),
        ];
        for (line, takes, expected) in cases {
            let packages = [runtime("core", "artifact \"a\" \"lib\""), format!("{line}\n")];
            let fixture = Fixture::new(&packages, entries);
            let artifact = &fixture.catalog.artifacts[0];
            let item = Item { artifact, entry: &artifact.entries[0] };
            assert_eq!(item.entry.path.as_str(), "f");
            let selected = EntrySet::from_items(&fixture.catalog, takes.then_some(&item));
            let rule = fixture.manifest.drops.iter().next().unwrap();
            let problem = idle_drop(rule, &fixture.catalog, &selected);
            let label = problem.as_ref().map(|problem| problem.labels()[0].1.as_str());
            assert_eq!(label, expected, "{line}");
        }
    }
}
