use std::collections::BTreeMap;

use super::resolved_dist::ResolvedDist;
use super::select::{Selected, Selection, matches};
use base::names::RelPath;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use manifest::ForbidRule;

/// Path of a file in the installation, and the selected entry.
type SelectedFile<'s, 'a> = (&'s RelPath, &'s Selected<'a>);

pub(super) fn check(dist: &ResolvedDist<'_>, selection: &Selection<'_>) -> Problems {
    let forbids = &dist.package.forbids;
    let mut by_rule: BTreeMap<usize, (&ForbidRule, Vec<SelectedFile<'_, '_>>)> = BTreeMap::new();
    for (path, selected) in &selection.files {
        let possible = forbids.possible(path.as_str());
        let mut fits = possible.filter(|(_, r)| matches(&r.glob, selected.item.entry));
        if let Some((index, rule)) = fits.next() {
            by_rule.entry(index).or_insert((rule, Vec::new())).1.push((path, selected));
        }
    }
    let mut problems = Problems::new();
    for (rule, files) in by_rule.into_values() {
        if let Some(first) = files.first() {
            problems.push(problem(dist, rule, first, files.len()));
        }
    }
    problems
}

fn problem(
    dist: &ResolvedDist<'_>,
    rule: &ForbidRule,
    (path, selected): &SelectedFile<'_, '_>,
    count: usize,
) -> Problem {
    let more = match count {
        1 => String::new(),
        _ => format!(" and {} more", counted(count - 1, "file")),
    };
    let artifact = &selected.item.artifact.id;
    let message = format!(
        "artifact `{artifact}` has `{path}`{more}, which package `{}` forbids",
        dist.package.name.value
    );
    Problem::error(Code::ForbiddenFile, message)
        .label(&rule.glob.place, format!("forbidden: {}", rule.reason))
        .label(selected.rule, "taken here")
        .help("leave it out with `exclude`, or take it in another package")
}
