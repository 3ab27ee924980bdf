//! What the KDL parser says, as problems in this program's words.

use std::ops::Range;

use kdl::{KdlDiagnostic, KdlError};

use super::bytes;
use crate::source::{Code, Problem, Source};

/// The parser goes on after a mistake and then trips over its consequences: only what it says first is of use.
const SHOWN: usize = 2;

const OPEN_BLOCK: &str = "No closing '}' for child block";
const STRAY_END: &str = "Expected end of document";

/// The first few faults that the parser found, one a line.
///
/// A fault that spans lines is one the parser could not go on from, and says little of the
/// place: it counts when there is no other.
pub(super) fn problems(source: &Source, error: &KdlError) -> Vec<Problem> {
    let is_exact = |d: &&KdlDiagnostic| !written(source, d).contains('\n');
    let mut exact: Vec<&KdlDiagnostic> = error.diagnostics.iter().filter(is_exact).collect();
    // Braces don't match when the parser lost its way between them: then the other fault is the cause.
    let is_brace = |d: &&KdlDiagnostic| matches!(d.message.as_deref(), Some(OPEN_BLOCK | STRAY_END));
    if !exact.iter().all(is_brace) {
        exact.retain(|d| !is_brace(d));
    }
    exact.dedup_by_key(|diagnostic| source.at(bytes(diagnostic.span)).line());
    match (exact.as_slice(), error.diagnostics.first()) {
        ([], Some(vague)) => vec![where_it_stopped(source, vague)],
        _ => exact.into_iter().take(SHOWN).map(|diagnostic| problem(source, diagnostic)).collect(),
    }
}

fn written<'a>(source: &'a Source, diagnostic: &KdlDiagnostic) -> &'a str {
    source.text().get(bytes(diagnostic.span)).unwrap_or_default()
}

fn problem(source: &Source, diagnostic: &KdlDiagnostic) -> Problem {
    let text = written(source, diagnostic);
    let error = |message: &str, label: &str| Problem::error(Code::NotKdl, message).label(&source.at(bytes(diagnostic.span)), label);
    if matches!(text, "true" | "false" | "null" | "inf" | "-inf" | "nan") {
        let problem = error(&format!("`{text}` alone is neither a text nor a value"), &format!("write `#{text}`"));
        return problem.help(format!("or, when the text is meant, \"{text}\""));
    }
    match diagnostic.message.as_deref().unwrap_or_default() {
        STRAY_END if text == "}" => error("this `}` closes nothing", "take it away, or look above for a block that ends too early"),
        "Unexpected newline in single-line quoted string" => error("a text in quotes is not closed", "`\"` is missing at its end"),
        OPEN_BLOCK => error("a block is not closed", "this `{` has no `}`"),
        "Found child block instead of node name" => error("a block stands where a name has to be", "what is this the block of?"),
        "Expected quoted string" => error("a text in quotes ends too early", "after its second `\"` a space has to follow")
            .help("inside a text, write `\\\"` for a quote"),
        "Expected identifier string" | "Expected integer" | "Expected float" => {
            error("a text with such characters has to stand in quotes", "put it in quotes")
                .help("write versions, paths and globs as in \"7.10\", \"lib/{a,b}/**\", \">=3.10\"")
        }
        message => with_help(error(&format!("this is not KDL: {message}"), "here"), diagnostic),
    }
}

fn with_help(problem: Problem, diagnostic: &KdlDiagnostic) -> Problem {
    match &diagnostic.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// A fault for which the parser names the whole file: looks for what stops it.
fn where_it_stopped(source: &Source, diagnostic: &KdlDiagnostic) -> Problem {
    if let Some((range, message, label)) = dead_end(source.text()) {
        return Problem::error(Code::NotKdl, message).label(&source.at(range), label);
    }
    let start = diagnostic.span.offset();
    let message = diagnostic.message.as_deref().unwrap_or("no meaning can be made of it");
    with_help(
        Problem::error(Code::NotKdl, format!("this is not KDL: {message}")).label(&source.at(start..start), "from here on"),
        diagnostic,
    )
}

/// The first comment without an end or `=` without a value, outside texts in quotes.
fn dead_end(text: &str) -> Option<(Range<usize>, &'static str, &'static str)> {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            match rest.find("*/") {
                Some(end) => end + 2,
                None => return Some((at..at + 2, "a comment is not closed", "this `/*` has no `*/`")),
            }
        } else if rest.starts_with('"') {
            quoted_length(rest)
        } else if rest.starts_with('=') && rest[1..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r', ';', '}']) {
            return Some((at..at + 1, "a property has no value", "a value has to follow"));
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += length;
    }
    None
}

/// How long the text in quotes is that `rest` begins with, in bytes.
fn quoted_length(rest: &str) -> usize {
    if let Some(body) = rest.strip_prefix("\"\"\"") {
        return body.find("\"\"\"").map_or(rest.len(), |end| end + 6);
    }
    let mut escaped = false;
    let end = rest.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |end| end + 2)
}
