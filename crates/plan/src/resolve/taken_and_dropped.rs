//! Check for `drop "**"` lines of files that packages ship, such as a component that a devel package
//! inherits. Lines that name the same artifact are compared without artifacts, by the manifest's check
//! for contradictions.

use std::collections::BTreeMap;

use super::entries::EntrySet;
use super::install_tree::Item;
use super::resolved_dist::ResolvedDist;
use super::select::{self, Refusals};
use base::names::PackageName;
use base::source::{Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use catalog::{Catalog, EntryKind};
use manifest::{DropRule, Manifest, Package};

pub(super) fn check(
    manifest: &Manifest,
    catalog: &Catalog,
    all: &[ResolvedDist<'_>],
    selected: &EntrySet<'_>,
) -> Problems {
    let mut problems = Problems::new();
    for rule in manifest.drops.iter().filter(|rule| drops_whole_artifact(rule)) {
        let artifacts = catalog.artifacts.iter().filter(|a| select::in_scope(rule, a));
        let items = artifacts.flat_map(|artifact| {
            artifact.entries.iter().map(move |entry| Item { artifact, entry })
        });
        let is_selected = |item: &Item<'_>| {
            !matches!(item.entry.kind, EntryKind::Directory) && selected.contains(item)
        };
        let items: Vec<Item<'_>> = items.filter(is_selected).collect();
        let shipped: Vec<Shipped<'_>> =
            items.iter().filter_map(|item| first_shipping_package(manifest, all, item)).collect();
        if !shipped.is_empty() {
            problems.push(problem(rule, &shipped));
        }
    }
    problems
}

/// Returns whether a line drops a whole artifact or component. Without either, `drop "**"` is for the
/// files that no package takes, so it contradicts none.
pub(super) fn drops_whole_artifact(rule: &DropRule) -> bool {
    rule.is_of_all_files()
        && !rule.everywhere
        && (rule.artifact.is_some() || rule.component.is_some())
}

struct Shipped<'a> {
    item: Item<'a>,
    package: &'a Package,
    line: &'a Place,
}

/// Returns the first package that ships a file. `None` for an equal copy of a file that packages take
/// from another artifact: it is in the selection, but no line takes it.
fn first_shipping_package<'a>(
    manifest: &'a Manifest,
    all: &[ResolvedDist<'a>],
    item: &Item<'a>,
) -> Option<Shipped<'a>> {
    let mut fitting = all.iter().filter(|dist| dist.fits(&item.artifact.id));
    let takes =
        |dist: &&ResolvedDist<'a>| Refusals::new(manifest, dist, item.artifact).takes(item.entry);
    let package = fitting.find(takes)?.package;
    let line = select::line_of(manifest, package, &item.artifact.id)?;
    Some(Shipped { item: *item, package, line })
}

fn problem(rule: &DropRule, shipped: &[Shipped<'_>]) -> Problem {
    let size = human_size(shipped.iter().map(|file| file.item.entry.size()).sum());
    let first = shipped.first().map(|file| file.item.entry.path.as_str()).unwrap_or_default();
    let mut lines: BTreeMap<&PackageName, &Place> = BTreeMap::new();
    for file in shipped {
        lines.entry(&file.package.name).or_insert(file.line);
    }
    let names: Vec<String> = lines.keys().map(|name| format!("`{name}`")).collect();
    let (packages, ship) =
        if names.len() == 1 { ("package", "ships") } else { ("packages", "ship") };
    let example = if shipped.len() == 1 { ": " } else { ", such as " };
    let message = format!(
        "a `drop` line drops all of {}, but {packages} {} {ship} {} ({size}) of it{example}`{first}`",
        subject(rule),
        names.join(" and "),
        counted(shipped.len(), "file"),
    );
    let problem = Problem::error(Code::Contradiction, message);
    let labelled =
        lines.into_values().fold(problem, |problem, line| problem.label(line, "shipped here"));
    labelled
        .label(&rule.glob.place, format!("dropped here: {}", rule.reason))
        .of_fact(rule.glob.place.to_string())
        .help(
            "leave the files out of the package (exclude; without-component in a devel package), \
             replace \"**\" by globs of the files to drop, or add everywhere=#true to drop them from \
             every package",
        )
}

fn subject(rule: &DropRule) -> String {
    match (&rule.artifact, rule.component) {
        (Some(name), Some(component)) => format!("component `{component}` of artifact `{name}`"),
        (Some(name), None) => format!("artifact `{name}`"),
        (None, Some(component)) => format!("component `{component}`"),
        // [`drops_whole_artifact`] needs one of both.
        (None, None) => unreachable!("a line about no artifact"),
    }
}
