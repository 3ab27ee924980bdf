//! Programs that exec stubs start.

use super::places::Places;
use super::{Closure, LoadedFile, messages};
use crate::resolve::paths::PathMap;
use crate::{Member, Step};
use base::names::RelPath;
use base::source::{Code, Problem, Problems};

/// Errors for stubs whose program is only in packages that can be absent where the stub is.
pub(super) fn check(closure: &Closure<'_>) -> Problems {
    let stubs: Vec<(usize, &Member, RelPath)> = members(closure)
        .filter_map(|(owner, member)| {
            let Step::Stub { target, .. } = &member.step else { return None };
            Some((owner, member, member.path.sibling(target)?))
        })
        .collect();
    let mut owners: PathMap<&RelPath, Vec<usize>> =
        stubs.iter().map(|(_, _, program)| (program, Vec::new())).collect();
    for (owner, member) in members(closure) {
        if let Some(owners) = owners.get_mut(&member.path) {
            owners.push(owner);
        }
    }
    let places = Places::new(closure.manifest);
    let mut problems = Problems::new();
    for (stub_owner, member, program) in &stubs {
        let owners = &owners[program];
        if owners.iter().any(|owner| closure.together.guaranteed(*stub_owner, *owner)) {
            continue;
        }
        let Some(owner) = owners.first().map(|owner| closure.distributions[*owner]) else {
            continue;
        };
        let stub = LoadedFile { distribution: closure.distributions[*stub_owner], member };
        let (package, other) = (&stub.distribution.package, &owner.package);
        let message = format!(
            "{} starts `{}`, which only {} has: it can be absent",
            messages::file(&stub),
            program.file_name(),
            owner.name
        );
        let problem = Problem::error(Code::ScriptTarget, message).help(format!(
            "add requires \"{other}\" to package `{package}`, or take both in one package"
        ));
        problems.push(places.label(problem, &[stub]));
    }
    problems
}

fn members<'c, 'a>(closure: &'c Closure<'a>) -> impl Iterator<Item = (usize, &'a Member)> + 'c {
    let distributions = closure.distributions.iter().copied().enumerate();
    distributions.flat_map(|(owner, it)| it.members.iter().map(move |member| (owner, member)))
}
