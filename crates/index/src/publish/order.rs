use std::collections::{BTreeMap, BTreeSet};

use super::layout::Placed;

/// Sorts required projects first, except in cycles: readers find packages with requirements.
pub(super) fn dependencies_first<'a>(placed: &'a [Placed<'a>]) -> Vec<&'a str> {
    let mut requires: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in placed {
        let names = package.local.requires.iter().map(|requirement| requirement.name.clone());
        requires.entry(&package.local.project).or_default().extend(names);
    }
    parts_first(&requires)
}

pub(super) fn parts_first<'a>(requires: &BTreeMap<&'a str, BTreeSet<String>>) -> Vec<&'a str> {
    let (mut order, mut visited) = (Vec::new(), BTreeSet::new());
    for project in requires.keys() {
        // Explicit stack: packages determine the depth.
        let mut stack = vec![(*project, false)];
        while let Some((project, is_done)) = stack.pop() {
            if is_done {
                order.push(project);
            } else if visited.insert(project) {
                stack.push((project, true));
                let parts = requires[project].iter().rev();
                stack.extend(
                    parts
                        .filter_map(|part| requires.get_key_value(&**part))
                        .map(|(p, _)| (*p, false)),
                );
            }
        }
    }
    order
}
