use std::path::PathBuf;

use base::source::{Code, Problem};
use base::text::with_causes;
use plan::Form;
use wheel::package;

use super::{Failure, environment};

/// Replaces directories by their sorted wheels, after the repair of interrupted builds.
/// Fails if a directory has no wheel.
pub fn wheels(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut wheels = Vec::new();
    for path in paths {
        super::repaired(path)?;
        if !path.is_dir() || path.extension().is_some_and(|extension| extension == "whl") {
            wheels.push(path.clone());
            continue;
        }
        let packages = package::packages(path).map_err(|error| environment(with_causes(&error)))?;
        let before = wheels.len();
        wheels.extend(
            packages
                .into_iter()
                .filter(|package| package.form == Form::Wheel)
                .map(|package| package.path),
        );
        if wheels.len() == before {
            let problem =
                Problem::error(Code::Environment, format!("{} has no wheels", path.display()));
            return Err(problem.help("give wheels (.whl), or directories of them").into());
        }
    }
    Ok(wheels)
}
