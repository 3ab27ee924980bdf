use super::variables::Variables;
use super::{Prefetch, PrefetchSource, PrefetchedWheel, Resolved, without_isas};
use crate::Sources;
use base::source::{Code, Problem};
use manifest::{Filling, setting};

pub(super) fn resolve(
    declared: &[Prefetch],
    sources: &Sources,
    variables: &Variables<'_>,
    resolved: &mut Resolved,
) {
    for prefetch in declared {
        let name = &prefetch.name.value;
        let projects = &resolved.projects;
        let built = projects.iter().any(|project| project.name == *name);
        if built || !projects.iter().any(|project| project.after.contains(name)) {
            continue;
        }
        match wheel(prefetch, sources, variables) {
            Some(wheel) => match unfilled(&wheel) {
                Some(place) => {
                    let wheel = ("prefetched wheel", &prefetch.name);
                    resolved.problems.push(without_isas(variables, wheel, &place));
                }
                None => resolved.prefetched.push(wheel),
            },
            None => resolved.problems.push(missing(prefetch)),
        }
    }
}

/// Files among the sources precede an index or repository.
fn wheel(
    prefetch: &Prefetch,
    sources: &Sources,
    variables: &Variables<'_>,
) -> Option<PrefetchedWheel> {
    let (name, rule) = (prefetch.name.value.clone(), prefetch.name.place.shown());
    let files = sources.wheels.get(&name).cloned().unwrap_or_default();
    if !files.is_empty() {
        return Some(PrefetchedWheel { name, files, requirement: None, index: None, rule });
    }
    let (requirement, index) = match prefetch.from.as_ref()? {
        PrefetchSource::Git { address, branch } => {
            let branch = branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
            (format!("{name} @ git+{}{branch}", variables.fill(address.as_str())), None)
        }
        PrefetchSource::Index { requirement, address } => {
            let address = address.as_ref().map(|address| variables.fill(address.as_str()));
            let empty = address.as_ref().is_some_and(String::is_empty);
            if empty && requirement.is_none() {
                return None;
            }
            let requirement = requirement.as_ref().map(|wanted| wanted.as_str().to_owned());
            let index = address.filter(|_| !empty);
            (requirement.unwrap_or_else(|| name.to_string()), index)
        }
    };
    Some(PrefetchedWheel { name, files, requirement: Some(requirement), index, rule })
}

fn unfilled(wheel: &PrefetchedWheel) -> Option<Filling> {
    let address = wheel.index.iter().chain(&wheel.requirement);
    address.flat_map(|text| setting::places(text)).find(Filling::is_of_isas)
}

fn missing(prefetch: &Prefetch) -> Problem {
    let name = &prefetch.name;
    let message =
        format!("wheel `{name}`, needed to build projects, is missing", name = name.value);
    let problem = Problem::error(Code::MissingSource, message);
    match &prefetch.path {
        Some(glob) => problem
            .label(&glob.place, "no file below --sources matches")
            .help("add the wheel there, or give its source with `index`, `requirement` or `git`"),
        None => problem
            .label(&name.place, "empty address of an index")
            .help("give its variable a value: --variable NAME=URL"),
    }
}
