//! `drop "**"` lines about files that packages take, such as a component that a devel package
//! inherits. The manifest's own check finds lines that name each other.

use super::entries::EntrySet;
use super::install_tree::Item;
use super::resolved_dist::ResolvedDist;
use super::select::{self, Refusals};
use base::source::{Code, Place, Problem, Problems};
use base::text::{counted, human_size};
use catalog::{Catalog, EntryKind};
use manifest::{DropRule, Manifest, Package};

pub(super) fn check(
    manifest: &Manifest,
    catalog: &Catalog,
    all: &[ResolvedDist<'_>],
    taken: &EntrySet<'_>,
) -> Problems {
    let mut problems = Problems::new();
    for rule in manifest.drops.iter().filter(|rule| is_of_a_whole(rule)) {
        let artifacts = catalog.artifacts.iter().filter(|a| select::in_scope(rule, a));
        let items = artifacts.flat_map(|artifact| {
            artifact.entries.iter().map(move |entry| Item { artifact, entry })
        });
        let is_taken = |item: &Item<'_>| {
            !matches!(item.entry.kind, EntryKind::Directory) && taken.contains(item)
        };
        let items: Vec<Item<'_>> = items.filter(is_taken).collect();
        if let Some(taker) = items.first().and_then(|item| taker(manifest, all, item)) {
            problems.push(problem(rule, &items, taker));
        }
    }
    problems
}

/// Without an artifact and a component, `"**"` drops the files that no line is about.
pub(super) fn is_of_a_whole(rule: &DropRule) -> bool {
    rule.is_of_all_files()
        && !rule.everywhere
        && (rule.artifact.is_some() || rule.component.is_some())
}

fn taker<'a>(
    manifest: &'a Manifest,
    all: &[ResolvedDist<'a>],
    item: &Item<'a>,
) -> Option<(&'a Package, &'a Place)> {
    let fitting = all.iter().filter(|dist| dist.fits(&item.artifact.id));
    let mut takers =
        fitting.filter(|dist| Refusals::new(manifest, dist, item.artifact).takes(item.entry));
    let package = takers.next()?.package;
    Some((package, select::line_of(manifest, package, &item.artifact.id)?))
}

fn problem(rule: &DropRule, items: &[Item<'_>], (package, line): (&Package, &Place)) -> Problem {
    let size = human_size(items.iter().map(|item| item.entry.size()).sum());
    let first = items.first().map(|item| item.entry.path.as_str()).unwrap_or_default();
    let files = counted(items.len(), "file");
    let message = format!(
        "a `drop` line drops all of {}, but package `{}` takes {files} ({size}) of it: `{first}` \
         is the first",
        subject(rule),
        *package.name
    );
    Problem::error(Code::Contradiction, message)
        .label(line, "taken here")
        .label(&rule.glob.place, format!("dropped here: {}", rule.reason))
        .of_fact(rule.glob.place.to_string())
        .help(
            "leave the files out of the package, replace \"**\" by globs of the files to drop, or \
             leave them out of every package: everywhere=#true",
        )
}

fn subject(rule: &DropRule) -> String {
    match (&rule.artifact, rule.component) {
        (Some(name), Some(component)) => format!("component `{component}` of artifact `{name}`"),
        (Some(name), None) => format!("artifact `{name}`"),
        (None, Some(component)) => format!("component `{component}`"),
        (None, None) => "the artifacts".to_owned(),
    }
}
