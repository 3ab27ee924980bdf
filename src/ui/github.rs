//! Problems as annotations: commands in a log that GitHub's runner reads.
//!
//! It shows ten of each severity for a step, so errors are first.

use std::fmt::Write as _;

use base::source::{Place, Problem, Severity};

use super::repository;

pub fn command(problem: &Problem) -> String {
    let word = match problem.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "notice",
    };
    let mut properties =
        problem.labels().first().map(|(place, _)| location(place)).unwrap_or_default();
    properties.push(("title", format!("rockpack: {}", problem.code())));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{word} {}::{}\n", properties.join(","), data(&text(problem)))
}

/// Returns the place. Columns are valid only within one line.
fn location(place: &Place) -> Vec<(&'static str, String)> {
    let Some(file) = place.source().file() else { return Vec::new() };
    let span = place.span();
    let mut location = vec![
        ("file", repository::path_in(file)),
        ("line", span.start.line.to_string()),
        ("endLine", span.end.line.to_string()),
    ];
    if span.start.line == span.end.line {
        location.push(("col", span.start.column.to_string()));
        location.push(("endColumn", span.end.column.to_string()));
    }
    location
}

/// Returns message, labels and remedy. The annotation is at the first place.
fn text(problem: &Problem) -> String {
    let mut text = problem.message().to_owned();
    for (index, (place, label)) in
        problem.labels().iter().chain(problem.labels_elsewhere()).enumerate()
    {
        let annotated = index == 0 && place.source().file().is_some();
        let _ =
            if annotated { write!(text, "\n{label}") } else { write!(text, "\n{place}: {label}") };
    }
    if let Some(help) = problem.remedy() {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

/// Escapes like `@actions/core`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes `:` and `,` too, which end a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use base::source::{Code, Source};

    use super::*;

    #[test]
    fn escapes_ends_of_commands_and_properties() {
        let source = Source::of_file("packages.kdl", "no such,dir: 100%/packages.kdl", "a\nbcd\n");
        let problem = Problem::error(Code::UnknownNode, "50% of\r\n`a::b`")
            .label(&source.at(3..5), "this, here")
            .help("none");
        assert_eq!(
            command(&problem),
            "::error file=no such%2Cdir%3A 100%25/packages.kdl,line=2,endLine=2,col=2,endColumn=4,title=rockpack%3A unknown-node::50%25 of%0D%0A`a::b`%0Athis, here%0Ahelp: none\n"
        );
    }

    #[test]
    fn places_in_no_file_are_in_the_text() {
        let built_in = Source::new("packages.kdl", "a\nb\n");
        let problem =
            Problem::warning(Code::MissingDirectory, "gone").label(&built_in.at(2..3), "here");
        assert_eq!(
            command(&problem),
            "::warning title=rockpack%3A missing-directory::gone%0Apackages.kdl:2: here\n"
        );
    }

    #[test]
    fn omits_columns_of_several_lines() {
        let source = Source::of_file("p", "nowhere/p", "a\nb\n");
        let shown = command(&Problem::note(Code::NotKdl, "m").label(&source.at(0..3), "x"));
        assert!(shown.starts_with("::notice file=nowhere/p,line=1,endLine=2,title="), "{shown}");
    }
}
