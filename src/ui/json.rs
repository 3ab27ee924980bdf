//! Problems for scripts: one JSON object a line.

use base::source::{Place, Problem, Severity};
use serde::Serialize;

/// One problem. Fields are only ever added.
#[derive(Serialize)]
struct Line<'p> {
    /// `error`, `warning` or `note`.
    severity: &'static str,
    /// The stable name of what is wrong.
    code: &'static str,
    message: &'p str,
    /// What to do about it, where that is known.
    help: Option<&'p str>,
    /// The places at fault in one file, the fault itself first.
    labels: Vec<Label<'p>>,
    /// Places in other files.
    related: Vec<Label<'p>>,
}

/// A place and what is said of it. Lines and columns count from 1, columns in characters; the
/// end lies behind the last character.
#[derive(Serialize)]
struct Label<'p> {
    /// The file as it was asked for; null when rockpack brought it along or made it up.
    file: Option<&'p str>,
    /// What messages call it: `packages.kdl`.
    name: &'p str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'p str,
}

/// The word for a severity.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "note",
    }
}

/// The problem as one line.
pub fn line(problem: &Problem) -> String {
    let line = Line {
        severity: severity(problem.severity()),
        code: problem.code().as_str(),
        message: problem.message(),
        help: problem.remedy(),
        labels: problem.labels().iter().map(label).collect(),
        related: problem.labels_elsewhere().map(label).collect(),
    };
    // Texts and numbers always become JSON.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

fn label((place, text): &(Place, String)) -> Label<'_> {
    let (source, span) = (place.source(), place.span());
    let (line, column) = (span.start.line, span.start.column);
    Label {
        file: source.file(),
        name: source.name(),
        line,
        column,
        end_line: span.end.line,
        end_column: span.end.column,
        text,
    }
}
