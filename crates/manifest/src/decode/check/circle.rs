//! Packages that require each other, and projects that wait for each other.

use std::collections::{BTreeMap, VecDeque};

use crate::decode::Faults;
use crate::{Package, SourceProject};
use base::names::PackageName;
use base::source::{Code, Place, Problem, Spanned};

struct Step<'o> {
    name: &'o PackageName,
    before: Vec<&'o Spanned<PackageName>>,
}

pub(super) fn check(faults: &Faults, packages: &[Package]) {
    let steps: Vec<Step<'_>> = packages
        .iter()
        .map(|o| Step { name: &o.name.value, before: o.required().collect() })
        .collect();
    each(&steps, |circle| report(faults, &steps, &circle));
}

pub(in super::super) fn projects(faults: &Faults, projects: &[SourceProject]) {
    let steps: Vec<Step<'_>> = projects
        .iter()
        .map(|p| Step { name: &p.name.value, before: p.after.iter().collect() })
        .collect();
    for step in &steps {
        if let Some(own) = step.before.iter().find(|name| name.value == *step.name) {
            let problem = Problem::error(
                Code::RequiresCycle,
                format!("project `{}` must not be built after itself", step.name),
            );
            faults.report(problem.label(&own.place, "name another project, or remove the line"));
        }
    }
    each(&steps, |circle| {
        let problem = Problem::error(
            Code::RequiresCycle,
            format!("the `after` lines of projects {} form a circle", names(&steps, &circle)),
        );
        faults.report(
            labelled(problem, &circle)
                .help("remove one of these names, so that a project can be built first"),
        );
    });
}

/// Each step with the place that leads on.
type Circle<'o> = Vec<(usize, &'o Place)>;

fn each<'o>(steps: &[Step<'o>], mut found: impl FnMut(Circle<'o>)) {
    let mut known: Vec<usize> = Vec::new();
    for start in 0..steps.len() {
        let Some(circle) = shortest(steps, start)
            .filter(|circle| !circle.iter().any(|(index, _)| known.contains(index)))
        else {
            continue;
        };
        known.extend(circle.iter().map(|(index, _)| *index));
        found(circle);
    }
}

/// The steps of the shortest way from a package back to it, over packages after it in the file.
fn shortest<'o>(packages: &[Step<'o>], start: usize) -> Option<Circle<'o>> {
    let mut came: BTreeMap<usize, (usize, &Place)> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(at) = next.pop_front() {
        for required in &packages[at].before {
            let Some(to) =
                packages.iter().position(|o| *o.name == required.value).filter(|to| *to != at)
            else {
                continue;
            };
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

fn report(faults: &Faults, steps: &[Step<'_>], circle: &Circle<'_>) {
    let in_a_circle = if circle.len() == 2 { "" } else { " in a circle" };
    let what = format!("packages {} require each other{in_a_circle}", names(steps, circle));
    let problem = labelled(Problem::error(Code::RequiresCycle, what), circle);
    faults.report(
        problem.help("remove one of these lines: a package is installed after its requirements"),
    );
}

fn names(steps: &[Step<'_>], circle: &Circle<'_>) -> String {
    let names: Vec<String> =
        circle.iter().map(|(index, _)| format!("`{}`", steps[*index].name)).collect();
    names.join(if circle.len() == 2 { " and " } else { ", " })
}

fn labelled(problem: Problem, circle: &Circle<'_>) -> Problem {
    circle.iter().enumerate().fold(problem, |problem, (step, (_, place))| {
        let label = if step == 0 {
            "the circle begins here"
        } else if step + 1 == circle.len() {
            "the circle closes here"
        } else {
            "the circle continues here"
        };
        problem.label(place, label)
    })
}
