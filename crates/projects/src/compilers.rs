//! Compilers that projects name: a missing one is reported before the devel tree is made.

use std::ffi::OsString;

use super::{ProjectError, Settings, variables};
use manifest::{Filling, setting};
use plan::{Plan, ProjectBuild};

/// Fails if CMake, or a program in a project's `CC` or `CXX`, does not exist. Programs in a devel
/// package are not checked.
pub fn check(plan: &Plan, settings: &Settings) -> Result<(), ProjectError> {
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let caller = variables::base(caller);
    let named = plan.projects.iter().flat_map(|project| {
        programs(project, settings).into_iter().map(move |named| (project, named))
    });
    for (project, (variable, program)) in named {
        let is_there = variables::found(&caller, &program).is_some_and(|path| path.is_file());
        if !is_there {
            let program = match variable {
                Some(variable) => format!("{variable}={program}"),
                None => program,
            };
            return Err(ProjectError::NoProgram { project: project.name.to_string(), program });
        }
    }
    Ok(())
}

fn programs(project: &ProjectBuild, settings: &Settings) -> Vec<(Option<&'static str>, String)> {
    let cmake = project.native.as_ref().is_some_and(|native| native.cmake.is_some());
    let mut found: Vec<_> = cmake.then(|| (None, "cmake".to_owned())).into_iter().collect();
    for variable in ["CC", "CXX"] {
        let own = project.environment.get(variable).cloned();
        let callers = std::env::var_os(variable).filter(|_| cmake);
        let words = own.or_else(|| callers.and_then(|words: OsString| words.into_string().ok()));
        let tree = settings.installed.as_ref();
        let fill = |filling: &Filling| {
            (*filling == Filling::Devel).then(|| tree.map(|tree| tree.display().to_string()))?
        };
        let first = words.as_deref().and_then(|words| words.split_whitespace().next());
        let program = first.map(|program| setting::fill(program, fill));
        let program = program.filter(|program| setting::places(program).is_empty());
        found.extend(program.map(|program| (Some(variable), program)));
    }
    found
}
