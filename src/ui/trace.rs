//! Trace of all threads of a build (Trace Event Format, for Perfetto and Chrome).

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use build::execute::{Span, Timings};
use serde_json::json;

pub fn write(file: &Path, timings: &Timings) -> io::Result<()> {
    let mut out = BufWriter::new(fs_err::File::create(file)?);
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    write!(
        out,
        "{}",
        json!({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rockpack build"}})
    )?;
    for (thread, track) in timings.tracks.iter().enumerate() {
        let name = format!("worker {}", thread + 1);
        write!(
            out,
            ",\n{}",
            json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": thread + 1, "args": {"name": name}})
        )?;
        for span in &track.spans {
            write!(out, ",\n{}", event(thread + 1, span))?;
        }
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

fn event(thread: usize, span: &Span) -> serde_json::Value {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    json!({
        "ph": "X", "name": span.kind.as_str(), "cat": "work", "pid": 1, "tid": thread,
        "ts": micros(span.start), "dur": micros(span.took), "args": {"bytes": span.bytes, "package": span.package, "file": span.file},
    })
}
