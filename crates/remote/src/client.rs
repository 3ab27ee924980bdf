//! Requests to a server, with retries.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use prost::Message as _;
use tokio::sync::watch;
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use super::action::Digest;
use super::auth::Auth;
use super::breaker::Breaker;
use super::observed::{Call, Observer};
use super::{Options, Tls};
use api::action_cache_client::ActionCacheClient;
use api::capabilities_client::CapabilitiesClient;
use api::content_addressable_storage_client::ContentAddressableStorageClient;
use base::retry::Backoff;
use base::source::is_active;
use manifest::Address;

const CONNECT: Duration = Duration::from_secs(3);
const CAPABILITIES: Duration = Duration::from_secs(3);
const PAUSES: Backoff = Backoff {
    shortest: Duration::from_millis(100),
    longest: Duration::from_secs(5),
    fixed_percent: 50,
};
/// Batch size for servers without a limit, less the overhead of a message.
const BATCH: u64 = (4 << 20) - (64 << 10);
/// Limit of a received message: servers may exceed tonic's default of 4 MiB.
pub(super) const LARGEST_MESSAGE: usize = 16 << 20;
const LARGEST_HEADERS: u32 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("it does not have the requested blob")]
    Missing,
    /// Other bytes than its digest.
    #[error("a blob differs from its digest")]
    Damaged,
    /// Rejected or malformed, repeatedly.
    #[error("{0}")]
    Refused(String),
    /// The breaker is open, or the answer is not needed.
    #[error("requests to it have ended")]
    Over,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of blobs in one request.
    pub batch: u64,
    /// Size of a blob; 0 for no limit.
    pub largest: u64,
    /// Accepts entries.
    pub writable: bool,
    /// Stores blobs and entries.
    pub caches: bool,
    /// Executes actions.
    pub executes: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { batch: BATCH, largest: 0, writable: false, caches: false, executes: false }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Client {
    pub channel: Channel,
    pub instance: String,
    pub limits: Limits,
    auth: Arc<Auth>,
    pub breaker: Arc<Breaker>,
    timeout: Duration,
    retries: u32,
    stop: watch::Receiver<bool>,
    about: Vec<u8>,
    observer: Observer,
    /// Cancellations in progress.
    pub leaves: Arc<AtomicUsize>,
}

impl Client {
    /// Connects to `address` and requests its capabilities, without retries.
    pub async fn connect(
        address: &Address,
        options: &Options,
        auth: Arc<Auth>,
        breaker: Arc<Breaker>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, String> {
        let mut over = stop.clone();
        tokio::select! {
            connected = Self::connect_now(address, options, auth, breaker, stop) => connected,
            _ = over.wait_for(|over| *over) => Err("the connection is no longer needed".to_owned()),
        }
    }

    async fn connect_now(
        address: &Address,
        options: &Options,
        auth: Arc<Auth>,
        breaker: Arc<Breaker>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, String> {
        let endpoint = endpoint(address, &options.tls).map_err(|error| root_cause(&error))?;
        let connected = tokio::time::timeout(CONNECT, endpoint.connect()).await;
        let channel = connected
            .map_err(|_| format!("no connection after {} s", CONNECT.as_secs()))?
            .map_err(|error| no_connection(&error))?;
        let details = api::ToolDetails {
            tool_name: "rockpack".to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let about =
            api::RequestMetadata { tool_details: Some(details), ..api::RequestMetadata::default() };
        let mut client = Self {
            channel,
            instance: options.instance.clone(),
            limits: Limits::default(),
            auth,
            breaker,
            timeout: options.timeout,
            retries: options.retries,
            stop,
            about: about.encode_to_vec(),
            observer: Observer { listener: options.listener.clone(), host: address.to_string() },
            leaves: Arc::default(),
        };
        client.limits = client.fetch_limits().await.map_err(|why| match address {
            // A TLS server closes plain connections.
            Address::Host { tls: false, host, port } if why.contains("transport error") => {
                format!("{why}; a server with TLS is grpcs://{host}:{port}")
            }
            _ => why,
        })?;
        Ok(client)
    }

    async fn fetch_limits(&self) -> Result<Limits, String> {
        let instance_name = self.instance.clone();
        let request = self.request(api::GetCapabilitiesRequest { instance_name });
        let mut capabilities = CapabilitiesClient::new(self.channel.clone());
        let (call, start) = (Call::new("GetCapabilities"), Instant::now());
        let answer = tokio::time::timeout(CAPABILITIES, capabilities.get_capabilities(request));
        let answer = answer.await;
        let slow = too_slow();
        let status = answer.as_ref().map_or(Some(&slow), |answer| answer.as_ref().err());
        self.observer.requested(&call, 0, start, status);
        let answer = answer
            .map_err(|_| format!("it did not answer in {} s", CAPABILITIES.as_secs()))?
            .map_err(|status| self.status_text(&status))?;
        let answer = answer.into_inner();
        let executes =
            answer.execution_capabilities.is_some_and(|execution| execution.exec_enabled);
        let Some(cache) = answer.cache_capabilities else {
            return Ok(Limits { executes, ..Limits::default() });
        };
        let sha256 = i32::from(api::digest_function::Value::Sha256);
        if !cache.digest_functions.is_empty() && !cache.digest_functions.contains(&sha256) {
            return Err("the server does not support SHA-256".to_owned());
        }
        let bytes = |limit: i64| u64::try_from(limit).unwrap_or(0);
        let batch = match bytes(cache.max_batch_total_size_bytes) {
            0 => BATCH,
            most => most.saturating_sub(64 << 10).min(BATCH),
        };
        let writable = cache.action_cache_update_capabilities;
        let writable = writable.is_some_and(|update| update.update_enabled);
        let largest = bytes(cache.max_cas_blob_size_bytes);
        Ok(Limits { batch, largest, writable, caches: true, executes })
    }

    pub fn request<T>(&self, message: T) -> Request<T> {
        const ABOUT: &str = "build.bazel.remote.execution.v2.requestmetadata-bin";
        let mut request = Request::new(message);
        self.auth.apply(request.metadata_mut());
        request.metadata_mut().insert_bin(ABOUT, MetadataValue::from_bytes(&self.about));
        request
    }

    pub(crate) fn action_cache(&self) -> ActionCacheClient<Channel> {
        ActionCacheClient::new(self.channel.clone()).max_decoding_message_size(LARGEST_MESSAGE)
    }

    pub fn storage(&self) -> ContentAddressableStorageClient<Channel> {
        ContentAddressableStorageClient::new(self.channel.clone())
            .max_decoding_message_size(LARGEST_MESSAGE)
    }

    pub(crate) fn byte_stream(&self) -> ByteStreamClient<Channel> {
        ByteStreamClient::new(self.channel.clone()).max_decoding_message_size(LARGEST_MESSAGE)
    }

    /// Returns the number of cancellations that the server does not know yet.
    pub(crate) fn leaving(&self) -> usize {
        self.leaves.load(Ordering::SeqCst)
    }

    /// Returns the timeout of a request, or of a message in a stream.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub fn status_text(&self, status: &Status) -> String {
        let text = self.plain(status.message());
        let code = format!("{:?}", status.code());
        if text.is_empty() { code } else { format!("{code}: {text}") }
    }

    /// Returns the standard error of a failed action, from the result or a blob in this store.
    pub async fn stderr(&self, result: &api::ActionResult) -> String {
        const LONGEST_ERROR: u64 = 64 << 10;
        let digest = result.stderr_digest.as_ref().and_then(Digest::read);
        match digest.filter(|digest| result.stderr_raw.is_empty() && digest.size <= LONGEST_ERROR) {
            // Without it, the exit status remains.
            Some(digest) => {
                let bytes = self.fetch_small(digest).await.unwrap_or_default();
                self.plain(&String::from_utf8_lossy(&bytes))
            }
            None => self.plain(&String::from_utf8_lossy(&result.stderr_raw)),
        }
    }

    /// Formats a server's text in one short line, without secrets.
    pub fn plain(&self, text: &str) -> String {
        // Invisible signs between the letters of a secret must not hide it.
        let text: String = text.chars().filter(|c| c.is_whitespace() || !is_active(*c)).collect();
        let text = self.auth.without_secrets(&text);
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.chars().take(200).collect()
    }

    /// Retries temporary failures. `make` makes the next request, and returns
    /// true if it progressed further.
    pub(crate) async fn try_often<T, F>(
        &self,
        call: &Call,
        mut make: impl FnMut() -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = (bool, Result<T, Status>)>,
    {
        let (mut tries, mut refreshed, mut stop) = (0, false, self.stop.clone());
        let mut retry = 0;
        loop {
            if self.breaker.off().is_some() || *stop.borrow() {
                return Err(Failure::Over);
            }
            let began = Instant::now();
            let (further, answer) = tokio::select! {
                answer = make() => answer,
                _ = stop.wait_for(|over| *over) => return Err(Failure::Over),
            };
            self.observer.requested(call, retry, began, answer.as_ref().err());
            retry += 1;
            let status = match answer {
                Ok(answer) => {
                    self.breaker.succeeded();
                    return Ok(answer);
                }
                Err(status) => status,
            };
            if further {
                self.breaker.succeeded();
                tries = 0;
            }
            match status.code() {
                Code::NotFound | Code::OutOfRange => {
                    self.breaker.succeeded();
                    return Err(Failure::Missing);
                }
                Code::Unauthenticated if !refreshed && self.refresh().await => refreshed = true,
                Code::Unauthenticated | Code::PermissionDenied => {
                    self.breaker.turn_off(self.status_text(&status));
                    return Err(Failure::Over);
                }
                Code::Unavailable
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
                | Code::Aborted
                | Code::Internal
                | Code::Unknown
                | Code::Cancelled => {
                    self.breaker.failed(began, &self.status_text(&status));
                    if tries >= self.retries {
                        return Err(Failure::Refused(self.status_text(&status)));
                    }
                    tries += 1;
                    self.pause(tries).await;
                }
                _ => {
                    self.breaker.failed(began, &self.status_text(&status));
                    return Err(Failure::Refused(self.status_text(&status)));
                }
            }
        }
    }

    /// Calls `method` with a message of `size` bytes.
    pub async fn call<T, F>(
        &self,
        (method, size): (&'static str, usize),
        mut make: impl FnMut() -> F,
    ) -> Result<T, Failure>
    where
        T: prost::Message,
        F: Future<Output = Result<tonic::Response<T>, Status>>,
    {
        let call = Call::new(method);
        let once = || {
            let answer = tokio::time::timeout(self.timeout, make());
            call.sent.store(size as u64, Ordering::Relaxed);
            async {
                let answer = answer.await.unwrap_or_else(|_| Err(too_slow()));
                let answer = answer.map(tonic::Response::into_inner);
                let received = answer.as_ref().map_or(0, prost::Message::encoded_len);
                call.received.store(received as u64, Ordering::Relaxed);
                (false, answer)
            }
        };
        self.try_often(&call, once).await
    }

    /// Runs the helper again: its answer may be outdated.
    async fn refresh(&self) -> bool {
        let auth = Arc::clone(&self.auth);
        let refreshed = tokio::task::spawn_blocking(move || auth.refresh()).await;
        matches!(refreshed, Ok(Ok(true)))
    }

    async fn pause(&self, retry: u32) {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = tokio::time::sleep(PAUSES.pause(retry)) => {}
            _ = stop.wait_for(|over| *over) => {}
        }
    }

    pub async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Failure> {
        let blob_digests: Vec<_> = digests.iter().map(|digest| digest.message()).collect();
        let message = api::FindMissingBlobsRequest {
            instance_name: self.instance.clone(),
            blob_digests,
            ..api::FindMissingBlobsRequest::default()
        };
        let attempt = || {
            let (request, mut storage) = (self.request(message.clone()), self.storage());
            async move { storage.find_missing_blobs(request).await }
        };
        let answer = self.call(("FindMissingBlobs", message.encoded_len()), attempt).await?;
        Ok(answer.missing_blob_digests.iter().filter_map(Digest::read).collect())
    }

    pub async fn entry(&self, action: Digest) -> Result<api::ActionResult, Failure> {
        let message = api::GetActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.message()),
            inline_stdout: true,
            ..api::GetActionResultRequest::default()
        };
        let attempt = || {
            let (request, mut cache) = (self.request(message.clone()), self.action_cache());
            async move { cache.get_action_result(request).await }
        };
        self.call(("GetActionResult", message.encoded_len()), attempt).await
    }

    pub async fn set_entry(
        &self,
        action: Digest,
        result: api::ActionResult,
    ) -> Result<(), Failure> {
        let message = api::UpdateActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.message()),
            action_result: Some(result),
            ..api::UpdateActionResultRequest::default()
        };
        let attempt = || {
            let (request, mut cache) = (self.request(message.clone()), self.action_cache());
            async move { cache.update_action_result(request).await }
        };
        self.call(("UpdateActionResult", message.encoded_len()), attempt).await.map(drop)
    }
}

pub(super) fn too_slow() -> Status {
    Status::deadline_exceeded("it did not answer in time")
}

#[expect(clippy::disallowed_methods, reason = "the only client of this protocol")]
fn endpoint(address: &Address, settings: &Tls) -> Result<Endpoint, tonic::transport::Error> {
    let mut endpoint = Endpoint::from_shared(address.uri())?
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .initial_stream_window_size(8 << 20)
        .initial_connection_window_size(32 << 20)
        // Metadata of an answer.
        .http2_max_header_list_size(LARGEST_HEADERS);
    if address.uri().starts_with("https:") {
        let mut tls = match &settings.roots {
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some((certificate, key)) = &settings.identity {
            tls = tls.identity(Identity::from_pem(certificate, key.reveal()));
        }
        endpoint = endpoint.tls_config(tls)?;
    }
    Ok(endpoint)
}

fn no_connection(error: &dyn std::error::Error) -> String {
    let cause = root_cause(error);
    let is_clear = cause.contains("InvalidContentType");
    if is_clear {
        "the server does not speak TLS; without it, write grpc://".to_owned()
    } else {
        cause
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
