//! Reads what `--timings` wrote: what workers did, and when.

use std::collections::BTreeMap;

use serde_json::Value;

/// One piece of work of one worker. Times are microseconds, as the trace format has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What was done: `read`, `edit`, `hash`, `deflate`, `xz`, `write`, `copy`.
    pub name: String,
    /// When it began.
    pub start: f64,
    /// How long it took.
    pub length: f64,
    /// How many bytes it was about, where the trace says.
    pub bytes: f64,
}

/// The pieces of a trace in the Chrome format: a list of events, or an object with `traceEvents`.
///
/// Only complete events (`"ph": "X"`) are pieces. `None` when `text` is no such trace.
pub fn pieces(text: &str) -> Option<Vec<Piece>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let events = value.get("traceEvents").unwrap_or(&value).as_array()?;
    events.iter().filter(|event| event["ph"] == "X").map(piece).collect()
}

fn piece(event: &Value) -> Option<Piece> {
    Some(Piece {
        name: event["name"].as_str()?.to_owned(),
        start: event["ts"].as_f64()?,
        length: event["dur"].as_f64()?,
        bytes: event["args"]["bytes"].as_f64().unwrap_or_default(),
    })
}

/// For each name the seconds that all workers spent, and the bytes.
pub fn totals(pieces: &[Piece]) -> BTreeMap<String, (f64, f64)> {
    let mut totals = BTreeMap::<String, (f64, f64)>::new();
    for piece in pieces {
        let total = totals.entry(piece.name.clone()).or_default();
        total.0 += piece.length / 1e6;
        total.1 += piece.bytes;
    }
    totals
}
