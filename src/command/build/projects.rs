use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use base::cleanup;
use base::event::Event;
use base::names::RelPath;
use base::regular;
use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use build::execute::{self, Attestations};
use manifest::{Manifest, SourceProject};
use plan::{Plan, ProjectBuild, Sources};
use projects::{Holds, Lock, MadeWheel, ProjectError, Settings, TrialKind, Walls};
use record::provenance::{Inputs, Package};

use super::super::{Failure, environment, gate, not_executed, print};
use crate::cli::{BuildArgs, More};
use crate::inputs::{
    self,
    variable::{BUILD_DIRECTORY, PYTHON},
};
use crate::ui;

mod clean;
mod earlier;

/// Returns `None` if the plan has neither projects nor finished wheels.
pub fn settings(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    jobs: usize,
) -> Result<Option<Settings>, Failure> {
    let asked = [More::Tests, More::Docs].into_iter().any(|more| args.asks(more));
    if asked && args.set.sources.is_none() {
        let text = "--projects tests, docs: no sources are named";
        return Err(Problem::usage(Code::Environment, text)
            .help("--sources DIR names them")
            .into());
    }
    if plan.projects.is_empty() && plan.wheels.is_empty() {
        return Ok(None);
    }
    let sources = args.set.sources.as_deref().map(std::path::absolute).transpose();
    let sources =
        sources.map_err(|e| environment(format!("cannot tell where the sources are: {e}")))?;
    let trials = [(More::Tests, TrialKind::Tests), (More::Docs, TrialKind::Docs)];
    let protected = protected(args, sources.as_deref());
    let installed = args.installed.as_deref().map(std::path::absolute).transpose();
    let installed = installed
        .map_err(|e| environment(format!("cannot tell where the installed tree is: {e}")))?;
    Ok(Some(Settings {
        sources,
        installed,
        python: python(),
        build_directory: inputs::variable(BUILD_DIRECTORY, build_directory)?,
        jobs,
        lock: lock(args)?,
        anew: args.asks(More::Rebuild),
        keep_work: args.asks(More::KeepWork),
        unconfined: args.unconfined,
        declared: declared(manifest),
        native: dispensable(manifest, args.set.sources.as_deref())
            .map_err(|e| environment(format!("cannot read the sources: {e}")))?,
        protected,
        trials: trials
            .into_iter()
            .filter(|(more, _)| args.asks(*more))
            .map(|(_, kind)| kind)
            .collect(),
    }))
}

fn python() -> PathBuf {
    let named = std::env::var_os(PYTHON).filter(|name| !name.is_empty());
    named.map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

fn lock(args: &BuildArgs) -> Result<Option<Lock>, Failure> {
    let Some(directory) = &args.requirements else { return Ok(None) };
    let directory = std::path::absolute(directory)
        .map_err(|e| environment(format!("cannot tell where the requirements are: {e}")))?;
    Ok(Some(Lock { directory, is_fixed: is_locked(args) }))
}

fn is_locked(args: &BuildArgs) -> bool {
    args.requirements.is_some() && args.artifacts.demands.locked
}

fn build_directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() && !text.contains(char::is_whitespace) {
        return Ok(path);
    }
    Err(format!("`{text}` is not an absolute path without blanks"))
}

/// Returns the names of all packages, projects and wheels, normalized.
fn declared(manifest: &Manifest) -> BTreeSet<String> {
    let python = &manifest.python;
    let projects = python.projects.iter().map(|project| &project.name.value);
    let wheels = python.wheels.iter().map(|wheel| &wheel.name.value);
    let prefetched = python.prefetched.iter().map(|wheel| &wheel.name.value);
    let sources = projects.chain(wheels).chain(prefetched).map(ToString::to_string);
    sources.chain(manifest.distribution_names().into_iter().map(|(name, _)| name)).collect()
}

/// Returns the names of projects that others can be built without: native ones, whose directory the
/// caller can name, and those that the checkouts lack for a reason.
fn dispensable(manifest: &Manifest, sources: Option<&Path>) -> io::Result<BTreeSet<String>> {
    let survey = sources.map(|root| projects::survey(manifest, root)).transpose()?;
    let is_left_out = |project: &&SourceProject| {
        let has_project = |sources: &Sources| sources.projects.contains_key(&project.name.value);
        project.native.is_some()
            || project.optional.is_some() && !survey.as_ref().is_some_and(has_project)
    };
    let names = manifest.python.projects.iter().filter(is_left_out);
    Ok(names.map(|project| project.name.value.to_string()).collect())
}

/// Returns directories that projects must not use as caches: other builds read or run them.
fn protected(args: &BuildArgs, sources: Option<&Path>) -> Vec<PathBuf> {
    let cache = inputs::cache::directory(args.cache.cache.as_deref()).ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.into_iter().flat_map(|home| [home.join(".cache"), home.join(".cargo"), home]);
    let paths = [Some(args.output.clone()), cache, sources.map(Path::to_owned)];
    let whole = |path: PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    paths.into_iter().flatten().chain(home).filter_map(whole).collect()
}

/// Fails if the machine cannot build the plan's projects, or for dirty checkouts that must be
/// clean.
pub fn check(args: &BuildArgs, plan: &Plan, settings: &Settings) -> Result<(), Failure> {
    clean::check(args, plan, settings)?;
    let missing = projects::check(plan, settings, &args.output).map_err(|e| not_built(&e))?;
    for (project, program) in missing {
        ui::tell(&format!("note: {project} will not be built: {program} does not exist"));
    }
    Ok(())
}

/// Reports all unavailable wheels.
pub fn prefetch(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    settings: &Settings,
) -> Result<(), Failure> {
    let missing = projects::prefetch(plan, settings, &args.output, &|happened| {
        ui::source_build::tell_of(&happened);
    });
    let mut problems = Problems::new();
    for wheel in missing.map_err(|e| not_built(&e))? {
        let waiting = plan.projects.iter().filter(|p| p.after.contains(&wheel.name));
        let waiting: Vec<String> = waiting.map(|p| format!("`{}`", p.name)).collect();
        let waiting: Vec<&str> = waiting.iter().map(String::as_str).collect();
        let place = manifest.python.place(&wheel.name);
        problems.push(ui::source_build::missing(&wheel, place, &waiting, &args.output));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Tells the walls around project code, and notes the missing ones.
fn tell_walls(args: &BuildArgs, plan: &Plan) {
    if args.unconfined || plan.projects.is_empty() {
        return;
    }
    let walls = Walls::probe();
    ui::events::record(&Event::WallsStand {
        walls: walls.names().into_iter().map(str::to_owned).collect(),
        without_namespaces: walls.without_namespaces.clone(),
    });
    if args.set.verbose {
        ui::tell(&format!("walls of project builds: {walls}"));
    }
    if let Some(missing) = missing(walls) {
        ui::tell(&format!("note: this kernel {missing}"));
    }
}

fn missing(walls: &Walls) -> Option<&'static str> {
    let has_namespaces = walls.without_namespaces.is_none();
    match walls.landlock {
        Holds::Nothing if has_namespaces => Some(
            "does not confine project builds in their own directory (Landlock, Linux 5.19): they \
             can change their environment",
        ),
        _ if has_namespaces => None,
        Holds::Nothing => Some(
            "does not confine builds of projects (Landlock, Linux 5.19): they can write outside \
             of their directories",
        ),
        Holds::Writing if !walls.filters => Some(
            "confines only the file access of project builds, not network and signals (Landlock, \
             Linux 6.7 and 6.12): they can connect anywhere and end programs",
        ),
        Holds::Writing | Holds::Network => Some(
            "does not confine signals and abstract sockets of project builds (Landlock, Linux \
             6.12): they can end programs, including this one",
        ),
        Holds::Signals => None,
    }
}

/// Notes variables of the caller that lines of projects override.
fn tell_without_effect(plan: &Plan) {
    let names: BTreeSet<&String> =
        plan.projects.iter().flat_map(|project| project.environment.keys()).collect();
    for name in names {
        let Some(value) = std::env::var_os(name) else { continue };
        let sets = |project: &&ProjectBuild| {
            project.environment.get(name).is_some_and(|setting| value != **setting)
        };
        let projects: Vec<&str> =
            plan.projects.iter().filter(sets).map(|project| project.name.as_str()).collect();
        if !projects.is_empty() {
            ui::tell(&format!(
                "note: {name} of the environment has no effect on {}: lines of packages.kdl, \
                 --libs or --variable set it",
                projects.join(", ")
            ));
        }
    }
}

/// Takes `made_before` as part of the same build.
pub fn build(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    settings: &Settings,
    made_before: (&Inputs, &[Package<'_>]),
) -> Result<(), Failure> {
    tell_walls(args, plan);
    tell_without_effect(plan);
    // Otherwise, programs that left their process group keep running.
    let _ = cleanup::adopt_orphans();
    let gate = gate::for_command(check::Command::Edit, manifest, &args.set.allow);
    let built = projects::build(plan, settings, &args.output, &gate, &|happened| {
        ui::source_build::tell_of(&happened);
    });
    cleanup::end_orphans();
    let (outcome, stage) = built.map_err(|e| not_built(&e))?;
    let hash = |made: &MadeWheel| regular::sha256(stage.path(&made.path));
    let hashes = outcome.made.iter().map(hash).collect::<Result<Vec<_>, _>>();
    let hashes = hashes.map_err(|e| environment(format!("cannot read the new wheels: {e}")))?;
    let made = outcome.made.iter().zip(&hashes);
    let made: Vec<_> = made.map(|(made, sha256)| Package { path: &made.path, sha256 }).collect();
    let (inputs, packages) = made_before;
    let inputs = build::provenance::with_projects(inputs.clone(), plan, &outcome.inputs);
    let attestations = Attestations { sboms: Vec::new(), inputs };
    let goes = |path: &RelPath| earlier::is_replaced(args, plan, &outcome, path);
    let done = execute::conclude(stage, plan, &attestations, &made, packages, goes)
        .map_err(|e| not_executed(&e))?;
    super::earlier::tell(&done);
    let last_good = earlier::last_good(&args.output, &outcome)
        .map_err(|e| environment(format!("cannot read the wheels of an earlier build: {e}")))?;
    print(&ui::source_build::table(&outcome, &done.removed, &last_good))?;
    let mut problems = Problems::new();
    for not_made in &outcome.not_made {
        problems.push(ui::source_build::problem(
            not_made,
            manifest.python.place(&not_made.name),
            &args.output,
            &last_good,
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

pub fn not_built(error: &ProjectError) -> Failure {
    let problem = Problem::error(Code::Environment, with_causes(error));
    match error {
        ProjectError::Tools(tools) => problem.help(tools.remedy()).into(),
        ProjectError::Absent { pin, .. } => {
            let name = pin.split("==").next().unwrap_or(pin);
            let help =
                format!("add it (--only …,{name}), or give the --output of a build that made it");
            problem.help(help).into()
        }
        ProjectError::NotBefore { before, .. } => {
            let help = format!(
                "build it too (--only …,{before}), or give the --output of a build that made it"
            );
            problem.help(help).into()
        }
        ProjectError::NoProgram { .. } => {
            let help = "install it, or name another, as --variable or in the environment";
            problem.help(help).into()
        }
        ProjectError::Checkout(_) => {
            let help = "check that `git -C DIRECTORY status` works";
            problem.help(help).into()
        }
        ProjectError::Stage(_) | ProjectError::Io(_) => problem.into(),
    }
}
