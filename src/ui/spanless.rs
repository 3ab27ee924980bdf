//! Spans, without the feature `telemetry`.

use std::time::Duration;

use base::event::Event;
use base::source::{Code, Problem};

pub enum Spans {}

pub fn open() -> (Option<Spans>, Option<Problem>) {
    let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_disabled =
        value("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let set = names.into_iter().find(|name| value(name).is_some()).filter(|_| !is_disabled);
    (None, set.map(note))
}

fn note(name: &str) -> Problem {
    let text =
        format!("{name} has no effect: this rockpack was built without the feature `telemetry`");
    let help = "build it with `cargo build --features telemetry`, or take a released program, which has it";
    Problem::note(Code::Telemetry, text).help(help)
}

impl Spans {
    pub fn take(&mut self, _: Duration, _: &Event) {
        match *self {}
    }

    pub fn finish(self) -> Option<Problem> {
        match self {}
    }
}
