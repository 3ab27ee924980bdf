//! What commands start from: the manifest, the artifacts' catalog, and the plan that both make.

use std::path::{Path, PathBuf};

use rockpack::catalog::{self, Catalog, Tree};
use rockpack::manifest::Manifest;
use rockpack::plan::{self, Plan, Request, Sources};
use rockpack::project;
use rockpack::source::{Code, Problem, Source, with_causes};

use crate::cli::{CatalogArgs, SetArgs};
use crate::command::Failure;
use crate::{builtin, ui};

pub mod cache;
mod memory;

pub use memory::share as memory_share;

/// The threads that a command works with: as many as were asked for, else one for each core.
pub fn pool(jobs: Option<u16>) -> Result<rayon::ThreadPool, Problem> {
    let threads = jobs.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Problem::error(Code::Environment, format!("cannot start threads: {e}")))
}

/// Compiles manifest and catalog into the plan that is asked for, and shows the warnings.
pub fn plan(manifest: &Manifest, catalog: &Catalog, set: &SetArgs) -> Result<Plan, Failure> {
    let (plan, warnings) = plan::resolve(manifest, catalog, &builtin::templates(), &request(manifest, set)?)?;
    ui::show_problems(&warnings);
    if set.verbose {
        ui::show_without_license_text(&plan);
    }
    Ok(plan)
}

/// What is asked of a plan, by the command line and by the variable that the manifest names.
pub fn request(manifest: &Manifest, set: &SetArgs) -> Result<Request, Problem> {
    let tag = manifest.project.platform_tag.env.as_deref().and_then(|name| std::env::var(name).ok()).filter(|tag| !tag.is_empty());
    let sources = set.sources.as_deref().map(|root| survey(manifest, root)).transpose()?;
    Ok(set.request(tag, sources))
}

/// What of the manifest's projects and wheels is there.
fn survey(manifest: &Manifest, root: &Path) -> Result<Sources, Problem> {
    if !root.is_dir() {
        let problem = Problem::error(Code::Environment, format!("there is no directory {}", root.display()));
        return Err(problem.help("--sources takes the directory that checkouts are in"));
    }
    project::survey(manifest, root).map_err(|e| Problem::error(Code::Environment, format!("cannot read the sources: {e}")))
}

/// The manifest of `dir`, else of this directory, else the one built in.
pub fn manifest(dir: Option<&Path>) -> Result<Manifest, Failure> {
    decode(&sources(dir)?)
}

/// The manifest that the texts of packages.kdl and families.kdl are.
pub fn decode((packages, families): &(Source, Source)) -> Result<Manifest, Failure> {
    let templates = builtin::templates();
    Ok(Manifest::decode_with_templates(packages, families, templates.keys().map(String::as_str))?)
}

/// What is in the artifacts: scanned from their directory, or as it was saved.
pub fn catalog(args: &CatalogArgs, verbose: bool) -> Result<Catalog, Failure> {
    let Some(file) = &args.catalog else {
        let dir =
            args.artifact_dir.as_deref().ok_or_else(|| Problem::usage(Code::Environment, "there is no artifact directory to read"))?;
        return scan(dir, verbose).map(|(catalog, _)| catalog);
    };
    let catalog = Catalog::load(file).map_err(|e| {
        let problem =
            Problem::error(Code::BrokenCatalog, with_causes(&e)).help("`rockpack scan --artifact-dir DIR -o FILE` saves a catalog");
        if e.blames_content() { Failure::Problems(problem.into()) } else { problem.into() }
    })?;
    if verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok(catalog)
}

/// Scans an artifact directory; `verbose` tells what is absent in it.
pub fn scan(dir: &Path, verbose: bool) -> Result<(Catalog, Tree), Failure> {
    if !dir.is_dir() {
        let what = if dir.exists() { "is not a directory" } else { "does not exist" };
        return Err(Problem::error(Code::Environment, format!("artifact directory {} {what}", dir.display()))
            .help("--artifact-dir takes the directory that holds base_lib_generic and the like")
            .into());
    }
    let (catalog, tree) = catalog::scan(dir)?;
    if verbose {
        ui::show_absent_bases(&catalog);
    }
    Ok((catalog, tree))
}

/// The texts of packages.kdl and families.kdl: of the directory that was named, of this one, or built in.
pub fn sources(dir: Option<&Path>) -> Result<(Source, Source), Problem> {
    let here = PathBuf::from(".");
    let dir = match dir {
        Some(dir) => dir,
        None if here.join(builtin::PACKAGES.0).is_file() => &here,
        None => return Ok((Source::new(builtin::PACKAGES.0, builtin::PACKAGES.1), Source::new(builtin::FAMILIES.0, builtin::FAMILIES.1))),
    };
    let read = |name: &str| {
        let path = dir.join(name);
        let text = fs_err::read_to_string(&path).map_err(|e| {
            Problem::error(Code::Environment, e.to_string()).help("--manifest takes the directory with packages.kdl and families.kdl")
        })?;
        // As people type it: `./` says nothing.
        let file = path.strip_prefix(".").unwrap_or(&path);
        Ok(Source::of_file(name, file.to_string_lossy(), text))
    };
    Ok((read(builtin::PACKAGES.0)?, read(builtin::FAMILIES.0)?))
}
