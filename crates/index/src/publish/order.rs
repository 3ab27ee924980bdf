use std::collections::{BTreeMap, BTreeSet};

use super::layout::Placed;

/// Sorts required projects first, except in cycles: readers find packages with requirements.
pub(super) fn of<'a>(placed: &'a [Placed<'a>]) -> Vec<&'a str> {
    let mut requires: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for one in placed {
        let names = one.local.requires.iter().map(|requirement| requirement.name.clone());
        requires.entry(&one.local.project).or_default().extend(names);
    }
    parts_first(&requires)
}

pub(super) fn parts_first<'a>(requires: &BTreeMap<&'a str, BTreeSet<String>>) -> Vec<&'a str> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    for project in requires.keys() {
        // Explicit stack: packages determine the depth.
        let mut stack = vec![(*project, false)];
        while let Some((project, is_done)) = stack.pop() {
            if is_done {
                order.push(project);
            } else if seen.insert(project) {
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
