//! What people see: problems with their places, progress, the closing table.
//!
//! Results go to standard output; everything else to standard error. Without a terminal
//! there is no colour and nothing that moves: a log reads as the terminal does.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use miette::{GraphicalReportHandler, GraphicalTheme};
use rockpack::catalog::Catalog;
use rockpack::event::{Event, Reporter};
use rockpack::execute::Outcome;
use rockpack::plan::{Plan, human_size};
use rockpack::source::Problems;

/// Writes a result.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that has seen enough (`| head`) is no failure.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

fn say(text: &str) {
    // Where standard error is gone there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// How wide a text may be: as wide as the terminal, and never wider than people read well.
pub fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
    if columns == 0 { WIDTH } else { usize::from(columns).clamp(40, WIDTH) }
}

const WIDTH: usize = 100;

/// The text in bold, where a terminal shows it.
pub fn bold(text: &str) -> String {
    let shown = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if shown { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// Draws every problem.
pub fn show_problems(problems: &Problems) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_wrap_lines(true);
    for problem in problems.iter() {
        let mut text = String::new();
        let drawn = handler.render_report(&mut text, problem);
        say(if drawn.is_ok() { text.trim_end() } else { problem.message() });
        say("");
    }
}

/// Lists base directories that manifests name and artifacts do not have.
pub fn show_absent_bases(catalog: &Catalog) {
    for artifact in &catalog.artifacts {
        for base in &artifact.absent_bases {
            say(&format!("note: artifact {} lists {base} and does not have it", artifact.id));
        }
    }
}

/// Progress of a build: a bar on a terminal, else a line for each output.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Draws on standard error.
    pub fn new() -> Self {
        Self { bar: io::stderr().is_terminal().then(|| ProgressBar::new(0)) }
    }

    /// Leaves nothing of the bar.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn style() -> ProgressStyle {
        let template = "{bar:24} {decimal_bytes:>10} of {decimal_total_bytes}  {decimal_bytes_per_sec:>12}  {eta:>4} left  {wide_msg}";
        ProgressStyle::with_template(template).map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "))
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        match (event, &self.bar) {
            (Event::BuildStarted { bytes, .. }, Some(bar)) => {
                bar.set_style(Self::style());
                bar.set_length(bytes);
            }
            (Event::OutputStarted { path, .. }, Some(bar)) => bar.set_message(path.file_name().to_owned()),
            (Event::Progress { bytes }, Some(bar)) => bar.inc(bytes),
            (Event::BuildStarted { outputs, bytes }, None) => {
                let packages = if outputs == 1 { "1 package".to_owned() } else { format!("{outputs} packages") };
                say(&format!("writing {packages} out of {}", human_size(bytes)));
            }
            (Event::OutputFinished { path, files, size, took }, None) => {
                say(&format!("{path}: {files} files, {}, {}", human_size(size), seconds(took)));
            }
            (Event::OutputFinished { .. }, Some(_)) | (Event::OutputStarted { .. } | Event::Progress { .. }, None) => {}
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// What was made: package, files, size, compressed, time, sha256.
pub fn closing_table(plan: &Plan, outcome: &Outcome) -> String {
    let width = outcome.built.iter().map(|b| b.path.as_str().len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>6}  {:>8}  {:>10}  {:>7}  sha256\n", "package", "files", "size", "compressed", "time");
    for b in &outcome.built {
        let row =
            format!("{:>6}  {:>8}  {:>10}  {:>7}  {}", b.files, human_size(b.installed), human_size(b.size), seconds(b.took), b.sha256);
        let _ = writeln!(text, "{:width$}  {row}", b.path);
    }
    let (files, size) = (outcome.built.iter().map(|b| b.files).sum::<usize>(), outcome.built.iter().map(|b| b.installed).sum());
    let (packed, took) = (outcome.built.iter().map(|b| b.size).sum(), outcome.built.iter().map(|b| b.took).sum());
    let _ = writeln!(text, "{:width$}  {files:>6}  {:>8}  {:>10}  {:>7}", "all", human_size(size), human_size(packed), seconds(took));
    for path in &outcome.removed {
        let _ = writeln!(text, "removed {path}, which an earlier build left");
    }
    if !plan.unowned.is_empty() {
        let bytes = plan.unowned.iter().map(|u| u.size).sum();
        let _ = writeln!(text, "{} files ({}) are in no package; rockpack plan -v lists them", plan.unowned.len(), human_size(bytes));
    }
    text
}
