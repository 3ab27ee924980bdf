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
const OFTEN: Duration = Duration::from_secs(1);

/// Suffix of the file name of a trace.
const TRACE: &str = ".trace.json";

static LOG: OnceLock<Mutex<Log>> = OnceLock::new();
static PHASE: Mutex<Option<(Phase, Instant)>> = Mutex::new(None);

struct Log {
    file: PathBuf,
    form: Form,
    start: Instant,
    outputs: usize,
    size: u64,
    traffic: Traffic,
    fault: Option<io::Error>,
}

enum Form {
    Lines { out: File, progress: BTreeMap<RelPath, (u64, Duration)> },
    Trace { out: File, events: Vec<(Duration, Event)> },
    Closed,
}

/// Opens the event log; only the first call counts.
pub fn open(file: &Path) -> io::Result<()> {
    let out = File::create(file)?;
    let is_trace = file.to_string_lossy().ends_with(TRACE);
    let form = if is_trace {
        Form::Trace { out, events: Vec::new() }
    } else {
        Form::Lines { out, progress: BTreeMap::new() }
    };
    let file = file.to_owned();
    let (start, traffic) = (Instant::now(), Traffic::default());
    let log = Log { file, form, start, outputs: 0, size: 0, traffic, fault: None };
    if LOG.set(Mutex::new(log)).is_ok() {
        record(&Event::Started {
            format: event::FORMAT,
            rockpack: env!("CARGO_PKG_VERSION").to_owned(),
        });
    }
    Ok(())
}

pub fn record(event: &Event) {
    if let Some(log) = LOG.get() {
        log.lock().unwrap_or_else(PoisonError::into_inner).take(event);
    }
}

/// Returns a receiver for the requests of clients, if a log is open.
pub fn listener() -> Option<Listener> {
    LOG.get().map(|_| Listener::new(Requests))
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
    if LOG.get().is_some() {
        record(&Event::Reported {
            severity: json::severity(problem.severity()).to_owned(),
            code: problem.code().as_str().to_owned(),
            message: problem.message().to_owned(),
        });
    }
}

/// Ends and closes the open log; returns a problem if it is incomplete.
pub fn close(successful: bool) -> Option<Problem> {
    let mut log = LOG.get()?.lock().unwrap_or_else(PoisonError::into_inner);
    let (outputs, size, traffic) = (log.outputs, log.size, log.traffic);
    log.take(&Event::Ended { successful, outputs, size, traffic });
    let ended = match std::mem::replace(&mut log.form, Form::Closed) {
        Form::Trace { out, events } => trace::write(out, &events),
        Form::Lines { .. } | Form::Closed => Ok(()),
    };
    let fault = log.fault.take().or(ended.err())?;
    let what = format!("cannot write the events to {}: {fault}", log.file.display());
    Some(Problem::error(Code::Environment, what))
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
            Form::Closed => return,
        };
        // One call: a reader gets whole lines.
        let line =
            serde_json::to_string(&Record { time, event: &event }).unwrap_or_default() + "\n";
        if let Err(e) = out.write_all(line.as_bytes()) {
            self.fault.get_or_insert(e);
        }
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
            if time.saturating_sub(*last) < OFTEN {
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
    fn progress_is_added_up_to_one_event_a_second() {
        let mut progress = BTreeMap::new();
        let path: RelPath = "dist/a.whl".parse().unwrap();
        let mut written = Vec::new();
        for millis in (0..3000).step_by(100) {
            let event = Event::Progress { path: path.clone(), bytes: 1 };
            let time = Duration::from_millis(millis);
            if let Some(Event::Progress { bytes, .. }) =
                rare(&mut progress, &event, time).as_deref()
            {
                written.push(*bytes);
            }
        }
        assert_eq!(written, [11, 10]);
    }
}
