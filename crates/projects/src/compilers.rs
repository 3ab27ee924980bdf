//! Compilers that projects name: projects without theirs are reported before anything is built.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::{Settings, variables};
use base::names::PackageName;
use manifest::{Filling, setting};
use plan::{Plan, ProjectBuild};

/// Missing program of each project: CMake, or a program in `CC` or `CXX`. Programs in a devel
/// package are not checked.
pub type MissingPrograms = BTreeMap<PackageName, String>;

pub fn missing_programs(plan: &Plan, settings: &Settings) -> MissingPrograms {
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let caller = variables::base(caller);
    let exists = |program: &str| {
        variables::find_program(&caller, program).is_some_and(|path| path.is_file())
    };
    let missing = |project: &ProjectBuild| {
        let programs = programs(project, settings);
        let (variable, program) = programs.into_iter().find(|(_, program)| !exists(program))?;
        let variable = variable.map(|variable| format!("{variable}=")).unwrap_or_default();
        Some((project.name.clone(), format!("{variable}{program}")))
    };
    plan.projects.iter().filter_map(missing).collect()
}

/// Returns the missing program that stops all projects, directly or by one before them.
pub fn of_all(plan: &Plan, missing: &MissingPrograms) -> Option<(String, String)> {
    let is_stopped = |project: &ProjectBuild| {
        [&project.name].into_iter().chain(&project.after).any(|name| missing.contains_key(name))
    };
    let is_everything_stopped = plan.wheels.is_empty() && plan.projects.iter().all(is_stopped);
    let (name, program) = missing.iter().next().filter(|_| is_everything_stopped)?;
    Some((name.to_string(), program.clone()))
}

fn programs(project: &ProjectBuild, settings: &Settings) -> Vec<(Option<&'static str>, String)> {
    let cmake = project.native.as_ref().is_some_and(|native| native.cmake.is_some());
    let mut programs: Vec<_> = cmake.then(|| (None, "cmake".to_owned())).into_iter().collect();
    for variable in ["CC", "CXX"] {
        let project_words = project.environment.get(variable).cloned();
        let caller_words = std::env::var_os(variable).filter(|_| cmake);
        let words = project_words
            .or_else(|| caller_words.and_then(|words: OsString| words.into_string().ok()));
        let tree = settings.installed.as_ref();
        let fill = |filling: &Filling| {
            (*filling == Filling::Devel).then(|| tree.map(|tree| tree.display().to_string()))?
        };
        let first = words.as_deref().and_then(|words| words.split_whitespace().next());
        let program = first.map(|program| setting::fill(program, fill));
        let program = program.filter(|program| setting::places(program).is_empty());
        programs.extend(program.map(|program| (Some(variable), program)));
    }
    programs
}
