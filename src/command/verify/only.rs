//! A part of a plan.

use globset::Glob;
use rockpack::plan::Plan;
use rockpack::source::{Code, Problem};

use crate::command::Failure;

/// The plan with these packages alone, by their names in the manifest or as distributions; with no
/// names the whole plan.
///
/// # Errors
/// When a name is of no package, or is no pattern.
pub fn of(mut plan: Plan, names: &[String]) -> Result<Plan, Failure> {
    if names.is_empty() {
        return Ok(plan);
    }
    let mut kept = vec![false; plan.distributions.len()];
    for name in names {
        let folded = name.to_lowercase().replace(['_', '.'], "-");
        let glob = Glob::new(&folded).map_err(|error| wrong(name, &error.to_string()))?;
        let glob = glob.compile_matcher();
        let mut any = false;
        for (kept, one) in kept.iter_mut().zip(&plan.distributions) {
            let fits = glob.is_match(one.package.as_str()) || glob.is_match(one.name.normalized());
            *kept |= fits;
            any |= fits;
        }
        if !any {
            return Err(wrong(name, "no package of the plan has this name"));
        }
    }
    let mut kept = kept.into_iter();
    plan.distributions.retain(|_| kept.next().unwrap_or_default());
    Ok(plan)
}

fn wrong(name: &str, why: &str) -> Failure {
    Problem::error(Code::Environment, format!("--only {name}: {why}"))
        .help("--only takes names as `rockpack plan` prints them")
        .into()
}
