//! `rockpack build`: executes the plan.

use std::path::Path;

use rockpack::cache::Cache;
use rockpack::catalog::Catalog;
use rockpack::execute::{self, Outcome, Papers, Settings};
use rockpack::manifest::Manifest;
use rockpack::names::RelPath;
use rockpack::plan::{self, Plan, Request};
use rockpack::provenance::Inputs;
use rockpack::source::{Code, Problem, Source, with_causes};

use super::{Failure, environment, not_executed, print};
use crate::cli::{BuildArgs, CacheArgs};
use crate::inputs;
use crate::ui;

mod projects;

/// Writes every package, and says what was made.
pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    let artifacts = artifacts(args)?;
    let pool = inputs::pool(args.set.jobs)?;
    let sources = inputs::sources(args.set.manifest.as_deref())?;
    let manifest = inputs::decode(&sources)?;
    let request = inputs::request(&manifest, &args.set)?;
    let (catalog, tree) = pool.install(|| inputs::scan(artifacts, args.set.verbose))?;
    let plan = pool.install(|| inputs::plan(&manifest, &catalog, &args.set))?;
    let projects = projects::settings(args, pool.current_num_threads())?;
    // What would stop projects is better known before artifacts are packed.
    projects::check(&plan, &projects)?;
    // With --only there can be projects alone.
    let papers = pool.install(|| papers(args, request, &sources, &manifest, &catalog, &plan));
    let mut built = Vec::new();
    if !plan.distributions.is_empty() || plan.projects.is_empty() && plan.wheels.is_empty() {
        let reporter = ui::Progress::new();
        let ours = |path: &RelPath| is_ours(&manifest, &plan, path);
        let done = pool.install(|| execute::execute(&plan, &papers, &tree, &args.dest_dir, ours, settings(args), &reporter));
        reporter.clear();
        let outcome = done.map_err(|e| not_executed(&e))?;
        tell(args, &plan, &outcome)?;
        built = outcome.built;
    }
    projects::build(args, &manifest, &plan, &projects, |made| {
        let packages = [&execute::packages(&built)[..], made].concat();
        execute::rewrite_papers(&plan, &papers, &packages, &args.dest_dir).map_err(|e| not_executed(&e))
    })
}

/// How the packages are built.
fn settings(args: &BuildArgs) -> Settings {
    Settings { memory: args.memory.unwrap_or_else(inputs::memory_share), spans: args.timings.is_some(), cache: cache(&args.cache) }
}

/// Says what was made of artifacts, and where the time went.
fn tell(args: &BuildArgs, plan: &Plan, outcome: &Outcome) -> Result<(), Failure> {
    outcome.cache.iter().flat_map(|summary| &summary.warnings).for_each(|e| warn_of_cache(&with_causes(e)));
    if let Some(file) = &args.timings {
        ui::write_trace(file, &outcome.timings).map_err(|e| environment(format!("cannot write the timings: {e}")))?;
    }
    print(&ui::closing_table(plan, outcome))
}

/// What goes with the packages.
fn papers(args: &BuildArgs, request: Request, sources: &(Source, Source), manifest: &Manifest, catalog: &Catalog, plan: &Plan) -> Papers {
    let files = [&sources.0, &sources.1].map(|source| (source.name(), source.text()));
    let mut inputs = Inputs::new(request, &files, catalog);
    inputs.builder = args.builder_id.clone();
    inputs.invocation = args.invocation_id.clone().filter(|id| !id.is_empty());
    Papers { sboms: plan::sboms(manifest, catalog, plan), inputs }
}

/// The cache that was asked for. A build does without one that cannot be used, and says so.
fn cache(args: &CacheArgs) -> Option<Cache> {
    if !args.wanted(inputs::cache::forbidden()) {
        return None;
    }
    let dir = inputs::cache::directory(args.cache.as_deref()).map_err(|problem| problem.to_string());
    match dir.and_then(|dir| Cache::open(&dir, args.limit()).map_err(|e| with_causes(&e))) {
        Ok(cache) => Some(cache),
        Err(why) => {
            warn_of_cache(&why);
            None
        }
    }
}

/// What the cache could not do concerns no package.
fn warn_of_cache(why: &str) {
    ui::show_problems(
        &Problem::warning(Code::Cache, format!("the cache is not used: {why}"))
            .help("--no-cache builds without one, --cache DIR with another")
            .into(),
    );
}

/// The artifact directory; a saved catalog has no bytes to make packages of.
fn artifacts(args: &BuildArgs) -> Result<&Path, Problem> {
    match (&args.artifact_dir, &args.catalog) {
        (Some(dir), None) => Ok(dir),
        _ => Err(Problem::usage(Code::Environment, "a saved catalog has no bytes to build packages of")
            .help("give the artifacts themselves: --artifact-dir DIR; `rockpack plan --catalog FILE` shows what they would make")),
    }
}

/// Whether a file in a `dist` directory is a package that this manifest makes, of whatever version.
fn is_ours(manifest: &Manifest, plan: &Plan, path: &RelPath) -> bool {
    let built: Vec<_> = plan.distributions.iter().map(|d| &d.package).collect();
    let packages = manifest.packages.values().filter(|p| built.contains(&&p.name.value));
    let stems =
        packages.flat_map(|p| &p.distributions).map(|d| d.name.as_str().split('{').next().unwrap_or_default().replace(['-', '.'], "_"));
    let name = path.file_name();
    let file = Path::new(name).extension().is_some_and(|e| e == "whl") || name.strip_suffix(".tar.gz").is_some();
    file && stems.into_iter().any(|stem| name.strip_prefix(stem.as_str()).is_some_and(|rest| rest.starts_with('-') || stem.ends_with('_')))
}
