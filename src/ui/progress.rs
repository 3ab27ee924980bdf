//! Progress of a build: a bar on a terminal, occasional lines in a log.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::event::{Event, Reporter};
use base::text::counted;
use base::text::human_size;
use indicatif::{ProgressBar, ProgressStyle};

use super::{has_readers, seconds, tell};

mod state;

use state::State;

/// Interval between progress lines in a log.
const OFTEN: Duration = Duration::from_secs(10);

pub struct Progress {
    bar: Option<ProgressBar>,
    start: Instant,
    shown: Mutex<Shown>,
}

struct Shown {
    state: State,
    /// Time of the last progress line in the log.
    last: Duration,
}

impl Progress {
    pub fn new() -> Self {
        let terminal = has_readers() && io::stderr().is_terminal();
        let shown = Shown { state: State::default(), last: Duration::ZERO };
        Self {
            bar: terminal.then(|| ProgressBar::new(0).with_style(style())),
            start: Instant::now(),
            shown: Mutex::new(shown),
        }
    }

    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:24} {wide_msg}")
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "))
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        let now = self.start.elapsed();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.state.take(&event, now);
        if let Some(bar) = &self.bar {
            bar.set_length(shown.state.total());
            bar.set_position(shown.state.done());
            return bar.set_message(shown.state.line(now));
        }
        if let Some(line) = line_of(&event) {
            tell(&line);
        } else if now.saturating_sub(shown.last) >= OFTEN {
            shown.last = now;
            tell(&shown.state.line(now));
        }
    }
}

fn line_of(event: &Event) -> Option<String> {
    match event {
        Event::BuildStarted { outputs, bytes } => {
            let packages = counted(*outputs, "package");
            Some(format!("writing {packages} out of {}", human_size(*bytes)))
        }
        Event::FarmStarted { outputs, bytes } => {
            let packages = counted(*outputs, "package");
            Some(format!("having {packages} built by the farm out of {}", human_size(*bytes)))
        }
        Event::FetchStarted { archives, bytes } => {
            let archives = counted(*archives, "archive");
            Some(format!("fetching {archives} of {}", human_size(*bytes)))
        }
        Event::OutputFinished { path, files, size, took } => {
            let (files, size) = (counted(*files, "file"), human_size(*size));
            Some(format!("{path}: {files}, {size}, {}", seconds(*took)))
        }
        Event::OutputStarted { .. } | Event::Progress { .. } | Event::ArchiveLeft { .. } => None,
    }
}
