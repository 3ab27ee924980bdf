//! Build of Python projects: settings, checks before the build, and the build itself.

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
use crate::cli::{BuildArgs, INSTALLED, ProjectOption};
use crate::inputs::{
    self,
    variable::{BUILD_DIRECTORY, PYTHON},
};
use crate::ui;

mod clean;
mod earlier;

/// Returns the settings for the build of projects and `wheel` nodes; `None` if the plan has neither.
pub fn settings(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    jobs: usize,
) -> Result<Option<Settings>, Failure> {
    let trials = [(ProjectOption::Tests, TrialKind::Tests), (ProjectOption::Docs, TrialKind::Docs)];
    let needs_sources = trials.iter().any(|(option, _)| args.has_project_option(*option));
    if needs_sources && args.set.sources.is_none() {
        let text = "--projects tests and --projects docs need the checkouts";
        return Err(Problem::usage(Code::Environment, text).help("add --sources DIR").into());
    }
    if plan.projects.is_empty() && plan.wheels.is_empty() {
        return Ok(None);
    }
    let sources =
        args.set.sources.as_deref().map(|path| absolute("--sources", path)).transpose()?;
    let protected = protected(args, sources.as_deref());
    let installed = args.installed.as_deref().map(|path| absolute(INSTALLED, path)).transpose()?;
    Ok(Some(Settings {
        sources,
        installed,
        python: python(),
        build_directory: inputs::variable(BUILD_DIRECTORY, build_directory)?,
        jobs,
        lock: lock(args)?,
        rebuild: args.has_project_option(ProjectOption::Rebuild),
        keep_work: args.has_project_option(ProjectOption::KeepWork),
        unconfined: args.unconfined,
        declared: declared(manifest),
        may_be_absent: names_that_may_be_absent(manifest, args.set.sources.as_deref())
            .map_err(|e| environment(format!("cannot read the sources: {e}")))?,
        protected,
        trials: trials
            .into_iter()
            .filter(|(option, _)| args.has_project_option(*option))
            .map(|(_, kind)| kind)
            .collect(),
    }))
}

fn absolute(option: &str, path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        let path = path.display();
        environment(format!("{option} {path}: cannot make the path absolute: {error}"))
    })
}

fn python() -> PathBuf {
    let name = std::env::var_os(PYTHON).filter(|name| !name.is_empty());
    name.map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

fn lock(args: &BuildArgs) -> Result<Option<Lock>, Failure> {
    let Some(directory) = &args.requirements else { return Ok(None) };
    let directory = absolute("--requirements", directory)?;
    Ok(Some(Lock { directory, is_fixed: args.artifacts.demands.locked }))
}

fn build_directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() && !text.contains(char::is_whitespace) {
        return Ok(path);
    }
    Err(format!("must be an absolute path without blanks, not `{text}`"))
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

/// Returns the names of native projects, and of `optional` projects without a checkout; see
/// [`Settings::may_be_absent`].
fn names_that_may_be_absent(
    manifest: &Manifest,
    sources: Option<&Path>,
) -> io::Result<BTreeSet<String>> {
    let survey = sources.map(|root| projects::survey(manifest, root)).transpose()?;
    let may_be_absent = |project: &&SourceProject| {
        let has_project = |sources: &Sources| sources.projects.contains_key(&project.name.value);
        project.native.is_some()
            || project.optional.is_some() && !survey.as_ref().is_some_and(has_project)
    };
    let names = manifest.python.projects.iter().filter(may_be_absent);
    Ok(names.map(|project| project.name.value.to_string()).collect())
}

/// Returns directories that no compiler cache of a project may contain: a project writes to its
/// caches, and other builds read or run the files in these. A directory whose path is unknown
/// cannot be compared with, and is left out.
fn protected(args: &BuildArgs, sources: Option<&Path>) -> Vec<PathBuf> {
    let cache = inputs::cache::directory(args.cache.cache.as_deref()).ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.into_iter().flat_map(|home| [home.join(".cache"), home.join(".cargo"), home]);
    let paths = [Some(args.output.clone()), cache, sources.map(Path::to_owned)];
    let canonical = |path: PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    paths.into_iter().flatten().chain(home).filter_map(canonical).collect()
}

/// Fails if the machine or the destination lacks something that a project needs, or if a checkout that
/// must be clean is dirty. Notes projects that the build skips, because their compiler is missing.
pub fn check(args: &BuildArgs, plan: &Plan, settings: &Settings) -> Result<(), Failure> {
    clean::check(args, plan, settings)?;
    let missing = projects::check(plan, settings, &args.output).map_err(|e| failure_of(&e))?;
    for (project, program) in missing {
        ui::print_message(&format!(
            "note: {project} will not be built: {program} does not exist; install it, or name \
             another program with --variable"
        ));
    }
    Ok(())
}

/// Fetches prefetched wheels. Fails with a problem for each unavailable one.
pub fn prefetch(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    settings: &Settings,
) -> Result<(), Failure> {
    let missing = projects::prefetch(plan, settings, &args.output, &|event| {
        ui::source_build::print_event(&event);
    });
    let mut problems = Problems::new();
    for wheel in missing.map_err(|e| failure_of(&e))? {
        let dependents = plan.projects.iter().filter(|p| p.after.contains(&wheel.name));
        let names: Vec<String> = dependents.map(|p| format!("`{}`", p.name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let place = manifest.python.place(&wheel.name);
        problems.push(ui::source_build::missing(&wheel, place, &names, &args.output));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Reports the restrictions of project code (walls), and notes restrictions that this kernel lacks.
fn report_walls(args: &BuildArgs, plan: &Plan) {
    if args.unconfined || plan.projects.is_empty() {
        return;
    }
    let walls = Walls::probe();
    ui::events::record(&Event::WallsStand {
        walls: walls.names().into_iter().map(str::to_owned).collect(),
        without_namespaces: walls.without_namespaces.clone(),
    });
    if args.set.verbose {
        ui::print_message(&format!("walls of project builds: {walls}"));
    }
    if let Some(restriction) = missing_restriction(walls) {
        ui::print_message(&format!("note: this kernel {restriction}"));
    }
}

fn missing_restriction(walls: &Walls) -> Option<&'static str> {
    let has_namespaces = walls.without_namespaces.is_none();
    match walls.landlock {
        Holds::Nothing if has_namespaces => Some(
            "does not confine project builds to their directory (Landlock, Linux 5.19): they can \
             change the Python environment that they run in",
        ),
        // Namespaces also separate network, signals and the other files.
        _ if has_namespaces => None,
        Holds::Nothing => Some(
            "does not confine builds of projects (Landlock, Linux 5.19): they can write outside \
             of their directories",
        ),
        Holds::Writing if !walls.filters => Some(
            "confines only the file access of project builds, not network and signals (Landlock, \
             Linux 6.7 and 6.12): they can connect anywhere and end programs",
        ),
        // With `Writing`, the filters refuse sockets of the network.
        Holds::Writing | Holds::Network => Some(
            "does not confine signals and abstract sockets of project builds (Landlock, Linux \
             6.12): they can end programs, including this one",
        ),
        Holds::Signals => None,
    }
}

/// Notes environment variables of the caller that the manifest or an option overrides for a project.
fn report_overridden_variables(plan: &Plan) {
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
            ui::print_message(&format!(
                "note: the environment variable {name} has no effect on {}: packages.kdl, --libs \
                 or --variable set it",
                projects.join(", ")
            ));
        }
    }
}

/// Builds the projects, and puts the wheels in place. `from_artifacts` has the packages that this
/// build has made of artifacts, and their inputs: provenance and checksums list them too.
pub fn build(
    args: &BuildArgs,
    manifest: &Manifest,
    plan: &Plan,
    settings: &Settings,
    from_artifacts: (&Inputs, &[Package<'_>]),
) -> Result<(), Failure> {
    report_walls(args, plan);
    report_overridden_variables(plan);
    // Makes this process the parent of programs that left their process group, which otherwise
    // keep running after the build.
    // A failure only means that they do.
    let _ = cleanup::adopt_orphans();
    // As for edited wheels: these are only some packages of a set.
    let gate = gate::for_command(check::Command::Edit, manifest, &args.set.allow);
    let result = projects::build(plan, settings, &args.output, &gate, &|event| {
        ui::source_build::print_event(&event);
    });
    cleanup::end_orphans();
    let (outcome, stage) = result.map_err(|e| failure_of(&e))?;
    let hash = |wheel: &MadeWheel| regular::sha256(stage.path(&wheel.path));
    let hashes = outcome.made.iter().map(hash).collect::<Result<Vec<_>, _>>();
    let hashes = hashes.map_err(|e| environment(format!("cannot read the new wheels: {e}")))?;
    let wheels = outcome.made.iter().zip(&hashes);
    let wheels: Vec<_> =
        wheels.map(|(wheel, sha256)| Package { path: &wheel.path, sha256 }).collect();
    let (inputs, packages) = from_artifacts;
    let inputs = build::provenance::with_projects(inputs.clone(), plan, &outcome.inputs);
    let attestations = Attestations { sboms: Vec::new(), inputs };
    let is_replaced = |path: &RelPath| earlier::is_replaced(args, plan, &outcome, path);
    let earlier_packages =
        execute::conclude(stage, plan, &attestations, &wheels, packages, is_replaced)
            .map_err(|e| not_executed(&e))?;
    super::earlier::warn_of_changes(&earlier_packages);
    let last_good = earlier::last_good(&args.output, &outcome)
        .map_err(|e| environment(format!("cannot read the wheels of an earlier build: {e}")))?;
    print(&ui::source_build::table(&outcome, &earlier_packages.removed, &last_good))?;
    let mut problems = Problems::new();
    for failed in &outcome.not_made {
        problems.push(ui::source_build::problem(
            failed,
            manifest.python.place(&failed.name),
            &args.output,
            &last_good,
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

pub fn failure_of(error: &ProjectError) -> Failure {
    let problem = Problem::error(Code::Environment, with_causes(error));
    match error {
        ProjectError::Tools(tools) => problem.help(tools.remedy()).into(),
        ProjectError::Absent { pin, .. } => {
            let name = pin.split("==").next().unwrap_or(pin);
            let help =
                format!("add `{name}` to --only, or use the --output of a build that made it");
            problem.help(help).into()
        }
        ProjectError::NotBefore { before, .. } => {
            let help =
                format!("add `{before}` to --only, or use the --output of a build that made it");
            problem.help(help).into()
        }
        ProjectError::NoProgram { .. } => {
            let help = "install it, or set its variable to another program, with --variable or in \
                        the environment";
            problem.help(help).into()
        }
        ProjectError::Checkout(git) => {
            let help = git.remedy().unwrap_or("check that `git -C DIRECTORY status` works");
            problem.help(help).into()
        }
        ProjectError::Stage(_) | ProjectError::Io(_) => problem.into(),
    }
}
