//! Spans of a build for a collector.

use std::time::Duration;

use base::event::Event;
use base::source::{Code, Problem};
use telemetry::Telemetry;

pub struct Spans(Telemetry);

pub fn open() -> (Option<Spans>, Option<Problem>) {
    match Telemetry::of_the_environment(env!("CARGO_PKG_VERSION")) {
        Ok(telemetry) => (telemetry.map(Spans), None),
        Err(text) => (None, Some(warning(format!("no span is sent: {text}")))),
    }
}

impl Spans {
    pub fn take(&mut self, time: Duration, event: &Event) {
        self.0.take(time, event);
    }

    pub fn finish(self) -> Option<Problem> {
        self.0.finish().map(warning)
    }
}

fn warning(text: String) -> Problem {
    Problem::warning(Code::Telemetry, text)
        .help("the packages are not affected; OTEL_SDK_DISABLED=true sends no spans")
}
