//! Batches of spans by OTLP/HTTP.

use std::error::Error;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::retry::Backoff;
use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::runtime::{Builder, Runtime};

use crate::settings::Settings;

/// One, if an earlier batch failed.
const TRIES: u32 = 3;

const BACKOFF: Backoff =
    Backoff { shortest: Duration::from_millis(100), longest: Duration::from_secs(2), steady: 50 };

const ANSWER: usize = 64 << 10;

/// Taken spans, and the first fault.
#[derive(Debug, Default)]
pub(super) struct Outcome(Mutex<(usize, Option<String>)>);

impl Outcome {
    pub fn summary(&self) -> (usize, Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, taken: usize, fault: Option<String>) {
        let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.0 += taken;
        outcome.1 = outcome.1.take().or(fault);
    }

    fn has_failed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.is_some()
    }
}

pub(super) struct Exporter {
    settings: Settings,
    client: Client,
    runtime: Runtime,
    resource: ResourceAttributesWithSchema,
    outcome: Arc<Outcome>,
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

struct Fault {
    text: String,
    is_transient: bool,
    pause: Option<Duration>,
}

impl Exporter {
    pub fn new(settings: Settings, outcome: Arc<Outcome>) -> Result<Self, String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Headers must not reach another host.
        let client = Client::builder().redirect(Policy::none()).build();
        let client = client.map_err(|error| format!("cannot make a client: {}", root(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot make a client: {error}"))?;
        let resource = ResourceAttributesWithSchema::default();
        Ok(Self { settings, client, runtime, resource, outcome })
    }

    fn body(&self, request: &ExportTraceServiceRequest) -> std::io::Result<Vec<u8>> {
        let body = request.encode_to_vec();
        if !self.settings.gzip {
            return Ok(body);
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&body)?;
        encoder.finish()
    }

    fn send(&self, body: &[u8]) -> Result<ExportTraceServiceResponse, String> {
        let timeout = self.settings.timeout;
        self.runtime.block_on(async {
            match tokio::time::timeout(timeout, self.tried(body)).await {
                Ok(done) => done,
                Err(_) => Err(format!("no answer for {} ms", timeout.as_millis())),
            }
        })
    }

    async fn tried(&self, body: &[u8]) -> Result<ExportTraceServiceResponse, String> {
        let most = if self.outcome.has_failed() { 1 } else { TRIES };
        let mut tries = 0;
        loop {
            let fault = match self.once(body).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            tries += 1;
            if !fault.is_transient || tries >= most {
                return Err(fault.text);
            }
            tokio::time::sleep(fault.pause.unwrap_or_else(|| BACKOFF.pause(tries))).await;
        }
    }

    async fn once(&self, body: &[u8]) -> Result<ExportTraceServiceResponse, Fault> {
        let mut request = self.client.post(self.settings.url.clone());
        request = request.headers(self.settings.headers.clone());
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        if self.settings.gzip {
            request = request.header(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let answer =
            request.body(body.to_vec()).send().await.map_err(|error| unanswered(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(refused(&answer));
        }
        let bytes = content(answer).await.map_err(|error| unanswered(&error))?;
        Ok(ExportTraceServiceResponse::decode(&*bytes).unwrap_or_default())
    }
}

async fn content(mut answer: Response) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < ANSWER {
        let Some(chunk) = answer.chunk().await? else { break };
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The address can be secret.
fn unanswered(error: &reqwest::Error) -> Fault {
    Fault { text: root(error), is_transient: true, pause: None }
}

fn root(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn Error> = error.source();
    let mut text = "the request failed".to_owned();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

/// Retries as OTLP demands.
fn refused(answer: &Response) -> Fault {
    let status = answer.status();
    let is_transient = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    let pause = answer.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
    Fault {
        text: format!("it answered {status}"),
        is_transient,
        pause: pause.map(Duration::from_secs),
    }
}

fn rejected(answer: &ExportTraceServiceResponse) -> usize {
    let rejected = answer.partial_success.as_ref().map_or(0, |partial| partial.rejected_spans);
    usize::try_from(rejected).unwrap_or_default()
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = self.body(&ExportTraceServiceRequest { resource_spans });
        let sent = body.map_err(|error| error.to_string()).and_then(|body| self.send(&body));
        let (lost, fault) = match sent.map(|answer| rejected(&answer)) {
            Ok(0) => (0, None),
            Ok(lost) => (lost, Some("it rejected them".to_owned())),
            Err(text) => (count, Some(text)),
        };
        self.outcome.add(count.saturating_sub(lost), fault.clone());
        fault.map_or(Ok(()), |text| Err(OTelSdkError::InternalFailure(text)))
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::thread::JoinHandle;
    use std::time::Instant;

    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;

    use super::*;

    /// An empty answer is silence.
    fn server(answers: Vec<Vec<u8>>) -> (SocketAddr, JoinHandle<usize>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut silent = Vec::new();
            let mut count = 0;
            for answer in answers {
                let (mut connection, _) = listener.accept().unwrap();
                count += usize::from(connection.read(&mut [0; 4096]).unwrap() > 0);
                connection.write_all(&answer).unwrap();
                if answer.is_empty() {
                    silent.push(connection);
                }
            }
            for mut connection in silent {
                let _ = connection.read(&mut [0; 4096]);
            }
            count
        });
        (address, thread)
    }

    fn answer(status: &str, body: &[u8]) -> Vec<u8> {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    fn exporter(address: SocketAddr, millis: u64) -> Exporter {
        let settings = Settings::new(|name| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(format!("http://{address}/s3cret")),
            "OTEL_EXPORTER_OTLP_TIMEOUT" => Some(millis.to_string()),
            _ => None,
        });
        Exporter::new(settings.unwrap().unwrap(), Arc::default()).unwrap()
    }

    fn send(exporter: &Exporter) -> Result<usize, String> {
        exporter.send(b"").map(|answer| rejected(&answer))
    }

    #[test]
    fn faults_of_a_moment_are_tried_again() {
        let partial_success = Some(ExportTracePartialSuccess {
            rejected_spans: 2,
            error_message: "s3cret".to_owned(),
        });
        let partial = ExportTraceServiceResponse { partial_success }.encode_to_vec();
        let (address, served) = server(vec![
            answer("503 Service Unavailable", b""),
            answer("429 Too Many Requests\r\nretry-after: 0", b""),
            answer("200 OK", &partial),
            answer("400 Bad Request", b"s3cret"),
            answer("302 Found\r\nlocation: /other", b""),
        ]);
        let exporter = exporter(address, 5000);
        assert_eq!(send(&exporter), Ok(2));
        assert_eq!(send(&exporter), Err("it answered 400 Bad Request".to_owned()));
        assert_eq!(send(&exporter), Err("it answered 302 Found".to_owned()));
        assert_eq!(served.join().unwrap(), 5);
    }

    #[test]
    fn a_dead_collector_is_tried_often_once() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let exporter = exporter(listener.local_addr().unwrap(), 5000);
        drop(listener);
        let start = Instant::now();
        let error = send(&exporter).unwrap_err();
        assert!(error.contains("refused") && !error.contains("s3cret"), "{error}");
        assert!(start.elapsed() >= BACKOFF.shortest);
        exporter.outcome.add(0, Some(error));
        let start = Instant::now();
        send(&exporter).unwrap_err();
        assert!(start.elapsed() < BACKOFF.shortest);
    }

    #[test]
    fn a_silent_collector_has_the_timeout() {
        let (address, served) = server(vec![Vec::new()]);
        let exporter = exporter(address, 200);
        assert_eq!(send(&exporter), Err("no answer for 200 ms".to_owned()));
        drop(exporter);
        assert_eq!(served.join().unwrap(), 1);
    }
}
