use std::io::ErrorKind;
use std::path::Path;

use base::source::{Code, Problem};
use base::text::with_causes;
use plan::{OnlyName, Plan};

use crate::failure::Failure;

pub fn read(path: &Path) -> Result<Plan, Failure> {
    let refused = |error: String| -> Failure {
        let message = format!("cannot read {}: {error}", path.display());
        Problem::error(Code::Environment, message)
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
        let of_package = plan.distributions.iter().any(|distribution| {
            name.matches(distribution.package.as_str()) || name.matches(distribution.name.as_str())
        });
        let of_source = plan.projects.iter().any(|project| name.matches(project.name.as_str()))
            || plan.wheels.iter().any(|wheel| name.matches(wheel.name.as_str()));
        if !of_package && !of_source {
            let message = format!("--only {name}: no package of the plan has this name");
            let problem = Problem::error(Code::Environment, message);
            return Err(problem
                .help("give --only names from the output of `rockpack plan`")
                .into());
        }
    }
    let is_named = |text: &str| names.iter().any(|name| name.matches(text));
    plan.distributions.retain(|distribution| {
        is_named(distribution.package.as_str()) || is_named(distribution.name.as_str())
    });
    plan.projects.retain(|project| is_named(project.name.as_str()));
    plan.wheels.retain(|wheel| is_named(wheel.name.as_str()));
    Ok(plan)
}
