//! Trace of all threads of a build (Trace Event Format, for Perfetto and Chrome).

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use base::event::Work;
use fs_err::File;
use serde_json::json;

pub fn write(out: File, works: &[Work]) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    write!(
        out,
        "{}",
        json!({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rockpack build"}})
    )?;
    let workers: BTreeSet<usize> = works.iter().map(|work| work.worker).collect();
    for worker in workers {
        let name = format!("worker {}", worker + 1);
        write!(
            out,
            ",\n{}",
            json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": worker + 1, "args": {"name": name}})
        )?;
    }
    for work in works {
        write!(out, ",\n{}", event(work))?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

fn event(work: &Work) -> serde_json::Value {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    json!({
        "ph": "X", "name": work.kind.as_str(), "cat": "work", "pid": 1, "tid": work.worker + 1,
        "ts": micros(work.start), "dur": micros(work.took), "args": {"bytes": work.bytes, "package": work.package, "file": work.file},
    })
}
