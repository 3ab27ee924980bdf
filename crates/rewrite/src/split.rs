//! A host wheel, and a wheel for each target with device code, made of a finished wheel.
//!
//! ```text
//! wheel ──input──► members ──assignment, scan──► Sorted ──division──► Part, one a wheel ──write──► wheels
//! ```
//!
//! The path of a file decides on its wheel; its code must not contradict, except in programs and
//! libraries that lose it to archives (`device-by "path" "bundle"`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::rewritten::{Rewritten, overwritten};
use base::source::{Code, Problem, Problems};
use base::version::Version;
use manifest::Manifest;
use record::gate::Gate;
use record::provenance::{Run, SplitInto, Statement};
use wheel::archive::Stage;

mod division;
mod error;
mod fat;
mod input;
mod packed_code;
mod present_packages;
mod runtime;
mod scan;
mod sorted;
mod stuck;
mod texts;
mod write;

pub use division::{Division, Emptied, Part};
pub use error::SplitError;
pub use fat::Archive;
pub use sorted::UnsplitFile;

use input::{Input, refusal, refuse_any};
use present_packages::PresentPackages;

/// Request for a split.
#[derive(Debug)]
pub struct SplitRequest<'a> {
    /// Wheels to split.
    pub wheels: &'a [PathBuf],
    /// Version that they were built against.
    pub version: Option<&'a Version>,
    /// Directory with these packages.
    pub packages: Option<&'a Path>,
    /// Number of threads.
    pub threads: usize,
    /// Codes of accepted findings.
    pub allowed: &'a [Code],
}

/// Division of wheels.
#[derive(Debug)]
pub struct Split {
    /// One per wheel, in the given order.
    pub divisions: Vec<Division>,
}

/// Divides wheels by the manifest's `wheel` lines with `device-by`. Writes nothing.
///
/// # Errors
///
/// Fails if a wheel is unreadable, damaged, unsafe to install or without a line; a file names an
/// unclaimed target or several, or has code for another; wheels conflict in version or path; or
/// required versions contradict each other.
pub fn plan(manifest: &Manifest, request: &SplitRequest<'_>) -> Result<Split, SplitError> {
    let packages = request.packages.map(PresentPackages::read).transpose()?;
    let inputs = request.wheels.iter().map(|path| Input::open(path, manifest, request.allowed));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    refuse_any(versions(&inputs))?;
    let divisions =
        inputs.into_iter().map(|i| division::divided(i, manifest, request, packages.as_ref()));
    let divisions = divisions.collect::<Result<Vec<_>, _>>()?;
    refuse_any(owners(&divisions))?;
    Ok(Split { divisions })
}

fn versions(inputs: &[Input<'_>]) -> Problems {
    let (mut problems, mut first) = (Problems::new(), BTreeMap::new());
    for input in inputs {
        let name = &input.wheel.name().dist;
        let first_input: &&Input<'_> = first.entry(name.normalized()).or_insert(input);
        let (version, first_version) =
            (&input.wheel.name().version, &first_input.wheel.name().version);
        if version != first_version {
            let reason = format!("it has version {version}, but another wheel has {first_version}");
            let help = "split wheels of one version at a time";
            problems.push(refusal(&input.path, &reason, help));
        }
    }
    problems
}

fn owners(divisions: &[Division]) -> Problems {
    let (mut problems, mut names) = (Problems::new(), BTreeMap::new());
    let mut paths: BTreeMap<&str, &Division> = BTreeMap::new();
    for division in divisions {
        for part in &division.parts {
            if names.insert(&part.output, division).is_some() {
                let reason = format!("two wheels would have the name {}", part.output.file_name());
                problems.push(refusal(
                    &division.from,
                    &reason,
                    "give each wheel once, and each `wheel` line of packages.kdl different names",
                ));
            }
            for (_, path) in &part.members {
                let owner = paths.entry(path).or_insert(division);
                if owner.name != division.name {
                    let reason = format!("`{path}` is also a file of {}", owner.name);
                    let problem =
                        Problem::error(Code::TwoOwners, format!("{}: {reason}", division.name));
                    problems.push(problem.help("build one of the two again without it"));
                    return problems;
                }
            }
        }
    }
    problems
}

impl Split {
    /// Writes the wheels below `dest`, with checksums and provenance; removes earlier ones. On
    /// failure `dest` is unchanged.
    pub fn write(
        &self,
        dest: &Path,
        run: Run,
        request: &SplitRequest<'_>,
        gate: &Gate<'_>,
    ) -> Result<Rewritten, SplitError> {
        self.check_destination(dest)?;
        let stage = Stage::open(dest)?;
        let hashes = write::packages(&self.divisions, &stage, request.threads)?;
        let file =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let inputs = hashes.inputs.iter().map(|(path, sha256)| (file(path), sha256.clone()));
        let into = SplitInto { version: request.version, inputs: inputs.collect(), run };
        Rewritten::replace(stage, hashes.outputs, |made| Statement::of_split(&into, made), gate)
    }

    /// Refuses a destination with one of the wheels, which would be removed. [`Split::write`] calls it;
    /// a dry run, which writes elsewhere, has to call it too.
    ///
    /// # Errors
    ///
    /// Names the wheel.
    pub fn check_destination(&self, dest: &Path) -> Result<(), SplitError> {
        let inputs = self.divisions.iter().map(|division| &*division.from);
        match overwritten(dest, inputs) {
            None => Ok(()),
            Some((place, wheel)) => {
                let reason =
                    format!("it is in {}, the directory of the new wheels", place.display());
                let help = "give another directory: -o OUT";
                Err(SplitError::Refused(refusal(wheel, &reason, help).into()))
            }
        }
    }
}
