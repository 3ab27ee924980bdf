//! The gate that packages pass before a command puts them in place.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use check::read::Wheel;
use check::report::{self, Shown};
use check::{Command, Finding};
use manifest::Manifest;
use record::gate::{self, Gate, GateError};

use super::{Failure, environment};
use crate::ui;

pub fn for_command<'g>(command: Command, manifest: &'g Manifest, allowed: &'g [Code]) -> Gate<'g> {
    Gate { command, manifest, allowed, on_allowed: &warn }
}

pub fn warn(allowed: &[Finding]) {
    ui::show_problems(&report::allowed(allowed, Shown::Few));
}

/// Notes for each kind of fault of a wheel that the wheels made of it no longer have: a writer of
/// archives leaves out bytes between members, comments, entries of directories, and rows of RECORD
/// without a file.
pub fn mended(old: &Path, new: &[PathBuf]) -> io::Result<Problems> {
    let headers = |path: &Path| Ok::<_, io::Error>(Wheel::open(path, "")?.headers());
    let remaining = new.iter().map(|new| headers(new)).collect::<io::Result<Vec<_>>>()?.concat();
    let remains = |finding: &Finding| {
        remaining.iter().any(|now| (now.code, &now.what) == (finding.code, &finding.what))
    };
    let mut kinds: BTreeMap<String, (Code, Vec<String>)> = BTreeMap::new();
    for finding in headers(old)?.into_iter().filter(|finding| !remains(finding)) {
        let kind = kinds.entry(finding.what.into_owned());
        kind.or_insert((finding.code, Vec::new())).1.extend(finding.member);
    }
    let mut notes = Problems::new();
    for (what, (code, members)) in kinds {
        let members = match members.as_slice() {
            [] => String::new(),
            [first] => format!(" (`{}`)", first.escape_debug()),
            [first, rest @ ..] => format!(" (`{}` and {} more)", first.escape_debug(), rest.len()),
        };
        let subject = if new.len() == 1 { "the new wheel is" } else { "the new wheels are" };
        let text = format!("{}: {what}{members}; {subject} without this fault", old.display());
        notes.push(Problem::note(code, text));
    }
    Ok(notes)
}

/// Blames the packages or the machine.
pub fn failure(error: &GateError) -> Failure {
    match error {
        GateError::Refused(findings) => gate::problems(findings).into(),
        GateError::Io(_) => environment(with_causes(error)),
    }
}
