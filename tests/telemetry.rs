//! Spans of a build for a collector in this process.
//!
//! `tests/telemetry/run` uses a collector and a decoder of others.

use std::collections::{BTreeMap, BTreeSet};

use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Any};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::Value;

use crate::demo_tree::scratch;
use crate::program::{said, uncached};

mod collector;

use collector::Collector;

const BUILD: [&str; 9] = [
    "build",
    "--artifact-dir",
    "artifacts",
    "-o",
    "out",
    "--platform-tag",
    "linux_x86_64",
    "--events",
    "events.jsonl",
];

/// Parent in the form of W3C Trace Context.
const PARENT: (&str, &str) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn attribute(attributes: &[KeyValue], key: &str) -> Option<Value> {
    let found = attributes.iter().find(|it| it.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => Some(text.as_str().into()),
        Any::IntValue(number) => Some((*number).into()),
        Any::DoubleValue(number) => Some((*number).into()),
        other => panic!("{key}: {other:?}"),
    }
}

fn events(dir: &std::path::Path) -> Vec<Value> {
    let text = fs_err::read_to_string(dir.join("events.jsonl")).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_build_is_one_trace_below_the_span_of_its_job() {
    let (dir, collector) = (scratch(true), Collector::new("200 OK"));
    let mut build = uncached(dir.path(), &BUILD);
    let (trace, parent) = PARENT;
    build
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}/base", collector.address))
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret")
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=night,service.version=9")
        .env("TRACEPARENT", format!("00-{trace}-{parent}-01"));
    let output = build.output().unwrap();
    assert!(output.status.success() && !said(&output).contains("s3cret"), "{}", said(&output));
    let received = collector.finish();
    for request in &received {
        assert_eq!(request.path, "/base/v1/traces");
        assert_eq!(request.headers["authorization"], "Bearer s3cret");
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
    }
    let resources = || received.iter().flat_map(|request| &request.spans.resource_spans);
    for resource in resources() {
        let attributes = &resource.resource.as_ref().unwrap().attributes;
        let of = |key| attribute(attributes, key).unwrap();
        assert_eq!(of("service.name"), "rockpack");
        assert_eq!(of("service.version"), "9");
        assert_eq!(of("deployment.environment.name"), "night");
        assert_eq!(of("telemetry.sdk.language"), "rust");
    }
    let spans: Vec<&Span> =
        resources().flat_map(|it| &it.scope_spans).flat_map(|it| &it.spans).collect();
    assert!(spans.iter().all(|span| hex(&span.trace_id) == trace));
    let by_id: BTreeMap<String, &Span> =
        spans.iter().map(|span| (hex(&span.span_id), *span)).collect();
    assert_eq!(by_id.len(), spans.len());
    let children = |id: &str| {
        let children = spans.iter().filter(|span| hex(&span.parent_span_id) == id);
        children.copied().collect::<Vec<_>>()
    };
    let [command] = children(parent)[..] else { panic!("{spans:?}") };
    assert_eq!(
        (command.name.as_str(), command.status.as_ref().unwrap().code),
        ("rockpack build", 0)
    );
    let phases = children(&hex(&command.span_id));
    let names: Vec<&str> = phases.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["reading artifacts", "planning", "packing"]);
    for span in spans.iter().filter(|span| hex(&span.parent_span_id) != parent) {
        let above = by_id[&hex(&span.parent_span_id)];
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
        assert!(span.end_time_unix_nano <= above.end_time_unix_nano, "{span:?}: {above:?}");
    }
    let packages = children(&hex(&phases[2].span_id));
    let sizes: BTreeSet<(String, u64)> = packages
        .iter()
        .map(|span| {
            let of = |key| attribute(&span.attributes, key).unwrap();
            assert!(attribute(&span.attributes, "rockpack.work.write").is_some(), "{span:?}");
            (of("file.path").as_str().unwrap().to_owned(), of("file.size").as_u64().unwrap())
        })
        .collect();
    let events = events(dir.path());
    let finished = events.iter().filter(|event| event["event"] == "output-finished");
    let finished: BTreeSet<(String, u64)> = finished
        .map(|it| (it["path"].as_str().unwrap().to_owned(), it["size"].as_u64().unwrap()))
        .collect();
    assert_eq!(sizes, finished);
    assert!(packages.iter().any(|span| span.name == "rocm_sdk_core"), "{packages:?}");
}

#[test]
fn a_collector_that_refuses_is_one_warning() {
    let (dir, collector) = (scratch(true), Collector::new("401 Unauthorized"));
    let mut build = uncached(dir.path(), &BUILD);
    let address = collector.address.clone();
    build
        .arg("--deny-warnings")
        .env(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            format!("http://me:s3cret@{address}/s3cret?k=s3cret"),
        )
        .env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=s3cret");
    let output = build.output().unwrap();
    let said = said(&output);
    assert!(output.status.success() && !said.contains("s3cret"), "{said}");
    let received = collector.finish();
    let sent: usize = received.iter().map(collector::Received::count).sum();
    let warning = format!(
        "the collector at http://{address} did not take {sent} of {sent} spans: it answered 401 Unauthorized"
    );
    assert_eq!(said.matches(&warning).count(), 1, "{said}");
    assert!(received.iter().all(|request| request.headers["api-key"] == "s3cret"));
    let events = events(dir.path());
    let [.., reported, ended] = &events[..] else { panic!("{events:?}") };
    assert_eq!(reported["code"], "telemetry");
    assert_eq!((&ended["event"], &ended["successful"]), (&"ended".into(), &true.into()));
}
