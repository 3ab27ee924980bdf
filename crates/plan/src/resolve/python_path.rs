//! `.pth` file of a package (Python's `site`).

use std::collections::HashMap;

use super::describe;
use super::links::Filled;
use super::resolved_dist::{Dists, ResolvedDist};
use super::{rpath, shared_module};
use crate::Member;
use base::names::{PackageName, RelPath};

pub(super) fn member(
    dist: &ResolvedDist<'_>,
    all: &Dists<'_>,
    filled: &HashMap<&PackageName, Vec<&Filled<'_>>>,
) -> Option<Member> {
    let mut directories: Vec<RelPath> = Vec::new();
    for rule in &dist.package.python_path {
        let shipped = filled.get(&rule.package.value).into_iter().flatten().any(|owner| {
            dist.relies_on(&owner.dist)
                && owner.runtime.placed.keys().any(|path| path.below(&rule.directory).is_some())
        });
        let directory = rpath::directory(dist, rule, all);
        directories.extend(directory.filter(|one| shipped && !directories.contains(one)));
    }
    directories.extend(shared_module::directory(dist));
    let lines: Vec<&str> = directories.iter().map(RelPath::as_str).collect();
    let path = format!("{}.pth", dist.module).parse().ok()?;
    (!lines.is_empty()).then(|| describe::render(path, lines.join("\n") + "\n"))
}
