//! Spans of one trace.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use base::event::{Event, Phase, Request, Work, WorkKind, output_name};
use base::names::RelPath;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;

use crate::attributes::{self, count, number, text};
use crate::work::PackageWork;

/// A [`Context`] holds a span.
#[derive(Debug)]
pub(super) struct Spans {
    tracer: SdkTracer,
    start: SystemTime,
    command: Context,
    phase: Option<Context>,
    outputs: BTreeMap<RelPath, Context>,
    /// Also before the package begins.
    works: BTreeMap<String, PackageWork>,
    /// Code and message of the first.
    error: Option<(String, String)>,
    ended: usize,
}

impl Spans {
    pub fn new(tracer: SdkTracer, parent: &Context, start: SystemTime) -> Self {
        let builder = SpanBuilder::from_name("rockpack build").with_start_time(start);
        let command = parent.with_span(tracer.build_with_context(builder, parent));
        Self {
            tracer,
            start,
            command,
            phase: None,
            outputs: BTreeMap::new(),
            works: BTreeMap::new(),
            error: None,
            ended: 0,
        }
    }

    /// Number of sampled spans.
    pub fn ended(&self) -> usize {
        self.ended
    }

    pub fn take(&mut self, time: Duration, event: &Event) {
        match event {
            Event::PhaseStarted { phase } => self.begin_phase(time, *phase),
            Event::BuildStarted { outputs, bytes } => {
                self.add([
                    count("rockpack.build.outputs", *outputs),
                    number("rockpack.build.bytes", *bytes),
                ]);
            }
            Event::FarmStarted { outputs, bytes } => {
                self.add([
                    count("rockpack.farm.outputs", *outputs),
                    number("rockpack.farm.bytes", *bytes),
                ]);
            }
            Event::FetchStarted { archives, bytes } => {
                self.add([
                    count("rockpack.fetch.archives", *archives),
                    number("rockpack.fetch.bytes", *bytes),
                ]);
            }
            Event::OutputStarted { path, bytes } => self.begin_output(time, path, *bytes),
            Event::OutputFinished { path, files, size, .. } => {
                let facts = [count("rockpack.files", *files), number("file.size", *size)];
                self.end_output(time, path, facts);
            }
            Event::ArchiveLeft { path } => self.end_output(time, path, []),
            Event::Worked(work) => self.work(time, work),
            Event::CacheUsed { hits, hit_bytes, misses, added, added_bytes } => self.add([
                number("rockpack.cache.hits", *hits),
                number("rockpack.cache.hit_bytes", *hit_bytes),
                number("rockpack.cache.misses", *misses),
                number("rockpack.cache.added", *added),
                number("rockpack.cache.added_bytes", *added_bytes),
            ]),
            Event::Requested(request) => self.request(time, request),
            Event::Reported { severity, code, message } => {
                self.report(time, [severity, code, message]);
            }
            Event::Ended { successful, outputs, size, traffic } => {
                let facts = [count("rockpack.outputs", *outputs), number("rockpack.size", *size)];
                self.command.span().set_attributes(facts);
                self.command.span().set_attributes(attributes::traffic(traffic));
                self.end(time, *successful);
            }
            Event::WallsStand { walls, .. } => {
                self.add([text("rockpack.walls", &walls.join(" "))]);
            }
            Event::Started { .. } | Event::Progress { .. } => {}
        }
    }

    fn begin_phase(&mut self, time: Duration, phase: Phase) {
        self.end_phase(time);
        let span = self.begin(
            &self.command,
            phase.text().to_owned(),
            time,
            vec![text("rockpack.phase", phase.as_str())],
        );
        self.phase = Some(span);
    }

    fn end_phase(&mut self, time: Duration) {
        if let Some(phase) = self.phase.take() {
            self.close(&phase, time);
        }
    }

    fn add<const COUNT: usize>(&self, facts: [KeyValue; COUNT]) {
        self.parent().span().set_attributes(facts);
    }

    fn begin_output(&mut self, time: Duration, path: &RelPath, bytes: u64) {
        // An archive can be read again.
        self.end_output(time, path, []);
        let mut facts = attributes::file(path.as_str()).to_vec();
        facts.push(number("rockpack.bytes", bytes));
        let span = self.begin(self.parent(), output_name(path).to_owned(), time, facts);
        self.outputs.insert(path.clone(), span);
    }

    fn end_output<const COUNT: usize>(
        &mut self,
        time: Duration,
        path: &RelPath,
        facts: [KeyValue; COUNT],
    ) {
        let Some(output) = self.outputs.remove(path) else { return };
        output.span().set_attributes(facts);
        self.end_files(path, &output);
        self.close(&output, time);
    }

    fn end_files(&mut self, path: &RelPath, package: &Context) {
        let Some(work) = self.works.remove(path.as_str()) else { return };
        let (sum, files) = work.into_parts();
        package.span().set_attributes(sum.attributes());
        for work in files {
            let mut facts = attributes::file(&work.file).to_vec();
            facts.extend(work.sum.attributes());
            let name = attributes::file_name(&work.file).to_owned();
            let span = self.begin(package, name, work.start, facts);
            self.close(&span, work.end);
        }
    }

    fn work(&mut self, time: Duration, work: &Work) {
        if work.kind == WorkKind::Idle || !self.command.span().is_recording() {
            return;
        }
        if !self.works.contains_key(&work.package) {
            self.works.insert(work.package.clone(), PackageWork::default());
        }
        if let Some(package) = self.works.get_mut(&work.package) {
            package.add(time, work);
        }
    }

    fn request(&mut self, time: Duration, request: &Request) {
        let (facts, error) = attributes::request(request);
        let builder = SpanBuilder::from_name(request.method.clone())
            .with_kind(SpanKind::Client)
            .with_start_time(self.start + time.saturating_sub(request.took))
            .with_attributes(facts);
        let parent = self.parent();
        let span = parent.with_span(self.tracer.build_with_context(builder, parent));
        if error.is_some() {
            span.span().set_status(Status::error(""));
        }
        self.close(&span, time);
    }

    fn report(&mut self, time: Duration, [severity, code, message]: [&String; 3]) {
        let (name, facts) = if severity == "error" {
            self.error.get_or_insert_with(|| (code.clone(), message.clone()));
            ("exception", vec![text("exception.type", code), text("exception.message", message)])
        } else {
            let facts = [
                ("rockpack.severity", severity),
                ("rockpack.code", code),
                ("rockpack.message", message),
            ];
            ("rockpack.problem", facts.map(|(key, value)| text(key, value)).to_vec())
        };
        self.command.span().add_event_with_timestamp(name, self.start + time, facts);
    }

    fn end(&mut self, time: Duration, successful: bool) {
        let open: Vec<RelPath> = self.outputs.keys().cloned().collect();
        for path in &open {
            if let Some(output) = self.outputs.get(path).filter(|_| !successful) {
                output.span().set_status(Status::error("not finished"));
            }
            self.end_output(time, path, []);
        }
        self.end_phase(time);
        if !successful {
            let (code, message) =
                self.error.take().unwrap_or_else(|| ("_OTHER".to_owned(), String::new()));
            self.command.span().set_attribute(KeyValue::new("error.type", code));
            self.command.span().set_status(Status::error(message));
        }
        let command = self.command.clone();
        self.close(&command, time);
    }

    fn parent(&self) -> &Context {
        self.phase.as_ref().unwrap_or(&self.command)
    }

    fn begin(
        &self,
        parent: &Context,
        name: String,
        time: Duration,
        facts: Vec<KeyValue>,
    ) -> Context {
        let builder =
            SpanBuilder::from_name(name).with_start_time(self.start + time).with_attributes(facts);
        parent.with_span(self.tracer.build_with_context(builder, parent))
    }

    fn close(&mut self, span: &Context, time: Duration) {
        self.ended += usize::from(span.span().is_recording());
        span.span().end_with_timestamp(self.start + time);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use base::event::Traffic;
    use opentelemetry::Value;
    use opentelemetry::trace::{
        SpanContext, SpanId, TraceFlags, TraceId, TraceState, TracerProvider,
    };
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

    use super::*;

    #[derive(Debug, Clone, Default)]
    struct Kept(Arc<Mutex<Vec<SpanData>>>);

    impl SpanExporter for Kept {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            self.0.lock().unwrap().extend(batch);
            Ok(())
        }
    }

    const START: SystemTime = SystemTime::UNIX_EPOCH;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn spans(parent: &Context, events: &[(u64, Event)]) -> (Vec<SpanData>, usize) {
        let kept = Kept::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
        let mut spans = Spans::new(provider.tracer("test"), parent, START);
        for (time, event) in events {
            spans.take(at(*time), event);
        }
        let all = kept.0.lock().unwrap().clone();
        (all, spans.ended())
    }

    fn path() -> RelPath {
        "dist/a-1.0-py3-none-any.whl".parse().unwrap()
    }

    fn worked(kind: WorkKind, file: &str, took: u64) -> Event {
        let (package, file) = (path().to_string(), file.to_owned());
        let (start, took) = (Duration::ZERO, at(took));
        Event::Worked(Work { worker: 0, kind, start, took, bytes: 5, package, file })
    }

    fn requested(method: &str, path: &str, status: &str) -> Event {
        Event::Requested(Request {
            method: method.to_owned(),
            host: "example.org:80".to_owned(),
            path: path.to_owned(),
            status: status.to_owned(),
            retry: 1,
            sent: 2,
            received: 3,
            took: at(10),
        })
    }

    fn ended(successful: bool) -> Event {
        Event::Ended { successful, outputs: 1, size: 7, traffic: Traffic::default() }
    }

    fn named<'s>(spans: &'s [SpanData], name: &str) -> &'s SpanData {
        let names = || spans.iter().map(|span| &*span.name).collect::<Vec<_>>();
        spans
            .iter()
            .find(|span| span.name == name)
            .unwrap_or_else(|| panic!("{name}: {:?}", names()))
    }

    fn attribute(span: &SpanData, key: &str) -> Option<Value> {
        let found = span.attributes.iter().find(|it| it.key.as_str() == key);
        found.map(|it| it.value.clone())
    }

    #[test]
    fn a_file_with_much_work_has_a_span_in_that_of_its_package() {
        let finished = Event::OutputFinished { path: path(), files: 2, size: 7, took: at(600) };
        let (spans, count) = spans(
            &Context::new(),
            &[
                (100, Event::PhaseStarted { phase: Phase::Packages }),
                // Before the package begins.
                (200, worked(WorkKind::Edit, "lib/large.so", 40)),
                (300, Event::OutputStarted { path: path(), bytes: 9 }),
                (400, worked(WorkKind::Deflate, "lib/large.so", 60)),
                (500, worked(WorkKind::Deflate, "lib/small.so", 99)),
                (600, worked(WorkKind::Idle, "", 500)),
                (700, worked(WorkKind::Write, path().as_str(), 200)),
                (900, finished),
                (1000, ended(true)),
            ],
        );
        assert_eq!((spans.len(), count), (4, 4));
        let [file, package, phase, command] =
            ["large.so", "a", "packing", "rockpack build"].map(|name| named(&spans, name));
        for (child, parent) in [(file, package), (package, phase), (phase, command)] {
            assert_eq!(child.parent_span_id, parent.span_context.span_id());
            assert_eq!(child.span_context.trace_id(), command.span_context.trace_id());
        }
        let times = |span: &SpanData| (span.start_time, span.end_time);
        assert_eq!(times(file), (START + at(340), START + at(400)));
        assert_eq!(times(package), (START + at(300), START + at(900)));
        assert_eq!(times(phase), (START + at(100), START + at(1000)));
        assert_eq!(attribute(file, "rockpack.work.deflate"), Some(0.06.into()));
        assert_eq!(attribute(package, "rockpack.work.deflate"), Some(0.159.into()));
        assert_eq!(attribute(package, "file.size"), Some(7.into()));
    }

    #[test]
    fn requests_have_the_names_of_the_conventions() {
        let (spans, _) = spans(
            &Context::new(),
            &[
                (20, requested("GET", "/a", "200")),
                (20, requested("PUT", "/a", "no answer")),
                (20, requested("FindMissingBlobs", "", "PermissionDenied")),
            ],
        );
        let get = named(&spans, "GET");
        assert_eq!((get.start_time, get.end_time), (START + at(10), START + at(20)));
        assert_eq!((&get.span_kind, &get.status), (&SpanKind::Client, &Status::Unset));
        for (key, value) in [
            ("http.request.method", "GET".into()),
            ("http.response.status_code", 200.into()),
            ("server.address", "example.org".into()),
            ("server.port", 80.into()),
            ("http.request.resend_count", 1.into()),
        ] {
            assert_eq!(attribute(get, key), Some(value), "{key}");
        }
        let rpc = named(&spans, "FindMissingBlobs");
        assert_eq!(attribute(rpc, "rpc.system.name"), Some("grpc".into()));
        assert_eq!(attribute(rpc, "http.request.resend_count"), None);
        for (name, error) in [("PUT", "no answer"), ("FindMissingBlobs", "PERMISSION_DENIED")] {
            let span = named(&spans, name);
            assert_eq!(attribute(span, "error.type"), Some(error.into()));
            assert_eq!(span.status, Status::error(""));
        }
    }

    #[test]
    fn a_failed_build_has_its_error_and_incomplete_packages() {
        let reported = |severity: &str, message: &str| Event::Reported {
            severity: severity.to_owned(),
            code: "cache".to_owned(),
            message: message.to_owned(),
        };
        let (spans, count) = spans(
            &Context::new(),
            &[
                (100, Event::OutputStarted { path: path(), bytes: 9 }),
                (200, reported("warning", "slow")),
                (300, reported("error", "full")),
                (400, ended(false)),
            ],
        );
        assert_eq!((spans.len(), count), (2, 2));
        assert_eq!(named(&spans, "a").status, Status::error("not finished"));
        let command = named(&spans, "rockpack build");
        assert_eq!(command.status, Status::error("full"));
        assert_eq!(attribute(command, "error.type"), Some("cache".into()));
        let events: Vec<_> = command.events.iter().map(|event| &*event.name).collect();
        assert_eq!(events, ["rockpack.problem", "exception"]);
    }

    #[test]
    fn a_parent_that_is_not_sampled_has_no_spans() {
        let parent = |flags| {
            let (trace, span) = (TraceId::from_bytes([1; 16]), SpanId::from_bytes([2; 8]));
            let context = SpanContext::new(trace, span, flags, true, TraceState::NONE);
            Context::new().with_remote_span_context(context)
        };
        let events = [(100, worked(WorkKind::Xz, "file", 500)), (200, ended(true))];
        assert_eq!(spans(&parent(TraceFlags::SAMPLED), &events).1, 1);
        assert_eq!(spans(&parent(TraceFlags::NOT_SAMPLED), &events).1, 0);
    }
}
