//! Pure: no file system, clock or host path; equal inputs give equal plans.

use crate::{Plan, Request, Templates, texts};
use base::source::Problems;
use catalog::Catalog;
use manifest::Manifest;

mod aliases;
mod allowed_losses;
mod apart_code;
mod check;
mod closure;
mod compression;
mod describe;
mod devel;
mod directory;
mod emptied;
mod empty;
mod entries;
mod execstack;
pub mod explain;
mod forbidden;
mod functions;
mod gathered;
mod gone;
mod ignored;
mod install_tree;
mod installed;
mod licenses;
mod limits;
mod links;
mod marker;
mod misplaced;
mod misspelled;
mod needed;
mod notes;
mod only;
mod other_system;
mod oversize;
mod ownership;
mod package_version;
mod parted;
mod partial_artifacts;
mod paths;
mod place;
mod platform;
mod post_release;
mod programs;
mod python_path;
mod readme;
mod repeated;
mod requires;
mod resolved_dist;
mod resolver;
mod rpath;
mod runtime_data;
mod select;
mod set;
mod shared;
mod shared_module;
mod source_build;
mod sources;
mod taken_and_dropped;
mod targets;
mod too_wide;
mod undeclared;
mod unowned;
mod unused_rules;
mod wheel_variant;
mod windows;

pub use allowed_losses::AllowedLosses;
pub use closure::{Closure, InArtifact, LoadedFile, Need, Resolved};
pub use functions::undefined_script_functions;
pub use gone::{Why, with_reasons};
pub use installed::{plan_alone, plan_installed};
pub use licenses::without_license_text;
pub use needed::{Requested, needed};
pub use targets::target;

/// Compiles `manifest` and `catalog` into a plan with warnings.
///
/// # Errors
///
/// With all problems that would break a package.
pub fn plan(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    match resolver::plan(manifest, catalog, templates, request) {
        Ok((mut plan, warnings)) => {
            let warnings = warnings.sorted();
            plan.warnings = warnings.iter().map(ignored::warning).collect();
            plan.texts = texts::share(&mut plan.distributions);
            Ok((plan, warnings))
        }
        Err(problems) => Err(gathered::gathered(not_allowed(&problems, request).sorted())),
    }
}

/// Adds to the remedies of allowed errors that `--allow` is for findings in packages: it accepts no
/// error of a plan.
fn not_allowed(problems: &Problems, request: &Request) -> Problems {
    let mut completed = Problems::new();
    for problem in problems.iter() {
        let code = problem.code();
        completed.push(
            match problem.remedy().filter(|_| problem.is_error() && request.allows(code)) {
                Some(remedy) => {
                    let help =
                        format!("{remedy}; `--allow {code}` accepts it in finished packages alone");
                    problem.clone().help(help)
                }
                None => problem.clone(),
            },
        );
    }
    completed
}

#[cfg(test)]
mod tests;
