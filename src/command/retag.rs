//! `rockpack wheel retag`: finished wheels under another platform tag.

use std::path::{Path, PathBuf};

use fs_err as fs;

use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use build::gate::Entrant;
use wheel::audit;
use wheel::package::OpenError;
use wheel::retag::{self, Prepared, RetagError, Retagged};

use super::wheels::wheels;
use super::{Failure, gate, print};
use crate::cli::RetagArgs;
use crate::{inputs, ui};

/// Writes all wheels, if none is refused, and says where they are.
pub fn run(args: &RetagArgs) -> Result<(), Failure> {
    let wheels = wheels(&args.wheels)?;
    // Part of a set under a new tag would be beside the whole under the old one.
    all(&wheels, |wheel| checked(wheel, args))?;
    let is_new = args.output.as_ref().filter(|output| !output.exists());
    let prepared = prepared(&wheels, args);
    if let (Err(_), Some(output)) = (&prepared, is_new) {
        // It is empty, or somebody else's.
        let _ = fs::remove_dir(output);
    }
    let mut text = String::new();
    let written = all(prepared?, |prepared| {
        text += &said(&prepared.put()?);
        Ok(())
    });
    print(&text)?;
    written
}

/// The wheels with their new tags, all of which pass the gate; none has its new name yet.
fn prepared(wheels: &[PathBuf], args: &RetagArgs) -> Result<Vec<Prepared>, Failure> {
    let mut prepared = Vec::new();
    all(wheels, |wheel| {
        prepared.push(retag::prepare(wheel, &args.platform_tag, into(wheel, args))?);
        Ok(())
    })?;
    let manifest = inputs::manifest::quietly(args.manifest.as_deref())?;
    let entrants: Vec<_> = prepared.iter().filter_map(entrant).collect();
    let passed = gate::of(&manifest, &args.allow).check_as(&entrants);
    passed.map_err(|error| gate::failure(&error))?;
    Ok(prepared)
}

fn entrant(prepared: &Prepared) -> Option<Entrant> {
    Entrant::renamed(prepared.file(), prepared.place())
}

/// Does something with each wheel, and tells what is wrong with any of them.
fn all<W>(
    wheels: impl IntoIterator<Item = W>,
    mut work: impl FnMut(W) -> Result<(), RetagError>,
) -> Result<(), Failure> {
    let mut refused = Problems::new();
    for wheel in wheels {
        match work(wheel) {
            Ok(()) => {}
            Err(error) if blames_machine(&error) => {
                return Err(Problem::error(Code::Environment, with_causes(&error)).into());
            }
            Err(error) => refused.push(problem(&error)),
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(refused.into()) }
}

/// Refuses a file that is not a wheel, and a wheel whose files contradict the tag.
fn checked(wheel: &Path, args: &RetagArgs) -> Result<(), RetagError> {
    let audits = (!args.force).then(|| audit::audit(&[wheel]));
    let contradiction = |tag: &str| match audits.as_ref()? {
        Ok(audits) => audits.iter().find_map(|audit| audit::contradiction(audit, tag)),
        Err(error) => Some(with_causes(error)),
    };
    retag::check(wheel, &args.platform_tag, contradiction)
}

/// Where the new wheel goes.
fn into<'a>(wheel: &'a Path, args: &'a RetagArgs) -> &'a Path {
    let into = args.output.as_deref().or_else(|| wheel.parent()).unwrap_or_else(|| Path::new("."));
    if into.as_os_str().is_empty() { Path::new(".") } else { into }
}

/// A line for the wheel, and a note for each signature that it lost.
fn said(done: &Retagged) -> String {
    for name in &done.dropped {
        let text =
            format!("{name} of {} signs the old RECORD and was left out", done.path.display());
        ui::show_problems(
            &Problem::note(Code::WheelRefused, text).help("sign the new wheel anew").into(),
        );
    }
    format!("{}{}\n", done.path.display(), if done.was_there { " (was there already)" } else { "" })
}

fn problem(error: &RetagError) -> Problem {
    let problem = Problem::error(Code::WheelRefused, with_causes(error));
    match error {
        RetagError::Contradicted { .. } => problem.help("--force writes the tag all the same"),
        RetagError::Exists { .. } => {
            problem.help("move it away, or choose another directory with -o")
        }
        _ => problem,
    }
}

/// Whether the disk or the command line is at fault, and no wheel.
fn blames_machine(error: &RetagError) -> bool {
    matches!(error, RetagError::Write { .. } | RetagError::Open(OpenError::Io(_)))
}
