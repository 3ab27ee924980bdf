//! Problems for people, as pictures on standard error.

use std::io::{self, IsTerminal};

use base::source::{self, Problem, Severity};

pub fn line(problem: &Problem) -> String {
    let word = if problem.severity() == Severity::Advice { "note" } else { "warning" };
    let place = problem.labels().first().map(|(place, _)| format!(" ({place})"));
    let text = format!("{word}: {}{}", problem.message(), place.unwrap_or_default());
    source::wrapped(&source::printable(&text), super::width_of(&io::stderr()), "  ") + "\n"
}

/// Returns a picture; a note without a place is one line.
pub fn draw(problem: &Problem) -> String {
    if problem.severity() == Severity::Advice && problem.labels().is_empty() {
        return format!("note: {}\n", source::printable(problem.message()));
    }
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let text = source::picture(problem, super::width_of(&io::stderr()), colour);
    text.trim_end().to_owned() + "\n\n"
}
