//! Output for people: problems with their places, progress, the closing table.
//!
//! Results are on standard output, everything else on standard error. Only terminals get colour and
//! animation. In a format for machines, standard error has only problems.

use plan::resolve;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use base::names::DistName;
use base::source::{Code, Problem, Problems, Severity, printable_lines};
use base::text::counted;
use catalog::Catalog;
use clap::ValueEnum;
use plan::Plan;

mod closing;
pub mod events;
mod fetch;
mod github;
mod json;
mod locale;
mod picture;
mod progress;
mod repository;
mod sarif;
pub mod source_build;
mod trace;

pub use closing::closing_table;
pub use fetch::{fetch_plan_text, fetched_table};
pub use locale::in_locale;
pub use progress::{Progress, print_state, print_unfinished};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum MessageFormat {
    /// Pictures of the lines at fault
    #[default]
    Human,
    /// One JSON object a line for each problem, and nothing else
    Json,
    /// Annotations for GitHub Actions, errors first
    Github,
    /// One SARIF 2.1.0 document for the run, also when all is well
    Sarif,
}

impl MessageFormat {
    fn has_readers(self) -> bool {
        matches!(self, Self::Human | Self::Github)
    }
}

/// Set once, before any output.
static FORMAT: OnceLock<MessageFormat> = OnceLock::new();
static QUIET: OnceLock<bool> = OnceLock::new();
static DENY: OnceLock<bool> = OnceLock::new();
/// A warning became an error.
static DENIED: AtomicBool = AtomicBool::new(false);
/// Text about the remaining state if a signal ends the command.
static STAYS: OnceLock<&'static str> = OnceLock::new();
/// Problems for a document at the end.
static HELD: Mutex<Vec<Problem>> = Mutex::new(Vec::new());

fn format() -> MessageFormat {
    FORMAT.get().copied().unwrap_or_default()
}

pub fn quiet() -> bool {
    QUIET.get().copied().unwrap_or_default()
}

/// Returns true if people read the output, without `--quiet`.
fn has_readers() -> bool {
    format().has_readers() && !quiet()
}

fn is_wanted(problem: &Problem) -> bool {
    problem.is_error() || !quiet()
}

/// Sets the form, and whether warnings are errors; only the first call counts.
pub fn init(format: MessageFormat, color: clap::ColorChoice, quiet: bool, deny_warnings: bool) {
    match color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
    let _ = FORMAT.set(format);
    let _ = QUIET.set(quiet);
    let _ = DENY.set(deny_warnings);
}

pub fn denies() -> bool {
    DENY.get().copied().unwrap_or_default()
}

pub fn has_denied() -> bool {
    DENIED.load(Ordering::Relaxed)
}

/// Faults of caches vary from run to run.
fn judged(problem: &Problem) -> Cow<'_, Problem> {
    if denies() && problem.is_unexpected_warning() && problem.code() != Code::Cache {
        DENIED.store(true, Ordering::Relaxed);
        return Cow::Owned(problem.clone().denied());
    }
    Cow::Borrowed(problem)
}

/// Closes the event log and prints the SARIF document, if there are any. Returns the final exit status.
pub fn finish(mut status: u8) -> u8 {
    if let Some(problem) = events::close(status == 0) {
        show(&problem);
        status = 2;
    }
    if format() == MessageFormat::Sarif {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = io::stderr().lock().write_all(sarif::document(&held, status != 2).as_bytes());
    }
    status
}

/// Sets the part of [`print_end_message`] on outputs that stay after a signal.
pub fn set_end_message(stays: &'static str) {
    let _ = STAYS.set(stays);
}

/// Says that a signal stopped the command, and which outputs stay.
pub fn print_end_message(signal: &str) {
    let stays = STAYS.get().unwrap_or(&"outputs are unchanged, temporary files are removed");
    let finished = progress::finished().map_or_else(String::new, |text| format!("; {text}"));
    let message = format!("stopped by {signal}: {stays}{finished}");
    if format().has_readers() {
        // Clears the progress bar's line.
        let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
        write_stderr(&format!("{clear}rockpack: {message}"));
    } else {
        show_problems(&Problem::error(Code::Environment, message).into());
    }
    finish(2);
}

/// Escapes control characters in a result for people.
pub fn print(text: &str) -> io::Result<()> {
    print_exact(&locale::in_locale(&printable_lines(text)))
}

/// Prints text for machines, or after [`printable_lines`] and [`in_locale`].
pub fn print_exact(text: &str) -> io::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that ends early (`| head`) is no failure.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn write_stderr(text: &str) {
    // Without standard error, messages are lost.
    let _ = writeln!(io::stderr().lock(), "{}", in_locale(text));
}

pub fn width() -> usize {
    width_of(&io::stdout())
}

fn width_of(stream: &impl AsFd) -> usize {
    let columns = rustix::termios::tcgetwinsize(stream).map_or(0, |size| size.ws_col);
    if columns == 0 { WIDTH } else { usize::from(columns).clamp(40, WIDTH) }
}

const WIDTH: usize = 100;

/// Returns whether a stream gets colours: by `--color`, `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, and
/// the terminal.
pub fn is_coloured(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

pub fn bold(text: &str) -> String {
    if is_coloured(&io::stdout()) { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// Prints a message for people on standard error.
pub fn print_message(text: &str) {
    if has_readers() {
        write_stderr(&printable_lines(text));
    }
}

/// Prints a blank line for people.
pub fn separate() {
    if format() == MessageFormat::Human {
        write_stderr("");
    }
}

/// Shows every problem. For people, errors are last, and shorten warnings to one line each. GitHub
/// shows only the first annotations: errors are first.
///
/// Expected warnings are counted.
pub fn show_problems(problems: &Problems) {
    let judged: Vec<Cow<'_, Problem>> = problems.iter().map(judged).collect();
    let is_shown = |problem: &&Problem| problem.expectation().is_none() && is_wanted(problem);
    let mut sorted: Vec<&Problem> =
        judged.iter().map(|problem| &**problem).filter(is_shown).collect();
    let has_errors = sorted.iter().any(|problem| problem.is_error());
    let last = format() == MessageFormat::Human;
    sorted.sort_by_key(|problem| {
        let rank = match problem.severity() {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Advice => 2,
        };
        if last { 2 - rank } else { rank }
    });
    if let Some(text) = expected(problems).filter(|_| has_readers()) {
        write_stderr(&text);
    }
    for problem in sorted {
        if last && has_errors && !problem.is_error() {
            events::record_problem(problem);
            write_stderr(&picture::line(problem));
        } else {
            show(problem);
        }
    }
}

fn expected(problems: &Problems) -> Option<String> {
    let rules: BTreeSet<String> = problems
        .iter()
        .filter_map(|problem| Some(problem.expectation()?.place.to_string()))
        .collect();
    let count = problems.iter().filter(|problem| problem.expectation().is_some()).count();
    let first = rules.first()?;
    let lines = match rules.len() {
        1 => first.clone(),
        many => format!("{first} and {}", counted(many - 1, "more line")),
    };
    Some(format!("note: {}, expected by {lines}; -v shows all", counted(count, "warning")))
}

pub fn show_expected(problems: &Problems) {
    for problem in problems.iter() {
        if let Some(expected) = problem.expectation() {
            let text = format!(
                "{}; expected: {} ({})",
                problem.message(),
                expected.reason,
                expected.place
            );
            show(&Problem::note(problem.code(), text));
        }
    }
}

fn show(problem: &Problem) {
    events::record_problem(problem);
    if !is_wanted(problem) {
        return;
    }
    let text = match format() {
        MessageFormat::Human => picture::draw(problem),
        MessageFormat::Json => json::line(problem),
        MessageFormat::Github => github::command(problem),
        MessageFormat::Sarif => {
            return HELD.lock().unwrap_or_else(PoisonError::into_inner).push(problem.clone());
        }
    };
    // Whole messages: threads must not mix theirs.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

pub fn show_manifest_name(name: &str) {
    print_message(&format!("manifest: {name}"));
}

pub fn show_absent_bases(catalog: &Catalog) {
    for artifact in &catalog.artifacts {
        for base in &artifact.absent_bases {
            show(&Problem::note(
                Code::AbsentBase,
                format!("artifact {} lists {base}, but does not have it", artifact.id),
            ));
        }
    }
}

pub fn show_without_license_text(plan: &Plan) {
    for (artifact, wheels) in resolve::without_license_text(plan) {
        let wheels: Vec<&str> = wheels.into_iter().map(DistName::as_str).collect();
        let shipped =
            format!("artifact {artifact} has files in {}, but no licence text", wheels.join(", "));
        show(&Problem::note(Code::NoLicenseText, shipped));
    }
}

pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
