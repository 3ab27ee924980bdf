//! Trace of all threads and requests of a build (Trace Event Format, for Perfetto and Chrome).

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use base::event::{Event, Request, Work};
use fs_err::File;
use serde_json::{Value, json};

/// Writes events with the times of their ends.
pub fn write(out: File, events: &[(Duration, Event)]) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    write!(
        out,
        "{}",
        json!({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rockpack build"}})
    )?;
    let worker = |(_, event): &(Duration, Event)| match event {
        Event::Worked(work) => Some(work.worker),
        _ => None,
    };
    let workers: BTreeSet<usize> = events.iter().filter_map(worker).collect();
    for worker in workers {
        let name = format!("worker {}", worker + 1);
        write!(
            out,
            ",\n{}",
            json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": worker + 1, "args": {"name": name}})
        )?;
    }
    for (id, (end, event)) in events.iter().enumerate() {
        match event {
            Event::Worked(work) => write!(out, ",\n{}", of_work(*end, work))?,
            Event::Requested(request) => {
                for part in of_request(*end, id, request) {
                    write!(out, ",\n{part}")?;
                }
            }
            _ => {}
        }
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn of_work(end: Duration, work: &Work) -> Value {
    json!({
        "ph": "X", "name": work.kind.as_str(), "cat": "work", "pid": 1, "tid": work.worker + 1,
        "ts": micros(end.saturating_sub(work.took)), "dur": micros(work.took),
        "args": {"bytes": work.bytes, "package": work.package, "file": work.file},
    })
}

/// Asynchronous events, which can overlap.
fn of_request(end: Duration, id: usize, request: &Request) -> [Value; 2] {
    let event = |phase: &str, time: Duration| {
        json!({
            "ph": phase, "name": request.method, "cat": "request", "id": id, "pid": 1, "tid": 0,
            "ts": micros(time), "args": request,
        })
    };
    [event("b", end.saturating_sub(request.took)), event("e", end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_pair_of_events_at_its_start_and_end() {
        let request = Request {
            method: "GET".to_owned(),
            host: "example.com".to_owned(),
            path: "/a".to_owned(),
            status: "200".to_owned(),
            retry: 1,
            sent: 0,
            received: 5,
            took: Duration::from_millis(2),
        };
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trace");
        let events = [(Duration::from_millis(7), Event::Requested(request))];
        write(File::create(&file).unwrap(), &events).unwrap();
        let trace: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
        let [_, begin, end] = &trace["traceEvents"].as_array().unwrap()[..] else {
            panic!("{trace}")
        };
        assert_eq!((&begin["ph"], &begin["ts"]), (&"b".into(), &5000.0.into()));
        assert_eq!((&end["ph"], &end["ts"]), (&"e".into(), &7000.0.into()));
        assert_eq!((&begin["id"], &begin["args"]["received"]), (&end["id"], &5.into()));
    }
}
