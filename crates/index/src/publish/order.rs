//! In which order pages appear.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Placed;

/// The projects of these packages, each after those that it requires, as far as there is no circle: whoever reads
/// before all pages are there does not find a package whose parts are missing.
pub(super) fn of<'a>(placed: &'a [Placed<'a>]) -> Vec<&'a str> {
    let mut requires: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for one in placed {
        let names = one.local.requires.iter().map(|requirement| requirement.name.clone());
        requires.entry(&one.local.project).or_default().extend(names);
    }
    parts_first(&requires)
}

/// The projects that are keys here, each after those that it requires.
pub(super) fn parts_first<'a>(requires: &BTreeMap<&'a str, BTreeSet<String>>) -> Vec<&'a str> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    for project in requires.keys() {
        // Depth first, with a stack of its own: packages decide how deep it gets.
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
