//! Event log of a build: lines of JSON as they happen, or a trace at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base::event::{self, Event, Listener, Phase, Record, Reporter, Traffic};
use base::names::RelPath;
use base::source::{Code, Problem};
use fs_err::File;

use super::{json, trace};

/// Interval between progress events of an output.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Suffix of the file name of a trace.
const TRACE: &str = ".trace.json";

static LOG: OnceLock<Mutex<Log>> = OnceLock::new();
static PHASE: Mutex<Option<(Phase, Instant)>> = Mutex::new(None);

struct Log {
    /// `None` once the log is closed.
    file: Option<LogFile>,
    start: Instant,
    outputs: usize,
    size: u64,
    traffic: Traffic,
}

struct LogFile {
    path: PathBuf,
    form: Form,
    fault: Option<io::Error>,
}

enum Form {
    Lines { out: File, progress: BTreeMap<RelPath, (u64, Duration)> },
    Trace { out: File, events: Vec<(Duration, Event)> },
}

/// Opens the event log for a file; only the first call counts.
pub fn open(file: &Path) -> io::Result<()> {
    let file = Some(LogFile::create(file)?);
    let (start, traffic) = (Instant::now(), Traffic::default());
    if LOG.set(Mutex::new(Log { file, start, outputs: 0, size: 0, traffic })).is_ok() {
        record(&Event::Started {
            format: event::FORMAT,
            rockpack: env!("CARGO_PKG_VERSION").to_owned(),
        });
    }
    Ok(())
}

pub fn is_open() -> bool {
    LOG.get().is_some()
}

pub fn record(event: &Event) {
    if let Some(log) = LOG.get() {
        log.lock().unwrap_or_else(PoisonError::into_inner).take(event);
    }
}

pub fn listener() -> Option<Listener> {
    is_open().then(|| Listener::new(Requests))
}

struct Requests;

impl Reporter for Requests {
    fn report(&self, event: Event) {
        record(&event);
    }
}

pub fn phase(phase: Phase) {
    *PHASE.lock().unwrap_or_else(PoisonError::into_inner) = Some((phase, Instant::now()));
    record(&Event::PhaseStarted { phase });
}

pub fn current_phase() -> Option<(Phase, Duration)> {
    let phase = *PHASE.lock().unwrap_or_else(PoisonError::into_inner);
    phase.map(|(phase, start)| (phase, start.elapsed()))
}

pub fn record_problem(problem: &Problem) {
    if is_open() {
        record(&reported(problem));
    }
}

fn reported(problem: &Problem) -> Event {
    Event::Reported {
        severity: json::severity(problem.severity()).to_owned(),
        code: problem.code().as_str().to_owned(),
        message: problem.message().to_owned(),
    }
}

/// Ends and closes the open log; returns an error if the file is incomplete.
pub fn close(successful: bool) -> Option<Problem> {
    LOG.get()?.lock().unwrap_or_else(PoisonError::into_inner).close(successful)
}

impl Log {
    fn take(&mut self, event: &Event) {
        match event {
            Event::OutputFinished { size, .. } => {
                self.outputs += 1;
                self.size += size;
            }
            Event::Requested(request) => self.traffic.add(request),
            _ => {}
        }
        let time = self.start.elapsed();
        if let Some(file) = &mut self.file {
            file.take(time, event);
        }
    }

    /// The end is the last line.
    fn close(&mut self, successful: bool) -> Option<Problem> {
        let (outputs, size, traffic) = (self.outputs, self.size, self.traffic);
        self.take(&Event::Ended { successful, outputs, size, traffic });
        self.file.take()?.close()
    }
}

impl LogFile {
    fn create(path: &Path) -> io::Result<Self> {
        let out = File::create(path)?;
        let form = if path.to_string_lossy().ends_with(TRACE) {
            Form::Trace { out, events: Vec::new() }
        } else {
            Form::Lines { out, progress: BTreeMap::new() }
        };
        Ok(Self { path: path.to_owned(), form, fault: None })
    }

    fn take(&mut self, time: Duration, event: &Event) {
        let (out, event) = match &mut self.form {
            Form::Trace { events, .. } => {
                if matches!(event, Event::Worked(_) | Event::Requested(_)) {
                    events.push((time, event.clone()));
                }
                return;
            }
            Form::Lines { out, progress } => match rare(progress, event, time) {
                Some(event) => (out, event),
                None => return,
            },
        };
        // One call: a reader gets whole lines.
        let line =
            serde_json::to_string(&Record { time, event: &event }).unwrap_or_default() + "\n";
        if let Err(e) = out.write_all(line.as_bytes()) {
            self.fault.get_or_insert(e);
        }
    }

    fn close(mut self) -> Option<Problem> {
        let ended = match self.form {
            Form::Trace { out, events } => trace::write(out, &events),
            Form::Lines { .. } => Ok(()),
        };
        let fault = self.fault.take().or(ended.err())?;
        let message = format!("cannot write the events to {}: {fault}", self.path.display());
        Some(Problem::error(Code::Environment, message))
    }
}

/// Returns the event to write; adds up the progress of an output.
fn rare<'e>(
    progress: &mut BTreeMap<RelPath, (u64, Duration)>,
    event: &'e Event,
    time: Duration,
) -> Option<Cow<'e, Event>> {
    match event {
        Event::Progress { path, bytes } => {
            let (sum, last) = progress.entry(path.clone()).or_default();
            *sum += bytes;
            if time.saturating_sub(*last) < PROGRESS_INTERVAL {
                return None;
            }
            *last = time;
            let bytes = std::mem::take(sum);
            Some(Cow::Owned(Event::Progress { path: path.clone(), bytes }))
        }
        Event::OutputFinished { path, .. } | Event::ArchiveLeft { path } => {
            progress.remove(path);
            Some(Cow::Borrowed(event))
        }
        _ => Some(Cow::Borrowed(event)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_progress_to_one_event_a_second() {
        let mut progress = BTreeMap::new();
        let path: RelPath = "dist/a.whl".parse().unwrap();
        let mut sums = Vec::new();
        for millis in (0..3000).step_by(100) {
            let event = Event::Progress { path: path.clone(), bytes: 1 };
            let time = Duration::from_millis(millis);
            if let Some(Event::Progress { bytes, .. }) =
                rare(&mut progress, &event, time).as_deref()
            {
                sums.push(*bytes);
            }
        }
        assert_eq!(sums, [11, 10]);
    }
}
