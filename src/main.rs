//! The `rockpack` command: arguments in, pictures and exit status out.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use rockpack::catalog::{self, Catalog, Tree};
use rockpack::execute;
use rockpack::manifest::Manifest;
use rockpack::plan::{self, Plan};
use rockpack::source::{Problem, Problems, Source};

mod builtin;
mod cli;
mod elf_command;
mod ui;

use cli::{BuildArgs, Cli, Command, PlanArgs, SetArgs};

/// Why nothing was made: the exit status tells scripts which.
enum Failure {
    /// The manifest or the artifacts are at fault (1).
    Problems(Problems),
    /// The command line or the environment is (2).
    Environment(Problem),
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Environment(problem)
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Plan(args) => run_plan(&args),
        Command::Build(args) => run_build(&args),
        Command::Elf(args) => elf_command::run(&args.command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Problems(problems)) => {
            ui::show_problems(&problems);
            ExitCode::from(if problems.blame_usage() { 2 } else { 1 })
        }
        Err(Failure::Environment(problem)) => {
            ui::show_problems(&problem.into());
            ExitCode::from(2)
        }
    }
}

fn run_plan(args: &PlanArgs) -> Result<(), Failure> {
    let pool = pool(&args.set)?;
    let planned = pool.install(|| prepare(&args.set))?;
    let text = if args.json {
        serde_json::to_string_pretty(&planned.plan).map_err(|e| Problem::error(format!("cannot write the plan as JSON: {e}")))? + "\n"
    } else if args.files {
        plan::files_text(&planned.plan)
    } else {
        plan::summary_text(&planned.plan, args.set.verbose)
    };
    ui::print(&text).map_err(|e| Problem::error(format!("cannot print the plan: {e}")))?;
    Ok(())
}

fn run_build(args: &BuildArgs) -> Result<(), Failure> {
    let pool = pool(&args.set)?;
    let planned = pool.install(|| prepare(&args.set))?;
    let reporter = ui::Progress::new();
    let ours = |path: &rockpack::names::RelPath| planned.is_ours(path);
    let done = pool.install(|| execute::execute(&planned.plan, &planned.tree, &args.dest_dir, ours, &reporter));
    reporter.clear();
    let outcome = done.map_err(|e| match e {
        execute::ExecuteError::Files(_) => Failure::Problems(Problem::error(e.to_string()).into()),
        execute::ExecuteError::Stage(_) | execute::ExecuteError::Full { .. } | execute::ExecuteError::Output { .. } => {
            Failure::Environment(Problem::error(e.to_string()))
        }
    })?;
    ui::print(&ui::closing_table(&planned.plan, &outcome)).map_err(|e| Problem::error(format!("cannot print the result: {e}")))?;
    Ok(())
}

/// A plan with what is needed to execute it.
struct Planned {
    manifest: Manifest,
    plan: Plan,
    tree: Tree,
}

impl Planned {
    /// Whether a file in a `dist` directory is a package that this manifest makes, of whatever version.
    fn is_ours(&self, path: &rockpack::names::RelPath) -> bool {
        let only: Vec<_> = self.plan.distributions.iter().map(|d| &d.package).collect();
        let packages = self.manifest.packages.values().filter(|p| only.contains(&&p.name.value));
        let stems =
            packages.flat_map(|p| &p.distributions).map(|d| d.name.as_str().split('{').next().unwrap_or_default().replace(['-', '.'], "_"));
        let name = path.file_name();
        let file = Path::new(name).extension().is_some_and(|e| e == "whl") || name.strip_suffix(".tar.gz").is_some();
        file && stems
            .into_iter()
            .any(|stem| name.strip_prefix(stem.as_str()).is_some_and(|rest| rest.starts_with('-') || stem.ends_with('_')))
    }
}

fn pool(args: &SetArgs) -> Result<rayon::ThreadPool, Problem> {
    let threads = args.jobs.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| Problem::error(format!("cannot start threads: {e}")))
}

fn prepare(args: &SetArgs) -> Result<Planned, Failure> {
    let (packages, families) = sources(args.manifest.as_deref())?;
    let manifest = Manifest::decode(&packages, &families)?;
    let (catalog, tree) = scan(args)?;
    let tag = manifest.project.platform_tag_env.as_deref().and_then(|name| std::env::var(name).ok()).filter(|tag| !tag.is_empty());
    let (plan, warnings) = plan::resolve(&manifest, &catalog, &builtin::templates(), &args.request(tag))?;
    ui::show_problems(&warnings);
    Ok(Planned { manifest, plan, tree })
}

fn scan(args: &SetArgs) -> Result<(Catalog, Tree), Failure> {
    if !args.artifact_dir.is_dir() {
        let what = if args.artifact_dir.exists() { "is not a directory" } else { "does not exist" };
        return Err(Problem::error(format!("artifact directory {} {what}", args.artifact_dir.display()))
            .help("--artifact-dir takes the directory that holds base_lib_generic and the like")
            .into());
    }
    let (catalog, tree) = catalog::scan(&args.artifact_dir)?;
    if args.verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok((catalog, tree))
}

/// The texts of packages.kdl and families.kdl: of the directory that was named, of this one, or built in.
fn sources(dir: Option<&Path>) -> Result<(Source, Source), Problem> {
    let here = PathBuf::from(".");
    let dir = match dir {
        Some(dir) => dir,
        None if here.join(builtin::PACKAGES.0).is_file() => &here,
        None => return Ok((Source::new(builtin::PACKAGES.0, builtin::PACKAGES.1), Source::new(builtin::FAMILIES.0, builtin::FAMILIES.1))),
    };
    let read = |name: &str| {
        let path = dir.join(name);
        let text = fs_err::read_to_string(&path)
            .map_err(|e| Problem::error(e.to_string()).help("--manifest takes the directory with packages.kdl and families.kdl"))?;
        Ok(Source::new(name, text))
    };
    Ok((read(builtin::PACKAGES.0)?, read(builtin::FAMILIES.0)?))
}
