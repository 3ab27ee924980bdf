//! In-memory server of the Remote Execution API, with faults on request.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::hash::Sha256;
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream as bytes;
use bazel_remote_apis::google::rpc;
use futures_util::{Stream, StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status, Streaming};

mod execution;

pub use execution::FarmFault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The first request is never answered.
    NoAnswer,
    /// Requests for entries are never answered.
    Stalls,
    /// The first connections break in the middle.
    Breaks,
    /// One bit of each blob is flipped.
    Flipped,
    /// Entries name missing blobs.
    Lost,
    /// Streams end after a megabyte.
    ShortReads,
    /// Each entry names the complete stream of another content.
    Poisoned,
    /// Entries are invalid.
    Nonsense,
    /// After some requests the token is no longer accepted.
    Forgets,
    /// The server is always overloaded.
    Busy,
    /// The server is overloaded at first.
    BusyFirst,
    /// Entries cannot be written.
    Refuses,
    /// Only half of a stream is accepted.
    ShortWrites,
    /// The server has no space for blobs.
    Full,
    /// Streams have a byte at a time, then nothing, for ever.
    Drips,
    /// Streams never end.
    Endless,
    /// Blobs are compressed, though nobody asked for it, and unpack to far more.
    Compressed,
    /// Only half of each blob is returned.
    Halves,
    /// Limits are nonsense.
    Absurd,
    /// Each connection is closed with a text for terminals.
    GoesAway,
    /// No blob is missing, or so it says.
    HasAll,
    /// All blobs are missing, or so it says.
    HasNone,
}

impl Fault {
    /// Faults of reading.
    pub const ALL: [Self; 11] = [
        Self::NoAnswer,
        Self::Stalls,
        Self::Breaks,
        Self::Flipped,
        Self::Lost,
        Self::ShortReads,
        Self::Poisoned,
        Self::Nonsense,
        Self::Forgets,
        Self::Busy,
        Self::BusyFirst,
    ];

    /// Faults that small files show.
    pub const SMALL: [Self; 6] =
        [Self::Drips, Self::Endless, Self::Compressed, Self::Halves, Self::Absurd, Self::GoesAway];

    /// Returns whether a warning is printed.
    pub fn is_reported(self) -> bool {
        let ends = matches!(self, Self::NoAnswer | Self::Stalls | Self::Forgets | Self::Busy);
        let damages =
            matches!(self, Self::Flipped | Self::Endless | Self::Compressed | Self::Halves);
        ends || damages || self == Self::GoesAway
    }

    pub fn leaves_nothing(self) -> bool {
        !self.is_retried() && self != Self::Forgets
    }

    /// Returns whether retrying helps.
    pub fn is_retried(self) -> bool {
        matches!(self, Self::Breaks | Self::ShortReads | Self::BusyFirst | Self::Absurd)
    }
}

#[derive(Default)]
struct State {
    blobs: BTreeMap<String, Vec<u8>>,
    entries: BTreeMap<String, api::ActionResult>,
    fault: Option<Fault>,
    requests: usize,
    farm_fault: Option<FarmFault>,
    seen: BTreeSet<String>,
    asked: usize,
    executed: Vec<String>,
    first: Option<Vec<u8>>,
    cancelled: usize,
}

pub struct Server {
    shared: Shared,
    port: u16,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    token: &'static str,
    /// Number of connections since the last change.
    connections: Arc<AtomicUsize>,
    /// Machines that execute.
    machines: Arc<tokio::sync::Semaphore>,
}

impl Server {
    /// Starts a server that accepts only requests with the token.
    pub fn start(token: &'static str) -> Self {
        use api::action_cache_server::ActionCacheServer;
        use api::capabilities_server::CapabilitiesServer;
        use api::content_addressable_storage_server::ContentAddressableStorageServer;
        use api::execution_server::ExecutionServer;
        use bazel_remote_apis::google::longrunning::operations_server::OperationsServer;
        use bytes::byte_stream_server::ByteStreamServer;

        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let machines = Arc::new(tokio::sync::Semaphore::new(2));
        let shared = Shared { state: Arc::default(), token, connections: Arc::default(), machines };
        let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (front, back) = (listen(), listen());
        let port = front.local_addr().unwrap().port();
        runtime.spawn(proxy(front, back.local_addr().unwrap().port(), shared.clone()));
        let large = 64 << 20;
        let router = tonic::transport::Server::builder()
            .add_service(CapabilitiesServer::new(shared.clone()))
            .add_service(ActionCacheServer::new(shared.clone()))
            .add_service(ExecutionServer::new(shared.clone()))
            .add_service(OperationsServer::new(shared.clone()))
            .add_service(
                ContentAddressableStorageServer::new(shared.clone())
                    .max_decoding_message_size(large),
            )
            .add_service(ByteStreamServer::new(shared.clone()).max_decoding_message_size(large));
        runtime.spawn(router.serve_with_incoming(TcpIncoming::from(back)));
        Self { shared, port, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("grpc://127.0.0.1:{}", self.port)
    }

    pub fn entries(&self) -> usize {
        self.shared.state.lock().unwrap().entries.len()
    }

    pub fn request_count(&self) -> usize {
        self.shared.state.lock().unwrap().asked
    }

    pub fn keep(&self, bytes: Vec<u8>) -> api::Digest {
        self.shared.keep(bytes)
    }

    pub fn has(&self, sha256: &str) -> bool {
        self.shared.state.lock().unwrap().blobs.contains_key(sha256)
    }

    /// Flips a bit of each stream in the store.
    pub fn damage(&self) {
        let mut state = self.shared.state.lock().unwrap();
        let digests = state.entries.values().map(|it| it.output_files[0].digest.clone().unwrap());
        for digest in digests.collect::<Vec<_>>() {
            let blob = state.blobs.get_mut(&digest.hash).unwrap();
            let middle = blob.len() / 2;
            blob[middle] ^= 1;
        }
    }

    /// Removes a blob and rejects it in the future.
    pub fn lose(&self, sha256: &str) {
        self.shared.state.lock().unwrap().blobs.remove(sha256);
    }

    /// Returns the numbers of executed and of cancelled actions.
    pub fn executed(&self) -> (usize, usize) {
        let state = self.shared.state.lock().unwrap();
        (state.executed.len(), state.cancelled)
    }

    /// Returns true if an action was executed twice.
    pub fn repeated(&self) -> bool {
        let state = self.shared.state.lock().unwrap();
        let mut actions = BTreeSet::new();
        !state.executed.iter().all(|action| actions.insert(action))
    }

    pub fn misbehave_as_farm(&self, fault: Option<FarmFault>) {
        *self.shared.state.lock().unwrap() = State { farm_fault: fault, ..State::default() };
    }

    pub fn misbehave(&self, fault: Option<Fault>) {
        let mut state = self.shared.state.lock().unwrap();
        (state.fault, state.requests) = (fault, 0);
        self.shared.connections.store(0, Ordering::Relaxed);
    }
}

/// HTTP/2 (RFC 9113): empty settings, then the end of the connection for calls that are too many.
fn go_away() -> Vec<u8> {
    const SAID: &[u8] = b"\x1b[31mtell-nobody\x07";
    let length = u8::try_from(8 + SAID.len()).unwrap();
    let frames =
        [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, length, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11];
    [&frames, SAID].concat()
}

/// Forwards connections, and breaks the first two for that fault.
async fn proxy(front: TcpListener, back: u16, shared: Shared) {
    while let Ok((mut client, _)) = front.accept().await {
        if shared.state.lock().unwrap().fault == Some(Fault::GoesAway) {
            tokio::spawn(async move {
                let _ = client.write_all(&go_away()).await;
                for_ever::<()>().await;
            });
            continue;
        }
        let breaks = shared.state.lock().unwrap().fault == Some(Fault::Breaks)
            && shared.connections.fetch_add(1, Ordering::Relaxed) < 2;
        let most = if breaks { 100_000 } else { usize::MAX };
        tokio::spawn(async move {
            let mut server = TcpStream::connect(("127.0.0.1", back)).await.unwrap();
            let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
                (client.split(), server.split());
            tokio::select! {
                () = pump(&mut from_client, &mut to_server, most) => {}
                () = pump(&mut from_server, &mut to_client, most) => {}
            }
        });
    }
}

async fn pump(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    most: usize,
) {
    let (mut buffer, mut passed) = (vec![0; 16 << 10], 0);
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        passed += count;
        if passed > most || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

impl Shared {
    /// Checks each request: the token, and faults of the connection.
    fn enter<T>(&self, request: &Request<T>) -> Result<Option<Fault>, Status> {
        let token = request.metadata().get("authorization").and_then(|it| it.to_str().ok());
        let mut state = self.state.lock().unwrap();
        state.requests += 1;
        if token != Some(self.token) {
            return Err(Status::unauthenticated("who are you?"));
        }
        match state.fault {
            Some(Fault::Forgets) if state.requests > 4 => {
                let hidden = self.token.replace("ll-", "l\u{1}l\u{200b}-");
                let message = format!("\u{1b}[31m`{}`\r\n{hidden}\u{202e} expired", self.token);
                Err(Status::unauthenticated(message))
            }
            Some(Fault::Busy) if state.requests > 1 => Err(Status::resource_exhausted("busy")),
            Some(Fault::BusyFirst) if (2..5).contains(&state.requests) => {
                Err(Status::resource_exhausted("busy"))
            }
            fault => Ok(fault),
        }
    }

    fn blob(&self, hash: &str, fault: Option<Fault>) -> Result<Vec<u8>, Status> {
        let state = self.state.lock().unwrap();
        let blob = state.blobs.get(hash).filter(|_| fault != Some(Fault::Lost));
        let mut blob = blob.ok_or_else(|| Status::not_found("no such blob"))?.clone();
        if fault == Some(Fault::Flipped) {
            let middle = blob.len() / 2;
            blob[middle] ^= 1;
        }
        match fault {
            Some(Fault::Compressed) => blob = zstd::bulk::compress(&vec![0; 8 << 20], 1).unwrap(),
            Some(Fault::Halves) => blob.truncate(blob.len() / 2),
            _ => {}
        }
        Ok(blob)
    }
}

async fn for_ever<T>() -> T {
    loop {
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
}

#[tonic::async_trait]
impl api::capabilities_server::Capabilities for Shared {
    async fn get_capabilities(
        &self,
        request: Request<api::GetCapabilitiesRequest>,
    ) -> Result<Response<api::ServerCapabilities>, Status> {
        let fault = self.enter(&request)?;
        if fault == Some(Fault::NoAnswer) {
            return for_ever().await;
        }
        let (batch, largest) = match fault {
            // Each blob is streamed.
            Some(Fault::Drips | Fault::Endless) => (1, 0),
            Some(Fault::Absurd) => (i64::MIN, i64::MAX),
            _ => (1 << 20, 0),
        };
        let further = if fault == Some(Fault::Absurd) { 100_000 } else { 0 };
        let functions = (-further..=0).map(|n| n + api::digest_function::Value::Sha256 as i32);
        let cache = api::CacheCapabilities {
            digest_functions: functions.collect(),
            max_cas_blob_size_bytes: largest,
            action_cache_update_capabilities: Some(api::ActionCacheUpdateCapabilities {
                update_enabled: true,
            }),
            max_batch_total_size_bytes: batch,
            ..Default::default()
        };
        Ok(Response::new(api::ServerCapabilities {
            cache_capabilities: Some(cache),
            execution_capabilities: Some(api::ExecutionCapabilities {
                exec_enabled: true,
                ..Default::default()
            }),
            ..Default::default()
        }))
    }
}

#[tonic::async_trait]
impl api::action_cache_server::ActionCache for Shared {
    async fn get_action_result(
        &self,
        request: Request<api::GetActionResultRequest>,
    ) -> Result<Response<api::ActionResult>, Status> {
        let fault = self.enter(&request)?;
        if fault == Some(Fault::Stalls) {
            return for_ever().await;
        }
        let hash = request.into_inner().action_digest.unwrap().hash;
        let state = self.state.lock().unwrap();
        let entry = state.entries.get(&hash).ok_or_else(|| Status::not_found("no entry"))?;
        let mut entry = entry.clone();
        if fault == Some(Fault::Poisoned) {
            let after = state.entries.range(hash..).nth(1);
            let (_, poison) = after.or_else(|| state.entries.iter().next()).unwrap();
            let stream = poison.output_files[0].digest.clone().unwrap();
            // The row claims to be for the requested content.
            let size = entry.stdout_raw.len() - 8;
            entry.stdout_raw.truncate(size);
            entry.stdout_raw.extend(stream.size_bytes.to_le_bytes());
            entry.output_files[0].digest = Some(stream);
        }
        if fault == Some(Fault::Nonsense) {
            "a.out".clone_into(&mut entry.output_files[0].path);
        }
        Ok(Response::new(entry))
    }

    async fn update_action_result(
        &self,
        request: Request<api::UpdateActionResultRequest>,
    ) -> Result<Response<api::ActionResult>, Status> {
        if self.enter(&request)? == Some(Fault::Refuses) {
            return Err(Status::permission_denied("not you"));
        }
        let request = request.into_inner();
        let (action, result) = (request.action_digest.unwrap(), request.action_result.unwrap());
        let mut state = self.state.lock().unwrap();
        // An action, its command and its outputs must exist before the entry.
        let stream = &result.output_files[0].digest.as_ref().unwrap().hash;
        if ![&action.hash, stream].into_iter().all(|hash| state.blobs.contains_key(hash)) {
            return Err(Status::failed_precondition("the entry names what is not there"));
        }
        state.entries.insert(action.hash, result.clone());
        Ok(Response::new(result))
    }
}

fn status(code: Code) -> rpc::Status {
    rpc::Status { code: code as i32, message: "so it is".to_owned(), details: Vec::new() }
}

#[tonic::async_trait]
impl api::content_addressable_storage_server::ContentAddressableStorage for Shared {
    async fn find_missing_blobs(
        &self,
        request: Request<api::FindMissingBlobsRequest>,
    ) -> Result<Response<api::FindMissingBlobsResponse>, Status> {
        let fault = self.enter(&request)?;
        let mut missing_blob_digests = request.into_inner().blob_digests;
        let state = self.state.lock().unwrap();
        let is_missing = |digest: &api::Digest| match fault {
            Some(Fault::HasAll) => false,
            Some(Fault::HasNone) => true,
            _ => !state.blobs.contains_key(&digest.hash),
        };
        missing_blob_digests.retain(is_missing);
        Ok(Response::new(api::FindMissingBlobsResponse { missing_blob_digests }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<api::BatchUpdateBlobsRequest>,
    ) -> Result<Response<api::BatchUpdateBlobsResponse>, Status> {
        let fault = self.enter(&request)?;
        let mut responses = Vec::new();
        for blob in request.into_inner().requests {
            let digest = blob.digest.unwrap();
            assert_eq!(digest.hash, Sha256::of(&blob.data).to_string());
            let code = if fault == Some(Fault::Full) { Code::ResourceExhausted } else { Code::Ok };
            if code == Code::Ok {
                self.state.lock().unwrap().blobs.insert(digest.hash.clone(), blob.data);
            }
            responses.push(api::batch_update_blobs_response::Response {
                digest: Some(digest),
                status: Some(status(code)),
            });
        }
        Ok(Response::new(api::BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<api::BatchReadBlobsRequest>,
    ) -> Result<Response<api::BatchReadBlobsResponse>, Status> {
        let fault = self.enter(&request)?;
        let each = |digest: api::Digest| {
            let blob = self.blob(&digest.hash, fault);
            let code = blob.as_ref().map_or_else(Status::code, |_| Code::Ok);
            api::batch_read_blobs_response::Response {
                digest: Some(digest),
                data: blob.unwrap_or_default(),
                status: Some(status(code)),
                compressor: i32::from(fault == Some(Fault::Compressed)),
            }
        };
        let responses = request.into_inner().digests.into_iter().map(each).collect();
        Ok(Response::new(api::BatchReadBlobsResponse { responses }))
    }

    type GetTreeStream = Answers<api::GetTreeResponse>;

    async fn get_tree(
        &self,
        _: Request<api::GetTreeRequest>,
    ) -> Result<Response<Self::GetTreeStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn split_blob(
        &self,
        _: Request<api::SplitBlobRequest>,
    ) -> Result<Response<api::SplitBlobResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    type GetChunkMappingStream = Answers<api::GetChunkMappingResponse>;

    async fn get_chunk_mapping(
        &self,
        _: Request<api::GetChunkMappingRequest>,
    ) -> Result<Response<Self::GetChunkMappingStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn splice_blob(
        &self,
        _: Request<api::SpliceBlobRequest>,
    ) -> Result<Response<api::SpliceBlobResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<api::RegisterChunkMappingRequest>>,
    ) -> Result<Response<api::RegisterChunkMappingResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// Streamed answers.
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Parses hash and size of `…blobs/HASH/SIZE`.
fn parse_name(name: &str) -> (String, usize) {
    let mut parts = name.rsplit('/');
    let size = parts.next().unwrap().parse().unwrap();
    (parts.next().unwrap().to_owned(), size)
}

#[tonic::async_trait]
impl bytes::byte_stream_server::ByteStream for Shared {
    type ReadStream = Answers<bytes::ReadResponse>;

    async fn read(
        &self,
        request: Request<bytes::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        let fault = self.enter(&request)?;
        let request = request.into_inner();
        if fault == Some(Fault::Endless) {
            let data = || Ok(bytes::ReadResponse { data: vec![7; 64 << 10] });
            return Ok(Response::new(Box::pin(stream::repeat_with(data))));
        }
        let blob = self.blob(&parse_name(&request.resource_name).0, fault)?;
        let from = usize::try_from(request.read_offset).unwrap();
        if fault == Some(Fault::Drips) {
            let rest = blob.into_iter().skip(from).map(|byte| vec![byte]);
            let data = rest.chain(std::iter::repeat_with(Vec::new));
            let slowly = stream::iter(data).then(|data| async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(bytes::ReadResponse { data })
            });
            return Ok(Response::new(Box::pin(slowly)));
        }
        let rest = &blob[from..];
        let most = if fault == Some(Fault::ShortReads) { 1_000_000 } else { rest.len() };
        let pieces = rest[..most.min(rest.len())].chunks(64 << 10);
        let pieces: Vec<_> =
            pieces.map(|data| Ok(bytes::ReadResponse { data: data.to_vec() })).collect();
        Ok(Response::new(Box::pin(stream::iter(pieces))))
    }

    async fn write(
        &self,
        request: Request<Streaming<bytes::WriteRequest>>,
    ) -> Result<Response<bytes::WriteResponse>, Status> {
        let fault = self.enter(&request)?;
        let (mut messages, mut data, mut name) = (request.into_inner(), Vec::new(), String::new());
        while let Some(message) = messages.message().await? {
            if !message.resource_name.is_empty() {
                name = message.resource_name;
            }
            assert_eq!(usize::try_from(message.write_offset).unwrap(), data.len());
            data.extend(message.data);
        }
        let (hash, size) = parse_name(&name);
        let taken = if fault == Some(Fault::ShortWrites) { size / 2 } else { size };
        if taken == size {
            assert_eq!(hash, Sha256::of(&data).to_string());
            self.state.lock().unwrap().blobs.insert(hash, data);
        }
        let committed_size = i64::try_from(taken).unwrap();
        Ok(Response::new(bytes::WriteResponse { committed_size }))
    }

    async fn query_write_status(
        &self,
        _: Request<bytes::QueryWriteStatusRequest>,
    ) -> Result<Response<bytes::QueryWriteStatusResponse>, Status> {
        Err(Status::not_found("each upload begins anew"))
    }
}
