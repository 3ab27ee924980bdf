//! Old side of a repair: its own manifest does not plan.

use std::path::Path;

use base::source::{Code, Problem, Problems};
use base::text::counted;

use super::super::Failure;
use super::at_revision;
use super::side::{Side, Sides, Which};
use crate::ui;

/// Reads the old side. If it does not plan, names the reason in one sentence, and, if asked for,
/// reads the newest commit before it that does.
pub fn old(sides: &Sides<'_>, path: Option<&Path>, new: &Side) -> Result<Side, Failure> {
    let fails = match sides.read(Which::Old(Some(new)), path) {
        Err(Failure::Problems(problems)) => problems,
        read => return read,
    };
    let Some(revision) = sides.revision().filter(|_| path.is_none()) else {
        let name = path.unwrap_or(Path::new(".")).display().to_string();
        return Err(Problems::from(sentence(&name, &fails)).into());
    };
    let why = sentence(revision, &fails);
    if !sides.wants_last_good() {
        let help = "review a repair with --against-last-good: it compares with the newest commit \
                    before it that does; or give a saved contract as OLD";
        return Err(Problems::from(why.help(help)).into());
    }
    let directory = sides.repository();
    for earlier in at_revision::before(directory, revision)? {
        match sides.at_revision(&earlier, Some(new)) {
            Ok(side) => {
                let label = format!("{}, as {}", side.label(), why.message());
                ui::show_problems(&Problem::warning(why.code(), why.message()).into());
                return Ok(side.labelled(label));
            }
            Err(Failure::Problems(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    let help = "no earlier commit of the manifest plans on these artifacts either: give as OLD a \
                contract, saved with `rockpack plan --contract FILE --json`";
    Err(Problems::from(why.help(help)).into())
}

/// The first error in one sentence, with its place.
fn sentence(name: &str, fails: &Problems) -> Problem {
    let mut errors = fails.iter().filter(|problem| problem.is_error());
    let first = errors.next();
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" ({})", counted(more, "more error")),
    };
    let (code, message) =
        first.map_or((Code::Environment, "no reason"), |first| (first.code(), first.message()));
    let problem = Problem::error(code, format!("{name} does not plan: {message}{more}"));
    match first.and_then(|first| first.labels().first()) {
        Some((place, label)) => problem.label(place, label.clone()),
        None => problem,
    }
}
