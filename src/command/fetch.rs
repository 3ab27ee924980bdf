//! `rockpack artifact fetch`.

use std::collections::BTreeSet;
use std::path::Path;

use base::directory::names;
use base::source::{Code, Problem};
use catalog::{Demands, archive_of, unchecked};
use fs_err as fs;
use index::fetch::{self, FetchPlan, Fetched, RemoteArchive, Selection};
use manifest::Manifest;
use plan::Request;

use super::{Failure, environment, print, print_exact};
use crate::cli::FetchArgs;
use crate::inputs::{self, artifacts};
use crate::ui;

pub fn run(args: &FetchArgs) -> Result<(), Failure> {
    let manifest = manifest(args)?;
    let [linux_families, windows_families] = args.families();
    let request = Request {
        mode: args.mode,
        system: args.system,
        linux_families,
        windows_families,
        ..Request::default()
    };
    let options = artifacts::ArtifactOptions {
        place: args.url.as_ref().map(|url| Path::new(url.reveal())),
        store: args.store.as_deref(),
        args: &args.artifacts,
        manifest: manifest.as_ref(),
        request: (!args.all).then_some(&request),
        system: args.system,
        verbose: false,
    };
    let run = artifacts::run(options)?.ok_or_else(|| not_an_address(args))?;
    let demands = artifacts::demands(options)?;
    let selection = artifacts::select(&run, options, &demands)?;
    if args.dry_run {
        print_plan(args, &FetchPlan::new(&run.address, &selection, &demands))?;
        return artifacts::check(&selection, &demands);
    }
    artifacts::check(&selection, &demands)?;
    let Some(dir) = &args.output else { return Ok(()) };
    let fetched = fetched(options, dir, &selection, &demands, &selection.archives(&run.bucket))?;
    let archives: Vec<_> = fetched.iter().map(|fetched| &fetched.archive).collect();
    let bare: Vec<&str> =
        archives.iter().filter(|a| !a.is_verified).map(|a| a.locked.key.as_str()).collect();
    if !bare.is_empty() {
        ui::show_problems(&unchecked(&bare, false).into());
    }
    artifacts::write_lock(&args.artifacts.demands, &demands, archives)?;
    print(&ui::fetched_table(&fetched, ui::width()))
}

fn manifest(args: &FetchArgs) -> Result<Option<Manifest>, Failure> {
    if args.all && args.store.is_none() {
        return Ok(None);
    }
    inputs::manifest::read(args.manifest.as_deref()).map(Some)
}

fn not_an_address(args: &FetchArgs) -> Problem {
    let address = args.url.as_ref().map(|url| format!("`{url}`")).unwrap_or_default();
    let problem =
        Problem::usage(Code::Environment, format!("{address} is not an address of a run"));
    problem.help("begin with s3://, gs://, az://, https:// or file://; a directory needs no fetch")
}

fn print_plan(args: &FetchArgs, plan: &FetchPlan) -> Result<(), Failure> {
    if !args.json {
        return print(&ui::fetch_plan_text(plan));
    }
    let json = serde_json::to_string_pretty(plan)
        .map_err(|e| environment(format!("cannot write the plan as JSON: {e}")))?;
    print_exact(&(json + "\n"))
}

fn fetched(
    options: artifacts::ArtifactOptions<'_>,
    dir: &Path,
    selection: &Selection,
    demands: &Demands,
    archives: &[RemoteArchive],
) -> Result<Vec<Fetched>, Failure> {
    fs::create_dir_all(dir).map_err(|e| environment(e.to_string()))?;
    check_others(dir, selection)?;
    fetch::check_room(archives, dir).map_err(Failure::Environment)?;
    let fetched = artifacts::with_progress(archives, options, |archives| {
        fetch::download(&archives, dir, demands)
    })?;
    Ok(fetched?)
}

/// Refuses a directory with other artifacts: a build would take them too.
fn check_others(dir: &Path, selection: &Selection) -> Result<(), Failure> {
    let keys: BTreeSet<&str> = selection.selected.iter().map(|s| s.object.key.as_str()).collect();
    let mut extra = Vec::new();
    for name in names(dir).map_err(|e| environment(e.to_string()))? {
        let is_artifact =
            archive_of(&name).is_some() || archive_of(&format!("{name}.tar.xz")).is_some();
        if is_artifact && !keys.contains(name.as_str()) {
            extra.push(name);
        }
    }
    let Some(first) = extra.first() else { return Ok(()) };
    let more = match extra.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more artifacts"),
    };
    let message =
        format!("{} has `{first}`{more}, which are not part of this fetch", dir.display());
    let problem = Problem::error(Code::Environment, message);
    Err(problem
        .help("fetch into another directory, or remove them: a build would use them too")
        .into())
}
