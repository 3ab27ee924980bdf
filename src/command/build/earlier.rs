//! Packages that earlier builds left in the destination: which of them go.

use std::io;
use std::path::Path;

use base::directory::entries;
use base::names::RelPath;
use base::source::{Code, Problem};
use build::execute::Earlier;
use manifest::Manifest;
use plan::Plan;
use projects::Outcome;
use wheel::archive::stage::DIST;
use wheel::package::distribution_of;

use crate::cli::BuildArgs;
use crate::ui;
use crate::ui::source_build::LastGood;

/// Whether a package of an earlier build goes when those of `plan` are put in place.
///
/// With `--only`, the packages that this build makes anew replace theirs of other versions. Without,
/// this build's packages are all that there is to be, apart from those of Python projects.
pub fn is_replaced(args: &BuildArgs, manifest: &Manifest, plan: &Plan, path: &RelPath) -> bool {
    let Some(name) = distribution_of(path.file_name()).filter(|_| !args.keep) else {
        return false;
    };
    if args.set.only.is_empty() {
        let python = &manifest.python;
        let projects = python.projects.iter().map(|project| &project.name.value);
        let mut others = projects.chain(python.wheels.iter().map(|wheel| &wheel.name.value));
        return others.all(|other| other.as_str() != name);
    }
    let mut made = plan.distributions.iter();
    made.any(|d| d.name.normalized() == name && Some(&d.directory) == path.parent().as_ref())
}

/// Whether a package of an earlier build goes since this build made its project or wheel anew. The last good wheel of
/// a project that failed stays.
pub fn is_of_project(args: &BuildArgs, plan: &Plan, outcome: &Outcome, path: &RelPath) -> bool {
    let projects = plan.projects.iter().map(|project| &project.name);
    let mut ours = projects.chain(plan.wheels.iter().map(|wheel| &wheel.name));
    !args.keep
        && distribution_of(path.file_name())
            .is_some_and(|name| ours.any(|other| other.as_str() == name) && !outcome.lacks(&name))
}

/// The wheels that earlier builds made of projects that failed now, and their age.
///
/// # Errors
/// Fails if the destination cannot be read.
pub fn last_good(dest: &Path, outcome: &Outcome) -> io::Result<Vec<LastGood>> {
    let mut found = Vec::new();
    if outcome.not_made.is_empty() || !dest.join(DIST).is_dir() {
        return Ok(found);
    }
    for entry in entries(dest.join(DIST))? {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = distribution_of(&file).filter(|name| outcome.lacks(name)) else {
            continue;
        };
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        found.push(LastGood { name, path: format!("{DIST}/{file}"), age });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Says which of them somebody changed.
pub fn tell(earlier: &Earlier) {
    for path in &earlier.changed {
        let what = format!("{path} was changed after an earlier build made it");
        let help = "it is left as it is, and SHA256SUMS no longer lists it";
        ui::show_problems(&Problem::warning(Code::ChecksumList, what).help(help).into());
    }
}
