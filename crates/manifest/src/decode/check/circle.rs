//! Packages that require each other, and projects that wait for each other.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::decode::Faults;
use crate::{Package, SourceProject};
use base::names::PackageName;
use base::source::{Code, Place, Problem, Spanned};

struct Step<'o> {
    name: &'o PackageName,
    before: Vec<&'o Spanned<PackageName>>,
    indices: Vec<Option<usize>>,
}

fn indexed<'o>(
    steps: impl Iterator<Item = (&'o PackageName, Vec<&'o Spanned<PackageName>>)>,
) -> Vec<Step<'o>> {
    let mut steps: Vec<Step<'_>> =
        steps.map(|(name, before)| Step { name, before, indices: Vec::new() }).collect();
    let mut numbers = HashMap::new();
    for (number, step) in steps.iter().enumerate() {
        numbers.entry(step.name).or_insert(number);
    }
    for step in &mut steps {
        step.indices = step.before.iter().map(|name| numbers.get(&name.value).copied()).collect();
    }
    steps
}

pub(super) fn check(faults: &Faults, packages: &[Package]) {
    let steps = indexed(packages.iter().map(|o| (&o.name.value, o.required().collect())));
    for_each_circle(&steps, |circle| report(faults, &steps, &circle));
}

pub(in super::super) fn projects(faults: &Faults, projects: &[SourceProject]) {
    let steps = indexed(projects.iter().map(|p| (&p.name.value, p.after.iter().collect())));
    for step in &steps {
        if let Some(itself) = step.before.iter().find(|name| name.value == *step.name) {
            let problem = Problem::error(
                Code::RequiresCycle,
                format!("project `{}` must not be built after itself", step.name),
            );
            faults.report(problem.label(&itself.place, "name another project, or remove the line"));
        }
    }
    for_each_circle(&steps, |circle| {
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

type Circle<'o> = Vec<(usize, &'o Place)>;

fn for_each_circle<'o>(steps: &[Step<'o>], mut report: impl FnMut(Circle<'o>)) {
    let mut reported: Vec<usize> = Vec::new();
    for start in in_circles(steps) {
        let Some(circle) = shortest(steps, start)
            .filter(|circle| !circle.iter().any(|(index, _)| reported.contains(index)))
        else {
            continue;
        };
        reported.extend(circle.iter().map(|(index, _)| *index));
        report(circle);
    }
}

/// Steps that can be in a circle: removes steps that lead to no other step, until each leads to one.
fn in_circles(steps: &[Step<'_>]) -> Vec<usize> {
    let after = |index: usize| {
        steps[index].indices.iter().flatten().filter(move |target| **target != index)
    };
    let mut targets: Vec<usize> = (0..steps.len()).map(|index| after(index).count()).collect();
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for index in 0..steps.len() {
        after(index).for_each(|target| from[*target].push(index));
    }
    let mut leaves: Vec<usize> = (0..steps.len()).filter(|index| targets[*index] == 0).collect();
    while let Some(index) = leaves.pop() {
        for before in std::mem::take(&mut from[index]) {
            targets[before] -= 1;
            leaves.extend((targets[before] == 0).then_some(before));
        }
    }
    (0..steps.len()).filter(|index| targets[*index] > 0).collect()
}

/// The steps of the shortest way from a package back to it, over packages after it in the file.
fn shortest<'o>(packages: &[Step<'o>], start: usize) -> Option<Circle<'o>> {
    let mut predecessors: BTreeMap<usize, (usize, &Place)> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(index) = next.pop_front() {
        for (required, target) in packages[index].before.iter().zip(&packages[index].indices) {
            let Some(target) = target.filter(|target| *target != index) else { continue };
            if target == start {
                let mut steps = vec![(index, &required.place)];
                while let Some((before, place)) = predecessors.get(&steps[steps.len() - 1].0) {
                    steps.push((*before, place));
                }
                steps.reverse();
                return Some(steps);
            }
            if target > start && !predecessors.contains_key(&target) {
                predecessors.insert(target, (index, &required.place));
                next.push_back(target);
            }
        }
    }
    None
}

fn report(faults: &Faults, steps: &[Step<'_>], circle: &Circle<'_>) {
    let in_a_circle = if circle.len() == 2 { "" } else { " in a circle" };
    let message = format!("packages {} require each other{in_a_circle}", names(steps, circle));
    let problem = labelled(Problem::error(Code::RequiresCycle, message), circle);
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
