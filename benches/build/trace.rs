//! Reader of the traces that `--events FILE.trace.json` writes.

use std::collections::BTreeMap;

use serde_json::Value;

/// Work of one worker. Times are microseconds, as in the trace format.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Kind of work: `read`, `edit`, `hash`, `deflate`, `xz`, `write`, `copy`.
    pub name: String,
    /// Start.
    pub start: f64,
    /// Duration.
    pub length: f64,
    /// Processed bytes, or 0 if the trace has no number.
    pub bytes: f64,
}

/// Parses a trace in the Chrome format: a list of events, or an object with `traceEvents`.
///
/// Only complete events (`"ph": "X"`) are pieces. Returns `None` for any other text.
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

/// Returns seconds of all workers and bytes for each kind of work.
pub fn totals(pieces: &[Piece]) -> BTreeMap<String, (f64, f64)> {
    let mut totals = BTreeMap::<String, (f64, f64)>::new();
    for piece in pieces {
        let total = totals.entry(piece.name.clone()).or_default();
        total.0 += piece.length / 1e6;
        total.1 += piece.bytes;
    }
    totals
}
