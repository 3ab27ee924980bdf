//! Errors of one cause as one error.

use std::collections::BTreeMap;

use base::source::{Code, Place, Problem, Problems};
use base::text::counted;

/// So many errors of one line are easier to read one by one.
const FEW: usize = 3;

/// Lines in the joined error.
const SHOWN: usize = 3;

/// Joins errors of lines that have no files because of one `include` or `exclude` line.
pub(super) fn gathered(problems: Problems) -> Problems {
    let mut causes: BTreeMap<(String, usize), Vec<&Problem>> = BTreeMap::new();
    for problem in problems.iter() {
        if let Some(cause) = cause(problem) {
            causes.entry(cause).or_default().push(problem);
        }
    }
    causes.retain(|_, of| of.len() > FEW);
    if causes.is_empty() {
        return problems;
    }
    let mut merged = Problems::new();
    for problem in problems.iter() {
        match cause(problem).and_then(|cause| causes.get(&cause)) {
            None => merged.push(problem.clone()),
            Some(of) if std::ptr::eq(of[0], problem) => merged.push(joined(of)),
            Some(_) => {}
        }
    }
    merged
}

fn cause(problem: &Problem) -> Option<(String, usize)> {
    if !problem.is_error() || problem.code() == Code::UnownedFiles {
        return None;
    }
    let places = problem.labels().iter().map(|(place, _)| place);
    let place = places.into_iter().find(|place| is_rule(place))?;
    Some((place.source().name().to_owned(), place.line()))
}

fn is_rule(place: &Place) -> bool {
    let line = place.source().text().lines().nth(place.line().saturating_sub(1));
    let word = line.and_then(|line| line.split_whitespace().next());
    matches!(word, Some("include" | "exclude"))
}

fn joined(of: &[&Problem]) -> Problem {
    let first = of[0];
    let rest = counted(of.len() - 1, "more line");
    let message = format!("{}; {rest} lose their files by the same line", first.message());
    let mut problem = Problem::error(first.code(), message);
    for (place, text) in first.labels() {
        problem = problem.label(place, text.clone());
    }
    for other in of.iter().skip(1).take(SHOWN) {
        let label = other.labels().iter().find(|(place, _)| !is_rule(place));
        if let Some((place, _)) = label {
            problem = problem.label(place, "so does this line");
        }
    }
    problem.help("correct the `include` or `exclude` line, or remove the lines that need its files")
}
