//! Problems as one SARIF 2.1.0 document.
//!
//! Problems without a place are notifications of the run: code scanning refuses results without a
//! location.

use std::fmt::Write as _;

use base::source::{Code, Place, Problem};
use serde_json::{Value, json};

use super::{json, repository};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub fn document(problems: &[Problem], successful: bool) -> String {
    let (placed, unplaced): (Vec<_>, Vec<_>) =
        problems.iter().partition(|p| !p.labels().is_empty());
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "rockpack", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": successful,
                "toolExecutionNotifications": unplaced.into_iter().map(notification).collect::<Vec<_>>(),
            }],
            "results": placed.into_iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{document:#}\n")
}

fn rule(code: Code) -> Value {
    json!({"id": code.as_str(), "shortDescription": {"text": code.meaning()}})
}

fn index(code: Code) -> Option<usize> {
    Code::ALL.iter().position(|c| *c == code)
}

fn result(problem: &Problem) -> Value {
    let mut places = problem.labels().iter().chain(problem.labels_elsewhere());
    let first: Vec<Value> = places.by_ref().take(1).map(location).collect();
    json!({
        "ruleId": problem.code().as_str(),
        "ruleIndex": index(problem.code()),
        "level": json::severity(problem.severity()),
        "message": {"text": text(problem)},
        "locations": first,
        "relatedLocations": places.map(location).collect::<Vec<_>>(),
    })
}

fn notification(problem: &Problem) -> Value {
    json!({
        "descriptor": {"id": problem.code().as_str()},
        "level": json::severity(problem.severity()),
        "message": {"text": text(problem)},
    })
}

fn text(problem: &Problem) -> String {
    match problem.remedy() {
        Some(help) => format!("{}\nhelp: {help}", problem.message()),
        None => problem.message().to_owned(),
    }
}

fn location((place, text): &(Place, String)) -> Value {
    let (source, span) = (place.source(), place.span());
    let artifact = match source.file() {
        Some(file) => json!({"uri": uri(&repository::path_in(file)), "uriBaseId": "%SRCROOT%"}),
        None => json!({"uri": uri(source.name())}),
    };
    let region = json!({"startLine": span.start.line, "startColumn": span.start.column, "endLine": span.end.line, "endColumn": span.end.column});
    json!({"physicalLocation": {"artifactLocation": artifact, "region": region}, "message": {"text": text}})
}

fn uri(path: &str) -> String {
    path.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("a b/ü%:x.kdl"), "a%20b/%C3%BC%25%3Ax.kdl");
        assert_eq!(uri("packages.kdl"), "packages.kdl");
    }
}
