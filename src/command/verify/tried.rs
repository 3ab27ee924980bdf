//! Trials of sdists with code of this program only.

use std::io;
use std::path::Path;

use base::source::{Code, Problem, Problems, Severity};
use check::{Finding, Package};
use plan::Form;
use rayon::prelude::*;

use super::PackageArguments;
use super::trial::{self, Trial};
use crate::builtin;

/// Returns faults, and notes about sdists that were not tried.
pub fn sdists(
    arguments: &PackageArguments,
    packages: &[Package<'_>],
) -> io::Result<(Vec<Finding>, Problems)> {
    let sound = |package: &Package<'_>| {
        package.form == Form::Sdist && package.faults.iter().all(|f| f.severity != Severity::Error)
    };
    let sdists: Vec<(&Path, &str)> = arguments
        .packages
        .iter()
        .zip(packages)
        .filter(|(_, package)| sound(package))
        .map(|((package, name), _)| (&*package.path, &**name))
        .collect();
    if sdists.is_empty() {
        return Ok((Vec::new(), Problems::new()));
    }
    let (templates, python) = (builtin::templates(), trial::python());
    let trials: Vec<(&str, io::Result<Trial>)> = sdists
        .into_par_iter()
        .map(|(path, name)| (name, trial::trial(path, name, &templates, python.as_deref())))
        .collect();
    let (mut findings, mut notes) = (Vec::new(), Problems::new());
    for (name, trial) in trials {
        match trial? {
            Trial::Done(faults) => findings.extend(faults),
            Trial::Foreign(reason) => {
                let message = format!("{name}: not built and imported: {reason}");
                let help = "build it with `pip wheel`, in a container if you do not trust it; \
                    rockpack does not run its code";
                notes.push(Problem::note(Code::SdistUnusable, message).help(help));
            }
            Trial::NoPython(reason) => {
                let message = format!("{name}: not built and imported: {reason}");
                let help = "install Python 3.10 or newer, which verify uses to build and import it";
                notes.push(Problem::warning(Code::Environment, message).help(help));
            }
        }
    }
    Ok((findings, notes))
}
