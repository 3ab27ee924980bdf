//! Spans of a build's events, sent by OTLP/HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base::event::Event;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};

mod attributes;
mod exporter;
mod settings;
mod spans;
mod work;

use exporter::{Exporter, Outcome};
use settings::Settings;
use spans::Spans;

const LONGEST_END: Duration = Duration::from_secs(5);

/// Further spans are lost.
const QUEUE: usize = 8192;

/// Trace of a build.
#[derive(Debug)]
pub struct Telemetry {
    spans: Spans,
    provider: SdkTracerProvider,
    outcome: Arc<Outcome>,
    address: String,
}

impl Telemetry {
    /// Returns `None` without an endpoint. Errors contain no secret.
    pub fn of_the_environment(version: &'static str) -> Result<Option<Self>, String> {
        let Some(settings) = Settings::new(variable)? else { return Ok(None) };
        let (outcome, address) = (Arc::<Outcome>::default(), settings.address());
        let exporter = Exporter::new(settings, outcome.clone())?;
        let mut config = BatchConfigBuilder::default();
        if variable("OTEL_BSP_MAX_QUEUE_SIZE").is_none() {
            config = config.with_max_queue_size(QUEUE);
        }
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(config.build());
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(version))
            .with_span_processor(batches.build())
            .build();
        let spans = Spans::new(provider.tracer("rockpack"), &parent(), SystemTime::now());
        Ok(Some(Self { spans, provider, outcome, address }))
    }

    /// Takes an event of this time.
    pub fn take(&mut self, time: Duration, event: &Event) {
        self.spans.take(time, event);
    }

    /// Returns text about spans that the collector lacks.
    pub fn finish(self) -> Option<String> {
        let in_time = self.provider.shutdown_with_timeout(LONGEST_END).is_ok();
        let ended = self.spans.ended();
        let (taken, fault) = self.outcome.summary();
        if taken >= ended {
            return None;
        }
        let late = || format!("no answer for {} s", LONGEST_END.as_secs());
        let full = || "they came faster than the collector took them".to_owned();
        let why = fault.unwrap_or_else(if in_time { full } else { late });
        let (lost, address) = (ended - taken, &self.address);
        Some(format!("the collector at {address} did not take {lost} of {ended} spans: {why}"))
    }
}

/// Empty variables count as unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The last of equal attributes counts.
fn resource(version: &'static str) -> Resource {
    let service =
        [KeyValue::new("service.name", "rockpack"), KeyValue::new("service.version", version)];
    let resource = Resource::builder_empty().with_attributes(service).with_detectors(&[
        Box::new(TelemetryResourceDetector),
        Box::new(EnvResourceDetector::new()),
    ]);
    match variable("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

fn parent() -> Context {
    let names = [("traceparent", "TRACEPARENT"), ("tracestate", "TRACESTATE")];
    let carrier: HashMap<String, String> = names
        .into_iter()
        .filter_map(|(key, name)| Some((key.to_owned(), variable(name)?)))
        .collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
}
