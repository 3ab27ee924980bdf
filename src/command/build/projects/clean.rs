//! `--require-clean`: no wheel is built from a dirty checkout.

use base::names::RelPath;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use plan::Plan;
use projects::{Settings, Snapshot};

use super::failure_of;
use crate::cli::BuildArgs;
use crate::failure::Failure;

const NAMED: usize = 5;

pub fn check(args: &BuildArgs, plan: &Plan, settings: &Settings) -> Result<(), Failure> {
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    if !args.require_clean.unwrap_or(in_ci) {
        return Ok(());
    }
    let Some(root) = settings.sources.as_ref().filter(|_| !plan.projects.is_empty()) else {
        return Ok(());
    };
    let snapshots = projects::snapshots(plan, root).map_err(|e| failure_of(&e.into()))?;
    let (mut problems, mut directories): (_, Vec<&RelPath>) = (Problems::new(), Vec::new());
    for snapshot in snapshots.values().filter(|snapshot| snapshot.content.is_dirty()) {
        if !directories.contains(&&snapshot.directory) {
            directories.push(&snapshot.directory);
            problems.push(dirty(snapshot, &root.join(snapshot.directory.as_str())));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn dirty(snapshot: &Snapshot, place: &std::path::Path) -> Problem {
    let changed = &snapshot.content.changed;
    let files = changed.iter().take(NAMED).map(|file| format!("`{}`", file.display()));
    let mut files = files.collect::<Vec<_>>().join(", ");
    if changed.len() > NAMED {
        files = format!("{files} and {}", counted(changed.len() - NAMED, "more file"));
    }
    let message = format!("the checkout `{}` is dirty: {files}", snapshot.directory);
    Problem::error(Code::DirtyCheckout, message).help(format!(
        "commit them, or remove them with `git stash --include-untracked` in {}; name needed \
         uncommitted files in an `include-ignored` line; or build with --require-clean=false",
        place.display()
    ))
}
