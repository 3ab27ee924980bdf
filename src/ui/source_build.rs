use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use base::names::RelPath;
use base::source::{Code, Place, Problem};
use base::text::{Column, Table, counted, human_size};
use projects::{Happened, MissingReason, NotMade, Outcome, Snapshot, TrialKind, Tried};

use super::{print_message, seconds};

pub fn print_event(happened: &Happened) {
    match happened {
        Happened::Resolving(0) => {}
        Happened::Resolving(count) => {
            print_message(&format!("requirements of {}", counted(*count, "project")));
        }
        Happened::Started(name) => print_message(&format!("{name}: started")),
        Happened::Finished(name, wheels, took) if wheels.is_empty() => {
            print_message(&format!("{name}: {}", seconds(*took)));
        }
        Happened::Finished(name, wheels, took) => {
            print_message(&format!("{name}: {}, {}", wheels.join(", "), seconds(*took)));
        }
        Happened::Elsewhere(directory) => print_message(&format!(
            "note: other builds have the usual directory, so that projects are built in {}, whose \
             path some build systems store: the bytes can differ",
            directory.display()
        )),
        Happened::Reused(name) => print_message(&format!("{name}: unchanged")),
        Happened::Failed(name) => print_message(&format!("{name}: failed")),
    }
}

/// Wheel of an earlier build that stays because its project failed.
pub struct LastGood {
    pub name: String,
    pub path: String,
    pub age: Duration,
}

impl LastGood {
    fn shown(&self) -> String {
        format!("{}, built {}", self.path, ago(self.age))
    }
}

fn ago(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let (count, unit) = match minutes {
        0 => return "less than a minute ago".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    format!("{} ago", counted(usize::try_from(count).unwrap_or(usize::MAX), unit))
}

pub fn table(outcome: &Outcome, removed: &[RelPath], last_good: &[LastGood]) -> String {
    let time = |took: Duration, is_reused: bool| {
        if is_reused { "unchanged".to_owned() } else { seconds(took) }
    };
    let wheels = outcome.made.iter().map(|made| {
        (made.path.to_string(), human_size(made.size), time(made.took, made.is_reused))
    });
    let installed = outcome
        .installed
        .iter()
        .map(|(name, took, is_reused)| (name.to_string(), "-".to_owned(), time(*took, *is_reused)));
    let rows: Vec<_> = wheels.chain(installed).collect();
    let columns = [Column::left(), Column::right().of(8), Column::right().of(9)];
    let (mut text, mut table) = (String::new(), Table::new(columns));
    if !rows.is_empty() {
        text.push('\n');
        table.row(["project", "size", "time"]);
    }
    for (path, size, time) in rows {
        table.row([path, size, time]);
    }
    text += &table.to_string();
    for Tried { name, kind, ran, took } in &outcome.tried {
        let result = match kind {
            TrialKind::Tests if ran.skipped.is_empty() => format!("{} passed", ran.passed),
            TrialKind::Tests => format!("{} passed, {} skipped", ran.passed, ran.skipped.len()),
            TrialKind::Docs if ran.passed == 0 => "nothing was made".to_owned(),
            TrialKind::Docs => format!("docs/{name}"),
        };
        let _ = writeln!(text, "{} of {name}: {result}, {}", kind.word(), seconds(*took));
        for (command, reason) in &ran.skipped {
            let _ = writeln!(text, "  skipped, for {reason}: {command}");
        }
    }
    for path in removed {
        let _ = writeln!(text, "removed {path}, which an earlier build left");
    }
    for wheel in last_good {
        let _ =
            writeln!(text, "kept {}: this build made no wheel of {}", wheel.shown(), wheel.name);
    }
    text.push_str(&checkouts(outcome));
    text
}

/// Returns the problem of a wheel that the projects `dependents` need; `place` declares it.
pub fn missing(
    not_made: &NotMade,
    place: Option<&Place>,
    dependents: &[&str],
    dest: &Path,
) -> Problem {
    let name = &not_made.name;
    let message = format!("the wheel `{name}` is unavailable, so nothing was built");
    let problem = Problem::error(Code::ProjectFailed, message);
    let MissingReason::Failed { reason, log, tail } = &not_made.why else { return problem };
    let label = with_dependents(reason, dependents);
    let problem = match place {
        Some(place) => problem.label(place, label),
        None => problem,
    };
    match log {
        Some(log) => problem.help(ending(log, tail, dest)),
        None => problem,
    }
}

/// Returns a reason with the projects that need the missing wheel, if any.
fn with_dependents(reason: &str, dependents: &[&str]) -> String {
    match dependents {
        [] => reason.to_owned(),
        [one] => format!("{reason}; {one} needs it"),
        all => format!("{reason}; {} need it", all.join(", ")),
    }
}

fn ending(log: &RelPath, tail: &[String], dest: &Path) -> String {
    format!(
        "the whole output is in {}; its end is\n{}",
        dest.join(log.as_str()).display(),
        tail.join("\n")
    )
}

pub fn problem(
    not_made: &NotMade,
    place: Option<&Place>,
    dest: &Path,
    last_good: &[LastGood],
) -> Problem {
    let name = &not_made.name;
    let (message, label, help) = match &not_made.why {
        MissingReason::Waited { before } => (
            format!("`{name}` was not built"),
            format!("it needs `{before}`, which was not built"),
            None,
        ),
        MissingReason::Failed { reason, log, tail } => {
            let log = log.as_ref().map(|log| ending(log, tail, dest));
            let message = match not_made.trial {
                None => format!("building `{name}` failed"),
                Some(TrialKind::Tests) => format!("a test of `{name}` failed"),
                Some(TrialKind::Docs) => format!("the documentation of `{name}` was not made"),
            };
            (message, reason.clone(), log)
        }
    };
    let problem = match place {
        Some(place) => Problem::error(Code::ProjectFailed, message).label(place, label),
        None => Problem::error(Code::ProjectFailed, format!("{message}: {label}")),
    };
    let of_it =
        last_good.iter().filter(|wheel| not_made.trial.is_none() && wheel.name == name.as_str());
    let notes = of_it.map(|wheel| format!("the last good wheel is kept: {}", wheel.shown()));
    let lines: Vec<String> = notes.chain(help).collect();
    if lines.is_empty() { problem } else { problem.help(lines.join("\n")) }
}

fn checkouts(outcome: &Outcome) -> String {
    let mut lines = BTreeSet::new();
    for Snapshot { directory, content, tree, .. } in outcome.sources.values() {
        if !content.is_versioned() {
            lines.insert(format!("checkout {directory}: no version control, files {tree}\n"));
        } else if let Some(first) = content.changed.first() {
            let more = match content.changed.len() - 1 {
                0 => String::new(),
                count => format!(" and {}", counted(count, "more file")),
            };
            lines.insert(format!(
                "checkout {directory}: dirty, with {}{more}; files {tree}\n",
                first.display()
            ));
        }
    }
    lines.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_agrees_with_the_number_of_dependents() {
        for (dependents, expected) in [
            (&["`a`"][..], "no such wheel; `a` needs it"),
            (&["`a`", "`b`"], "no such wheel; `a`, `b` need it"),
            (&[], "no such wheel"),
        ] {
            assert_eq!(with_dependents("no such wheel", dependents), expected);
        }
    }
}
