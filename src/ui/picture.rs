use std::io;

use base::source::{self, Look, Problem, Severity};

use super::locale;

pub fn line(problem: &Problem) -> String {
    let word = if problem.severity() == Severity::Advice { "note" } else { "warning" };
    let place = problem.labels().first().map(|(place, _)| format!(" ({place})"));
    let text = format!("{word}: {}{}", problem.message(), place.unwrap_or_default());
    let text = source::printable(&text);
    source::wrapped(&locale::in_locale(&text), super::width_of(&io::stderr()), "  ") + "\n"
}

/// Returns a picture; a note without a place is one line.
pub fn draw(problem: &Problem) -> String {
    if problem.severity() == Severity::Advice && problem.labels().is_empty() {
        return format!("note: {}\n", locale::in_locale(&source::printable(problem.message())));
    }
    let look = Look { colour: super::is_coloured(&io::stderr()), unicode: locale::is_unicode() };
    let text = source::picture(problem, super::width_of(&io::stderr()), look);
    text.trim_end().to_owned() + "\n\n"
}
