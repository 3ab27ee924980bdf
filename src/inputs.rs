use plan::resolve;
use std::path::Path;

use ::manifest::Manifest;
use base::names::{PlatformTagError, PlatformTags};
use base::source::{Code, Problem};
use base::text::with_causes;
use catalog::Catalog;
use plan::{Plan, Request, Sources};

use crate::cli::SetArgs;
use crate::failure::Failure;
use crate::{builtin, ui};

pub mod artifacts;
pub mod cache;
pub mod contained;
pub mod manifest;
mod memory;
mod near;
pub mod remote;
mod run;
pub mod saved_plan;
mod shared;
pub mod variable;

pub use near::near;
pub use run::run;
pub use shared::Remote;
pub use variable::variable;

pub use memory::{share as memory_share, threads};

/// Returns a pool of `jobs` threads, or one for each core.
pub fn pool(jobs: Option<u16>) -> Result<rayon::ThreadPool, Problem> {
    let threads = jobs.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("worker {}", index + 1))
        .build()
        .map_err(|e| Problem::error(Code::Environment, format!("cannot start threads: {e}")))
}

pub fn plan(
    manifest: &Manifest,
    catalog: &Catalog,
    request: &Request,
    verbose: bool,
) -> Result<Plan, Failure> {
    let (plan, warnings) = resolve::plan(manifest, catalog, &builtin::templates(), request)?;
    ui::show_problems(&warnings);
    if verbose {
        ui::show_expected(&warnings);
        ui::show_without_license_text(&plan);
    }
    // Before the first output.
    if ui::has_denied() { Err(Failure::Reported) } else { Ok(plan) }
}

pub fn request(manifest: &Manifest, set: &SetArgs) -> Result<Request, Problem> {
    let tag = match &set.platform_tag {
        Some(_) => None,
        None => tag_of_environment(manifest)?,
    };
    let sources = set.sources.as_deref().map(|root| survey(manifest, root)).transpose()?;
    Ok(set.request(tag, sources))
}

fn tag_of_environment(manifest: &Manifest) -> Result<Option<PlatformTags>, Problem> {
    let Some(name) = &manifest.project.platform_tag.env else { return Ok(None) };
    let text = std::env::var_os(&**name).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    text.to_string_lossy().parse().map(Some).map_err(|e: PlatformTagError| {
        let message = format!("{}: `{}` is not a platform tag: {}", name.value, e.tag, e.reason);
        Problem::usage(Code::PlatformTag, message)
            .label(&name.place, "this variable sets the tag")
            .help(e.remedy)
    })
}

fn survey(manifest: &Manifest, root: &Path) -> Result<Sources, Problem> {
    if !root.is_dir() {
        let problem = Problem::error(Code::Environment, format!("no directory {}", root.display()));
        let help = "give --sources the directory of the checkouts";
        return Err(problem.help(format!("{}{help}", near(root))));
    }
    projects::survey(manifest, root)
        .map_err(|e| Problem::error(Code::Environment, format!("cannot read the sources: {e}")))
}

pub fn catalog(
    file: Option<&Path>,
    options: artifacts::ArtifactOptions<'_>,
) -> Result<Catalog, Failure> {
    let Some(file) = file else { return artifacts::scan(options).map(|(catalog, _)| catalog) };
    let catalog = Catalog::load(file).map_err(|e| {
        let problem = Problem::error(Code::BrokenCatalog, with_causes(&e)).help(format!(
            "{}save a catalog with `rockpack artifact scan --artifact-dir DIR -o FILE`",
            near(file)
        ));
        if e.blames_content() { Failure::Problems(problem.into()) } else { problem.into() }
    })?;
    if options.verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok(catalog)
}
