//! A part of a plan.

use rockpack::plan::{OnlyName, Plan};
use rockpack::source::{Code, Problem};

use crate::failure::Failure;

/// The plan with these packages alone, by their names in the manifest or as distributions; with no
/// names the whole plan.
///
/// # Errors
/// When a name is of no package.
pub fn of(mut plan: Plan, names: &[OnlyName]) -> Result<Plan, Failure> {
    if names.is_empty() {
        return Ok(plan);
    }
    let mut kept = vec![false; plan.distributions.len()];
    for name in names {
        let mut any = false;
        for (kept, one) in kept.iter_mut().zip(&plan.distributions) {
            let fits = name.matches(one.package.as_str()) || name.matches(one.name.as_str());
            *kept |= fits;
            any |= fits;
        }
        if !any {
            let what = format!("--only {name}: no package of the plan has this name");
            let problem = Problem::error(Code::Environment, what);
            return Err(problem.help("--only takes names as `rockpack plan` prints them").into());
        }
    }
    let mut kept = kept.into_iter();
    plan.distributions.retain(|_| kept.next().unwrap_or_default());
    Ok(plan)
}
