use std::io::ErrorKind;
use std::path::Path;

use base::source::{Code, Problem};
use base::text::with_causes;
use plan::{OnlyName, Plan};

use crate::failure::Failure;

pub fn read(path: &Path) -> Result<Plan, Failure> {
    let refused = |error: String| -> Failure {
        let what = format!("cannot read {}: {error}", path.display());
        Problem::error(Code::Environment, what)
            .help("give --plan the output of `rockpack plan --json`")
            .into()
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        refused(match error.kind() {
            ErrorKind::InvalidData => "it is not text".to_owned(),
            _ => error.to_string(),
        })
    })?;
    Plan::read(&text).map_err(|error| refused(with_causes(&error)))
}

/// Reduces a plan to these packages, projects and wheels, if any are named.
pub fn only(mut plan: Plan, names: &[OnlyName]) -> Result<Plan, Failure> {
    if names.is_empty() {
        return Ok(plan);
    }
    for name in names {
        let of_package = plan
            .distributions
            .iter()
            .any(|one| name.matches(one.package.as_str()) || name.matches(one.name.as_str()));
        let of_source = plan.projects.iter().any(|one| name.matches(one.name.as_str()))
            || plan.wheels.iter().any(|one| name.matches(one.name.as_str()));
        if !of_package && !of_source {
            let what = format!("--only {name}: no package of the plan has this name");
            let problem = Problem::error(Code::Environment, what);
            return Err(problem
                .help("give --only names from the output of `rockpack plan`")
                .into());
        }
    }
    let meant = |text: &str| names.iter().any(|name| name.matches(text));
    plan.distributions.retain(|one| meant(one.package.as_str()) || meant(one.name.as_str()));
    plan.projects.retain(|one| meant(one.name.as_str()));
    plan.wheels.retain(|one| meant(one.name.as_str()));
    Ok(plan)
}
