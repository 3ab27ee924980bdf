//! `rockpack retag`: finished wheels under another platform tag.

use std::path::{Path, PathBuf};

use rockpack::audit;
use rockpack::package::OpenError;
use rockpack::retag::{self, RetagError, Retagged};
use rockpack::source::{Code, Problem, Problems};
use rockpack::text::with_causes;

use super::wheels::wheels;
use super::{Failure, print};
use crate::cli::RetagArgs;
use crate::ui;

/// Writes all wheels, if none is refused, and says where they are.
pub fn run(args: &RetagArgs) -> Result<(), Failure> {
    let wheels = wheels(&args.wheels)?;
    // Part of a set under a new tag would be beside the whole under the old one.
    all(&wheels, |wheel| checked(wheel, args))?;
    let mut text = String::new();
    let written = all(&wheels, |wheel| {
        let done = retag::retag(wheel, &args.platform_tag, into(wheel, args))?;
        text += &said(&done);
        Ok(())
    });
    print(&text)?;
    written
}

/// Does something with each wheel, and tells what is wrong with any of them.
fn all(
    wheels: &[PathBuf],
    mut work: impl FnMut(&Path) -> Result<(), RetagError>,
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
