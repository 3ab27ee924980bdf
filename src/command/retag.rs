//! `rockpack retag`: finished wheels under another platform tag.

use std::path::Path;

use rockpack::audit;
use rockpack::package::OpenError;
use rockpack::retag::{self, RetagError, Retagged};
use rockpack::source::{Code, Problem, Problems};
use rockpack::text::with_causes;

use super::wheels::wheels;
use super::{Failure, print};
use crate::cli::RetagArgs;
use crate::ui;

/// Writes every wheel that can be written, and says where it is.
pub fn run(args: &RetagArgs) -> Result<(), Failure> {
    let (mut refused, mut text) = (Problems::new(), String::new());
    for wheel in &wheels(&args.wheels)? {
        match retagged(wheel, args) {
            Ok(done) => text += &said(&done),
            Err(error) if blames_machine(&error) => {
                return Err(Problem::error(Code::Environment, with_causes(&error)).into());
            }
            Err(error) => refused.push(problem(&error)),
        }
    }
    print(&text)?;
    if refused.is_empty() { Ok(()) } else { Err(refused.into()) }
}

/// Writes one wheel.
fn retagged(wheel: &Path, args: &RetagArgs) -> Result<Retagged, RetagError> {
    let into = args.output.as_deref().or_else(|| wheel.parent()).unwrap_or_else(|| Path::new("."));
    let into = if into.as_os_str().is_empty() { Path::new(".") } else { into };
    let audits = (!args.force).then(|| audit::audit(&[wheel]));
    let contradiction = |tag: &str| match audits.as_ref()? {
        Ok(audits) => audits.iter().find_map(|audit| audit::contradiction(audit, tag)),
        Err(error) => Some(with_causes(error)),
    };
    retag::retag_unless(wheel, &args.platform_tag, into, contradiction)
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
