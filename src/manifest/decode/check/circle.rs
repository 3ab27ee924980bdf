//! Packages that require each other.

use std::collections::{BTreeMap, VecDeque};

use super::Outline;
use crate::manifest::decode::Faults;
use crate::source::{Code, Place, Problem};

/// Reports each circle once, at the first package of it.
pub(super) fn check(faults: &Faults, outlines: &[Outline]) {
    let mut known: Vec<usize> = Vec::new();
    for start in 0..outlines.len() {
        let Some(circle) = shortest(outlines, start).filter(|circle| !circle.iter().any(|(index, _)| known.contains(index))) else {
            continue;
        };
        known.extend(circle.iter().map(|(index, _)| *index));
        report(faults, outlines, &circle);
    }
}

/// The steps of the shortest way from a package back to it, over packages after it in the file.
fn shortest(outlines: &[Outline], start: usize) -> Option<Vec<(usize, &Place)>> {
    let mut came: BTreeMap<usize, (usize, &Place)> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(at) = next.pop_front() {
        for required in &outlines[at].requires {
            let Some(to) = outlines.iter().position(|o| o.name.value == required.value).filter(|to| *to != at) else { continue };
            if to == start {
                let mut steps = vec![(at, &required.place)];
                while let Some((before, place)) = came.get(&steps[steps.len() - 1].0) {
                    steps.push((*before, place));
                }
                steps.reverse();
                return Some(steps);
            }
            if to > start && !came.contains_key(&to) {
                came.insert(to, (at, &required.place));
                next.push_back(to);
            }
        }
    }
    None
}

fn report(faults: &Faults, outlines: &[Outline], circle: &[(usize, &Place)]) {
    let names: Vec<String> = circle.iter().map(|(index, _)| format!("`{}`", outlines[*index].name.value)).collect();
    let what = format!("packages {} require each other", names.join(" and "));
    let what = if circle.len() == 2 { what } else { format!("packages {} require each other in a circle", names.join(", ")) };
    let steps = circle.iter().enumerate();
    let problem = steps.fold(Problem::error(Code::RequiresCycle, what), |problem, (step, (_, place))| {
        let label = if step == 0 {
            "from here"
        } else if step + 1 == circle.len() {
            "and back"
        } else {
            "on"
        };
        problem.label(place, label)
    });
    faults.report(problem.help("take one of these lines away: a package is installed after what it requires"));
}
