//! Problems for people: the lines at fault, with what is wrong written below them.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use miette::{GraphicalReportHandler, GraphicalTheme};
use rockpack::source::{Problem, Severity};

/// The problem as a picture; a note without a place as one line.
pub fn draw(problem: &Problem) -> String {
    if problem.severity() == Severity::Advice && problem.labels().is_empty() {
        return format!("note: {}\n", problem.message());
    }
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_wrap_lines(true);
    let mut text = String::new();
    if handler.render_report(&mut text, problem).is_err() {
        // A picture that cannot be drawn is no reason to say less.
        let _ = writeln!(text, "{}", problem.message());
    }
    text.trim_end().to_owned() + "\n\n"
}
