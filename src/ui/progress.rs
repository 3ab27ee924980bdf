//! Progress of a build: a bar on a terminal, occasional lines in a log.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use base::activity::{self, Activity};
use base::event::{Event, Reporter, output_name};
use base::names::RelPath;
use base::source::printable_lines;
use base::text::counted;
use base::text::human_size;
use indicatif::{ProgressBar, ProgressStyle};

use super::{events, has_readers, in_locale, print_message, seconds, width_of, write_stderr};

mod state;

use state::State;

/// Interval between progress lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Columns of a line in a log.
const LOG_WIDTH: usize = 120;
/// Narrowest terminal with a bar beside the line.
const WITH_BAR: usize = 100;
const BAR: usize = 12;

/// Time without an event after which a build counts as stalled.
const STALLED: Duration = Duration::from_mins(1);

/// Interval of checks for a stall.
const CHECK: Duration = Duration::from_secs(1);

static LATEST: Mutex<Weak<Mutex<ProgressState>>> = Mutex::new(Weak::new());

pub struct Progress {
    bar: Option<ProgressBar>,
    shown: Arc<Mutex<ProgressState>>,
}

struct ProgressState {
    start: Instant,
    state: State,
    /// A cache receives each finished package.
    has_cache: bool,
    has_bar: bool,
    /// Time of the last line in a log.
    last_line: Duration,
    /// Time of the last event, or of the last line about a stall.
    moved: Duration,
}

impl Progress {
    /// With `has_cache`, a cache receives each finished package.
    pub fn new(has_cache: bool) -> Self {
        let terminal = has_readers() && io::stderr().is_terminal();
        let (start, state) = (Instant::now(), State::default());
        let (last_line, moved) = (Duration::ZERO, Duration::ZERO);
        let shown = Arc::new(Mutex::new(ProgressState {
            start,
            state,
            has_cache,
            has_bar: false,
            last_line,
            moved,
        }));
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&shown);
        if has_readers() {
            let watched = Arc::downgrade(&shown);
            // If the thread cannot start, stalls are not reported; the build does not need it.
            let _ = std::thread::Builder::new()
                .name("progress".to_owned())
                .spawn(move || watch(&watched));
        }
        Self { bar: terminal.then(|| ProgressBar::new(0).with_style(style(false))), shown }
    }

    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(has_bar: bool) -> ProgressStyle {
    let bar = if has_bar { format!("{{bar:{BAR}}} ") } else { String::new() };
    ProgressStyle::with_template(&format!("{bar}{{wide_msg}}"))
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "))
}

/// Reports a stall each minute, until the [`Progress`] ends.
fn watch(watched: &Weak<Mutex<ProgressState>>) {
    loop {
        std::thread::sleep(CHECK);
        let Some(shown) = watched.upgrade() else { return };
        if let Some(line) = shown.lock().unwrap_or_else(PoisonError::into_inner).stall() {
            print_message(&line);
        }
    }
}

/// Prints the state of the command, also with `--quiet`, because the user asked for it by a signal.
pub fn print_state() {
    let mut text = latest().map_or_else(
        || {
            events::current_phase().map_or_else(
                || "rockpack: no build is in progress".to_owned(),
                |(phase, took)| format!("rockpack: {}, for {}", phase.text(), seconds(took)),
            )
        },
        |shown| shown.lock().unwrap_or_else(PoisonError::into_inner).text(),
    );
    for Activity { thread, work, subject, within, since } in activity::current() {
        let within = if within.is_empty() || within == subject {
            String::new()
        } else {
            format!(" in {within}")
        };
        let _ = write!(text, "\n  {thread}: {work} {subject}{within}, for {}", seconds(since));
    }
    write_stderr(&printable_lines(&text));
}

/// Prints the finished and the unfinished packages of a failed build.
pub fn print_unfinished(outputs: &[RelPath], has_cache: bool) {
    let Some(shown) = latest() else { return };
    let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
    let is_finished = |path: &&RelPath| shown.state.is_finished(path);
    let (finished, unfinished): (Vec<_>, Vec<_>) = outputs.iter().partition(is_finished);
    if finished.is_empty() {
        return;
    }
    let next = if has_cache {
        "their files are in the cache, and the same command packs only the rest"
    } else {
        "without a cache, the next build packs them again"
    };
    print_message(&format!(
        "finished: {}; {next}\nnot finished: {}",
        names(&finished),
        names(&unfinished)
    ));
}

/// Returns the finished packages of a stopped build, if a cache has them.
pub fn finished() -> Option<String> {
    // No wait: the stopped build may hold the lock for ever.
    let shown = latest()?;
    let shown = shown.try_lock().ok()?;
    let finished: Vec<&RelPath> = shown.state.finished().collect();
    (shown.has_cache && !finished.is_empty()).then(|| format!("in the cache: {}", names(&finished)))
}

fn names(paths: &[&RelPath]) -> String {
    paths.iter().map(|path| output_name(path)).collect::<Vec<_>>().join(", ")
}

fn latest() -> Option<Arc<Mutex<ProgressState>>> {
    LATEST.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
}

impl ProgressState {
    fn stall(&mut self) -> Option<String> {
        let now = self.start.elapsed();
        let idle = now.saturating_sub(self.moved);
        if !self.state.is_busy() || idle < STALLED {
            return None;
        }
        self.moved = now;
        Some(format!("no progress for {} s: {}", idle.as_secs(), self.state.line(LOG_WIDTH, now)))
    }

    fn text(&self) -> String {
        let now = self.start.elapsed();
        let mut text = format!("rockpack: {}", self.state.line(LOG_WIDTH, now));
        for (path, processed, total, idle) in self.state.in_flight(now) {
            let (processed, total) = (human_size(processed), human_size(total));
            let _ = write!(
                text,
                "\n  {path}: {processed} of {total}, last progress {} ago",
                seconds(idle)
            );
        }
        text
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        events::record(&event);
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let now = shown.start.elapsed();
        shown.moved = now;
        // Counts as progress, but is too frequent to redraw.
        if matches!(event, Event::Worked(_)) {
            return;
        }
        shown.state.take(&event, now);
        if let Some(bar) = &self.bar {
            let width = width_of(&io::stderr());
            let has_bar = width >= WITH_BAR;
            if shown.has_bar != has_bar {
                shown.has_bar = has_bar;
                bar.set_style(style(has_bar));
            }
            bar.set_length(shown.state.total());
            bar.set_position(shown.state.processed());
            // The last column stays empty: some terminals begin a line after it.
            let margin = if has_bar { BAR + 1 } else { 0 } + 1;
            let line = shown.state.line(width - margin, now);
            return bar.set_message(in_locale(&line).into_owned());
        }
        if let Some(line) = line_of(&event) {
            print_message(&line);
        } else if now.saturating_sub(shown.last_line) >= LOG_INTERVAL {
            shown.last_line = now;
            print_message(&shown.state.line(LOG_WIDTH, now));
        }
    }
}

fn line_of(event: &Event) -> Option<String> {
    match event {
        Event::BuildStarted { outputs, bytes } => {
            let packages = counted(*outputs, "package");
            Some(format!("writing {packages} from {}", human_size(*bytes)))
        }
        Event::FarmStarted { outputs, bytes } => {
            let packages = counted(*outputs, "package");
            Some(format!("building {packages} on the farm from {}", human_size(*bytes)))
        }
        Event::FetchStarted { archives, bytes } => {
            let archives = counted(*archives, "archive");
            Some(format!("fetching {archives} of {}", human_size(*bytes)))
        }
        Event::OutputFinished { path, files, size, took } => {
            let (files, size) = (counted(*files, "file"), human_size(*size));
            Some(format!("{path}: {files}, {size}, {}", seconds(*took)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_stall_each_minute_of_an_output_in_progress() {
        let start = Instant::now().checked_sub(STALLED + CHECK).unwrap();
        let (state, last_line, moved) = (State::default(), Duration::ZERO, Duration::ZERO);
        let mut shown =
            ProgressState { start, state, has_cache: false, has_bar: false, last_line, moved };
        assert_eq!(shown.stall(), None);
        let path: base::names::RelPath = "dist/a-1.0-py3-none-any.whl".parse().unwrap();
        shown.state.take(&Event::OutputStarted { path, bytes: 5 }, Duration::ZERO);
        let line = shown.stall().unwrap();
        assert!(line.starts_with("no progress for 61 s: ") && line.contains("a 0 %"), "{line}");
        assert_eq!(shown.stall(), None);
        assert!(shown.text().contains("0 B of 5 B, last progress 61."), "{}", shown.text());
    }
}
