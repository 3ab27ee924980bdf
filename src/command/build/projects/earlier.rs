use std::io;
use std::path::Path;

use base::directory::entries;
use base::names::RelPath;
use plan::Plan;
use projects::Outcome;
use wheel::archive::stage::DIST;
use wheel::package::{WheelName, distribution_of};

use crate::cli::BuildArgs;
use crate::ui::source_build::LastGood;

/// Returns false for the last good wheel of a failed project, and for a wheel of a clean checkout
/// if its project was built from a dirty one.
pub fn is_replaced(args: &BuildArgs, plan: &Plan, outcome: &Outcome, path: &RelPath) -> bool {
    let projects = plan.projects.iter().map(|project| &project.name);
    let mut ours = projects.chain(plan.wheels.iter().map(|wheel| &wheel.name));
    let Some(name) = distribution_of(path.file_name()).filter(|_| !args.keep) else {
        return false;
    };
    let mut made = outcome.made.iter().filter(|made| made.name.as_str() == name);
    let is_clean_left = !is_dirty(path) && made.any(|made| is_dirty(&made.path));
    ours.any(|package| package.as_str() == name) && !outcome.is_missing(&name) && !is_clean_left
}

fn is_dirty(path: &RelPath) -> bool {
    let name = path.file_name().parse::<WheelName>();
    name.is_ok_and(|name| name.version.dirty() == name.version)
}

pub fn last_good(dest: &Path, outcome: &Outcome) -> io::Result<Vec<LastGood>> {
    let mut wheels = Vec::new();
    if outcome.not_made.is_empty() || !dest.join(DIST).is_dir() {
        return Ok(wheels);
    }
    for entry in entries(dest.join(DIST))? {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = distribution_of(&file).filter(|name| outcome.is_missing(name)) else {
            continue;
        };
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        wheels.push(LastGood { name, path: format!("{DIST}/{file}"), age });
    }
    wheels.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(wheels)
}
