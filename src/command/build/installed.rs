//! Projects alone: against an installed tree (`--rocm-path`), or such as need no ROCm.

use std::path::{Path, PathBuf};

use base::event::Phase;
use base::regular;
use base::source::{Code, Problem};
use base::version::Version;
use plan::resolve;

use super::projects;
use super::{Failure, environment, print, print_left_out};
use crate::cli::BuildArgs;
use crate::inputs;
use crate::ui;

const VERSION: &str = ".info/version";
const MOST_OF_VERSION: u64 = 4096;

/// Returns true if the command line names projects, and neither artifacts nor a plan of them.
pub fn is_asked(args: &BuildArgs) -> bool {
    let has_artifacts = args.artifact_dir.is_some()
        || args.store.is_some()
        || args.catalog.is_some()
        || args.plan.is_some()
        || args.remote.artifacts_digest.is_some()
        || args.since.since.is_some();
    args.installed.is_some() || args.set.sources.is_some() && !has_artifacts
}

pub fn run(args: &BuildArgs) -> Result<(), Failure> {
    ui::events::phase(Phase::Plan);
    let jobs = inputs::pool(args.set.threads.jobs)?.current_num_threads();
    let sources = inputs::manifest::sources(args.set.manifest.as_deref())?;
    ui::show_manifest_name(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    let tree = args.installed.as_deref().map(checked).transpose()?;
    let mut request = inputs::request(&manifest, &args.set)?;
    let original_request = request.clone();
    request.version = request.version.or_else(|| version(tree.as_deref()?));
    if request.platform_tag.is_none() {
        request.platform_tag = format!("linux_{}", std::env::consts::ARCH).parse().ok();
    }
    let plan = if tree.is_some() {
        resolve::plan_installed(&manifest, &request)?
    } else {
        ui::print_message(
            "note: neither artifacts nor an installation is named: only projects are built",
        );
        resolve::plan_alone(&manifest, &request)?
    };
    print_left_out(args, &plan);
    let Some(projects) = projects::settings(args, &manifest, &plan, jobs)? else { return Ok(()) };
    projects::check(args, &plan, &projects)?;
    if args.dry_run {
        let text = review::summary_text(&plan, args.set.verbose);
        return print(&format!("{text}\nnothing written (--dry-run)\n"));
    }
    ui::events::phase(Phase::Projects);
    projects::prefetch(args, &manifest, &plan, &projects)?;
    let files: Vec<_> =
        manifest.sources.iter().map(|source| (source.name(), source.text())).collect();
    let mut of_build = build::provenance::inputs_without_artifacts(&original_request, &files);
    of_build.run = inputs::run()?;
    projects::build(args, &manifest, &plan, &projects, (&of_build, &[]))
}

fn checked(tree: &Path) -> Result<PathBuf, Failure> {
    if !tree.join("include").is_dir() {
        let problem = Problem::error(
            Code::Environment,
            format!("no headers in {}", tree.join("include").display()),
        );
        return Err(problem.help("give the directory with bin, include and lib").into());
    }
    std::path::absolute(tree)
        .map_err(|e| environment(format!("cannot tell where {} is: {e}", tree.display())))
}

/// Reads the version, without the number of the build behind `-`.
fn version(tree: &Path) -> Option<Version> {
    let text = regular::read_to_string(tree.join(VERSION), MOST_OF_VERSION).ok()?;
    text.trim().split('-').next()?.parse().ok()
}
