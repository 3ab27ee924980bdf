//! What people see: problems with their places, progress, the closing table.
//!
//! Results go to standard output; everything else to standard error. Without a terminal
//! there is no colour and nothing that moves: a log reads as the terminal does. What problems
//! look like is for the command line to choose; where a machine reads them, standard error has
//! nothing else.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use rockpack::cache::Summary;
use rockpack::catalog::Catalog;
use rockpack::event::{Event, Reporter};
use rockpack::execute::{Kind, Outcome, Timings};
use rockpack::names::DistName;
use rockpack::plan::{self, Plan, human_size};
use rockpack::source::{Code, Problem, Problems, Severity};

mod github;
mod json;
mod picture;
pub mod project;
mod repository;
mod sarif;
mod trace;

pub use trace::write as write_trace;

/// What problems look like on standard error.
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
    /// Whether people read along: then progress is told too.
    fn has_readers(self) -> bool {
        matches!(self, Self::Human | Self::Github)
    }
}

/// Set once, before anything is said: every stage of every command says things.
static FORMAT: OnceLock<MessageFormat> = OnceLock::new();
/// What a document at the end has to tell.
static HELD: Mutex<Vec<Problem>> = Mutex::new(Vec::new());

fn format() -> MessageFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Chooses what problems look like from now on. What was chosen first stays.
pub fn speak(format: MessageFormat) {
    let _ = FORMAT.set(format);
}

/// Says what is left to say when a command is done; `successful` unless it could not do its work.
pub fn finish(successful: bool) {
    if format() == MessageFormat::Sarif {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        say(sarif::document(&held, successful).trim_end());
    }
}

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

/// Tells people who read along.
fn tell(text: &str) {
    if format().has_readers() {
        say(text);
    }
}

/// Shows every problem, errors before what only warns.
pub fn show_problems(problems: &Problems) {
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| match problem.severity() {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Advice => 2,
    });
    sorted.into_iter().for_each(show);
}

fn show(problem: &Problem) {
    let text = match format() {
        MessageFormat::Human => picture::draw(problem),
        MessageFormat::Json => json::line(problem),
        MessageFormat::Github => github::command(problem),
        MessageFormat::Sarif => return HELD.lock().unwrap_or_else(PoisonError::into_inner).push(problem.clone()),
    };
    // Whole messages: another thread's must not come in between.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Lists base directories that manifests name and artifacts do not have.
pub fn show_absent_bases(catalog: &Catalog) {
    for artifact in &catalog.artifacts {
        for base in &artifact.absent_bases {
            show(&Problem::note(Code::AbsentBase, format!("artifact {} lists {base} and does not have it", artifact.id)));
        }
    }
}

/// Lists artifacts of which files are shipped, and no licence text.
pub fn show_without_license_text(plan: &Plan) {
    for (artifact, wheels) in plan::without_license_text(plan) {
        let wheels: Vec<&str> = wheels.into_iter().map(DistName::as_str).collect();
        let shipped = format!("files of artifact {artifact} are in {}, and no licence text of it", wheels.join(", "));
        show(&Problem::note(Code::NoLicenseText, shipped));
    }
}

/// Progress of a build: a bar on a terminal, else a line for each output.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Draws on standard error.
    pub fn new() -> Self {
        Self { bar: (format().has_readers() && io::stderr().is_terminal()).then(|| ProgressBar::new(0)) }
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
                tell(&format!("writing {packages} out of {}", human_size(bytes)));
            }
            (Event::OutputFinished { path, files, size, took }, None) => {
                tell(&format!("{path}: {files} files, {}, {}", human_size(size), seconds(took)));
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
    let (packed, took) = (outcome.built.iter().map(|b| b.size).sum(), outcome.timings.wall);
    let _ = writeln!(text, "{:width$}  {files:>6}  {:>8}  {:>10}  {:>7}", "all", human_size(size), human_size(packed), seconds(took));
    let _ = writeln!(text, "{}", where_time_went(&outcome.timings));
    if let Some(known) = outcome.cache.as_ref().and_then(from_cache) {
        let _ = writeln!(text, "{known}");
    }
    for path in &outcome.removed {
        let _ = writeln!(text, "removed {path}, which an earlier build left");
    }
    if !plan.unowned.is_empty() {
        let bytes = plan.unowned.iter().map(|u| u.size).sum();
        let _ = writeln!(text, "{} files ({}) are in no package; rockpack plan -v lists them", plan.unowned.len(), human_size(bytes));
    }
    text
}

/// What the threads did, in one line; what took no time is not named.
fn where_time_went(timings: &Timings) -> String {
    let kinds = Kind::ALL.iter().map(|kind| (kind.as_str(), timings.total(*kind)));
    let shares: Vec<String> =
        kinds.filter(|(_, time)| time.as_millis() >= 50).map(|(name, time)| format!("{name} {}", seconds(time))).collect();
    let threads = if timings.tracks.len() == 1 { "1 thread".to_owned() } else { format!("{} threads", timings.tracks.len()) };
    let what = if shares.is_empty() { String::new() } else { format!(": {}", shares.join(", ")) };
    format!("{} on {threads}{what}", seconds(timings.wall))
}

/// What came out of the cache, if anything did.
fn from_cache(summary: &Summary) -> Option<String> {
    let Summary { hits, hit_bytes, misses, damaged, .. } = summary;
    let healed = if *damaged == 0 { String::new() } else { format!("; {damaged} were damaged and are packed anew") };
    let all = hits + misses;
    (*hits > 0 || *damaged > 0).then(|| format!("{hits} of {all} files came packed out of the cache, {}{healed}", human_size(*hit_bytes)))
}
