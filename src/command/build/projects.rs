//! The Python projects of a build, after its packages.

use rockpack::catalog::sha256_of_file;
use rockpack::manifest::Manifest;
use rockpack::names::RelPath;
use rockpack::plan::Plan;
use rockpack::project::{self, ProjectError, Settings};
use rockpack::provenance::Package;
use rockpack::source::{Code, Problem, Problems, with_causes};

use super::super::{Failure, environment, print};
use crate::cli::BuildArgs;
use crate::ui;

/// How they are built, in so many processes at once.
pub fn settings(args: &BuildArgs, jobs: usize) -> Result<Settings, Failure> {
    let sources = args.set.sources.as_deref().map(std::path::absolute).transpose();
    let sources = sources.map_err(|e| environment(format!("cannot tell where the sources are: {e}")))?;
    Ok(Settings { sources, python: args.python.clone(), jobs, offline: args.no_index })
}

/// Whether the machine can build those of the plan.
pub fn check(plan: &Plan, settings: &Settings) -> Result<(), Failure> {
    project::check(plan, settings).map_err(|e| not_built(&e))
}

/// Builds projects and takes wheels, and says what was made; what was not is a problem each. What was made
/// goes to `rewrite`, which has to say of all packages what goes with them.
pub fn build(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    settings: &Settings,
    rewrite: impl FnOnce(&[Package<'_>]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let outcome = project::build(plan, settings, &args.dest_dir, &|happened| ui::project::tell_of(&happened)).map_err(|e| not_built(&e))?;
    if !outcome.made.is_empty() {
        let hash = |path: &RelPath| sha256_of_file(&args.dest_dir.join(path.as_str()));
        let hashes = outcome.made.iter().map(|made| hash(&made.path)).collect::<Result<Vec<_>, _>>();
        let hashes = hashes.map_err(|e| environment(format!("cannot read what was made: {e}")))?;
        rewrite(&outcome.made.iter().zip(&hashes).map(|(made, sha256)| Package { path: &made.path, sha256 }).collect::<Vec<_>>())?;
    }
    print(&ui::project::table(&outcome))?;
    let mut problems = Problems::new();
    for not_made in &outcome.not_made {
        problems.push(ui::project::problem(not_made, manifest.python.place(&not_made.name), &args.dest_dir));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// The machine cannot build projects at all.
fn not_built(error: &ProjectError) -> Failure {
    let problem = Problem::error(Code::Environment, with_causes(error));
    match error {
        ProjectError::Tools(tools) => problem.help(tools.remedy()).into(),
        ProjectError::Stage(_) | ProjectError::Io(_) => problem.into(),
    }
}
