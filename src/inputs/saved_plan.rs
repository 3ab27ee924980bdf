use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use plan::{OnlyName, Plan};

use crate::failure::Failure;

const HELP: &str = "give --plan the output of `rockpack plan --json`";

pub fn read(path: &Path) -> Result<Plan, Failure> {
    let text = text(path, HELP)?;
    Plan::read(&text).map_err(|error| broken(path, &with_causes(&error), HELP))
}

/// Reads the text of a saved plan or contract.
pub fn text(path: &Path, help: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        if error.kind() == ErrorKind::InvalidData {
            return broken(path, &"it is not text", help);
        }
        let message = format!("cannot read {}: {error}", path.display());
        Problem::error(Code::Environment, message).help(help).into()
    })
}

/// Blames the content of a saved plan or contract.
pub fn broken(path: &Path, reason: &dyn Display, help: &str) -> Failure {
    let message = format!("cannot read {}: {reason}", path.display());
    Failure::Problems(Problems::from(Problem::error(Code::BrokenRecord, message).help(help)))
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
