//! Problems for scripts: one JSON object a line.

use base::source::{Place, Problem, Severity};
use serde::Serialize;

/// One problem. Released fields stay; new ones may be added.
#[derive(Serialize)]
struct Line<'p> {
    severity: &'static str,
    code: &'static str,
    message: &'p str,
    help: Option<&'p str>,
    /// Places at fault in one file, the fault itself first.
    labels: Vec<Label<'p>>,
    /// Places in other files.
    related: Vec<Label<'p>>,
}

/// Lines and columns count from 1, columns in characters; the end is exclusive.
#[derive(Serialize)]
struct Label<'p> {
    /// File as named by the user; null for a built-in or generated text.
    file: Option<&'p str>,
    /// Name in messages: `packages.kdl`.
    name: &'p str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'p str,
}

pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "note",
    }
}

pub fn line(problem: &Problem) -> String {
    let line = Line {
        severity: severity(problem.severity()),
        code: problem.code().as_str(),
        message: problem.message(),
        help: problem.remedy(),
        labels: problem.labels().iter().map(label).collect(),
        related: problem.labels_elsewhere().map(label).collect(),
    };
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
