//! Transfer of blobs, in single messages or streams.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream::{QueryWriteStatusRequest, ReadRequest, WriteRequest};
use fs_err::File;
use futures_util::{StreamExt, stream};
use prost::Message as _;
use tonic::{Code, Status};

use super::action::Digest;
use super::client::{Client, Failure, too_slow};
use super::observed::Call;
use cache::Room;

/// Bytes in a message of a stream: gRPC servers accept 4 MiB by default.
const PIECE: u64 = 1 << 20;
/// Number of blobs that are sent in parallel.
const AT_ONCE: usize = 8;
/// Maximum of blobs in a batch, which has a maximum size too.
const TOGETHER: usize = 500;
/// Timeout of a message in a stream: the fetching thread could do other work.
const STALL: Duration = Duration::from_secs(10);

/// Least bytes each second: a slower stream counts as a stall.
const SLOWEST: u64 = 1 << 10;
/// Progress after which the number of retries starts anew.
const PROGRESS: u64 = 64 << 10;

#[derive(Debug, Clone)]
pub(super) enum Blob {
    Memory(Vec<u8>),
    File {
        file: Arc<File>,
        offset: u64,
        len: u64,
    },
    /// A byte, and a blob.
    Framed(u8, Box<Self>),
}

impl Blob {
    fn piece(&self, position: u64, most: u64) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(position).unwrap_or(usize::MAX).min(bytes.len());
                let end = usize::try_from(position + most).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes[start..end].to_vec())
            }
            Self::File { file, offset, len } => {
                let mut piece = vec![0; usize::try_from(most.min(len - position)).unwrap_or(0)];
                file.file().read_exact_at(&mut piece, offset + position)?;
                Ok(piece)
            }
            Self::Framed(_, blob) if position > 0 => blob.piece(position - 1, most),
            Self::Framed(frame, blob) => {
                Ok([&[*frame][..], &blob.piece(0, most.saturating_sub(1))?].concat())
            }
        }
    }
}

pub(super) struct BlobReader<'b> {
    blob: &'b Blob,
    position: u64,
    size: u64,
}

impl Blob {
    pub fn reader(&self, size: u64) -> BlobReader<'_> {
        BlobReader { blob: self, position: 0, size }
    }
}

impl std::io::Read for BlobReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let piece =
            self.blob.piece(self.position, (out.len() as u64).min(self.size - self.position))?;
        out[..piece.len()].copy_from_slice(&piece);
        self.position += piece.len() as u64;
        Ok(piece.len())
    }
}

pub(super) trait Sink {
    fn write_piece(&self, offset: u64, bytes: &[u8]) -> std::io::Result<()>;
}

impl Sink for Room<'_> {
    fn write_piece(&self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.write_at(offset, bytes)
    }
}

impl Sink for File {
    fn write_piece(&self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.file().write_all_at(bytes, offset)
    }
}

impl Client {
    /// Fetches a blob into `room`, which has its size.
    pub async fn fetch(
        &self,
        digest: Digest,
        room: &impl Sink,
        progress: impl Fn(u64),
    ) -> Result<(), Failure> {
        if digest.size <= self.limits.batch {
            let bytes = self.fetch_small(digest).await?;
            if bytes.len() as u64 != digest.size {
                return Err(Failure::Damaged);
            }
            progress(digest.size);
            return room.write_piece(0, &bytes).map_err(local);
        }
        let (position, call) = (AtomicU64::new(0), Call::new("Read"));
        let progress = |bytes| {
            call.received.fetch_add(bytes, Ordering::Relaxed);
            progress(bytes);
        };
        self.try_often(&call, || async {
            let before = position.load(Ordering::Relaxed);
            let answer = self.stream_into(digest, room, &position, &progress).await;
            (position.load(Ordering::Relaxed) >= before + PROGRESS, answer)
        })
        .await?
    }

    pub(crate) async fn fetch_small(&self, digest: Digest) -> Result<Vec<u8>, Failure> {
        let message = api::BatchReadBlobsRequest {
            instance_name: self.instance.clone(),
            digests: vec![digest.message()],
            ..api::BatchReadBlobsRequest::default()
        };
        let attempt = || {
            let (request, mut storage) = (self.request(message.clone()), self.storage());
            async move {
                let response = storage.batch_read_blobs(request).await?.into_inner();
                let [answer] = <[_; 1]>::try_from(response.responses)
                    .map_err(|_| Status::data_loss("the number of blobs differs"))?;
                let code = answer.status.as_ref().map_or(0, |status| status.code);
                match Code::from_i32(code) {
                    Code::Ok => Ok(tonic::Response::new(answer.data)),
                    code => Err(Status::new(code, answer.status.unwrap_or_default().message)),
                }
            }
        };
        self.call(("BatchReadBlobs", message.encoded_len()), attempt).await
    }

    async fn stream_into(
        &self,
        digest: Digest,
        room: &impl Sink,
        position: &AtomicU64,
        progress: &impl Fn(u64),
    ) -> Result<Result<(), Failure>, Status> {
        let mut offset = position.load(Ordering::Relaxed);
        let request = ReadRequest {
            resource_name: self.resource(&format!("blobs/{}/{}", digest.sha256, digest.size)),
            read_offset: i64::try_from(offset).unwrap_or(i64::MAX),
            read_limit: 0,
        };
        let mut bytes = self.byte_stream();
        let stall = STALL.min(self.timeout());
        let slow = |_| too_slow();
        let answer = tokio::time::timeout(stall, bytes.read(self.request(request)));
        let mut answer = answer.await.map_err(slow)??.into_inner();
        let mut pace = Pace { since: Instant::now(), from: offset, window: stall };
        while let Some(message) =
            tokio::time::timeout(stall, answer.message()).await.map_err(slow)??
        {
            let len = message.data.len() as u64;
            if offset + len > digest.size {
                return Ok(Err(Failure::Damaged));
            }
            if let Err(error) = room.write_piece(offset, &message.data) {
                return Ok(Err(local(error)));
            }
            offset += len;
            position.store(offset, Ordering::Relaxed);
            progress(len);
            tokio::task::yield_now().await;
            if pace.is_slow(offset) {
                return Err(Status::deadline_exceeded("a blob arrives at less than 1 KiB/s"));
            }
        }
        if offset < digest.size {
            return Err(Status::unavailable("a blob ends early"));
        }
        Ok(Ok(()))
    }

    pub(crate) async fn send_small(&self, blobs: &[(Digest, Blob)]) -> Result<(), Failure> {
        let each = |(digest, blob): &(Digest, Blob)| {
            Ok(api::batch_update_blobs_request::Request {
                digest: Some(digest.message()),
                data: blob.piece(0, digest.size)?,
                ..api::batch_update_blobs_request::Request::default()
            })
        };
        let requests = blobs.iter().map(each).collect::<std::io::Result<_>>().map_err(local)?;
        let message = api::BatchUpdateBlobsRequest {
            instance_name: self.instance.clone(),
            requests,
            ..api::BatchUpdateBlobsRequest::default()
        };
        let attempt = || {
            let (request, mut storage) = (self.request(message.clone()), self.storage());
            async move {
                let answer = storage.batch_update_blobs(request).await?;
                let statuses = answer
                    .get_ref()
                    .responses
                    .iter()
                    .filter_map(|response| response.status.as_ref());
                match statuses.into_iter().find(|status| status.code != 0) {
                    Some(bad) => Err(Status::new(Code::from_i32(bad.code), bad.message.clone())),
                    None => Ok(answer),
                }
            }
        };
        self.call(("BatchUpdateBlobs", message.encoded_len()), attempt).await.map(drop)
    }

    /// Sends a blob. After an interruption, it continues at the server's position.
    pub async fn send(&self, digest: Digest, blob: &Blob) -> Result<(), Failure> {
        let upload = uuid();
        let name =
            self.resource(&format!("uploads/{upload}/blobs/{}/{}", digest.sha256, digest.size));
        let (begun, committed) = (AtomicU64::new(0), AtomicU64::new(0));
        let call = Call::new("Write");
        self.try_often(&call, || async {
            let mut position = 0;
            if begun.swap(1, Ordering::Relaxed) == 1 {
                position = self.committed(&name).await;
            }
            // A server that forgets bytes gets no more tries for them.
            let before = committed.fetch_max(position, Ordering::Relaxed);
            let further = position >= before + PROGRESS;
            if position >= digest.size {
                return (further, Ok(()));
            }
            (further, self.stream_from((&name, &call), digest, blob, position).await)
        })
        .await
    }

    async fn committed(&self, name: &str) -> u64 {
        let resource_name = name.to_owned();
        let request = self.request(QueryWriteStatusRequest { resource_name });
        let mut bytes = self.byte_stream();
        let answer = tokio::time::timeout(STALL, bytes.query_write_status(request)).await;
        match answer {
            Ok(Ok(answer)) => u64::try_from(answer.into_inner().committed_size).unwrap_or(0),
            _ => 0,
        }
    }

    async fn stream_from(
        &self,
        (name, call): (&str, &Call),
        digest: Digest,
        blob: &Blob,
        position: u64,
    ) -> Result<(), Status> {
        let (name, blob, size) = (name.to_owned(), blob.clone(), digest.size);
        let sent = Arc::clone(&call.sent);
        // A failed read ends the stream early, which the server rejects.
        let messages = stream::unfold(Some(position), move |position| {
            let next = position.and_then(|position| {
                let data = blob.piece(position, PIECE).ok()?;
                let end = position + data.len() as u64;
                sent.fetch_add(data.len() as u64, Ordering::Relaxed);
                let finish_write = end == size;
                let message = WriteRequest {
                    resource_name: name.clone(),
                    write_offset: i64::try_from(position).unwrap_or(i64::MAX),
                    finish_write,
                    data,
                };
                Some((message, (!finish_write).then_some(end)))
            });
            std::future::ready(next)
        });
        let mut bytes = self.byte_stream();
        let answer = tokio::time::timeout(
            self.timeout() + Duration::from_secs(size >> 20),
            bytes.write(self.request(messages)),
        );
        let answer = answer.await.map_err(|_| too_slow())??.into_inner();
        let committed = u64::try_from(answer.committed_size).unwrap_or(0);
        if committed == size {
            Ok(())
        } else {
            Err(Status::unavailable(format!("{committed} of {size} bytes were accepted")))
        }
    }

    pub(crate) async fn send_all(&self, blobs: BTreeMap<Digest, Blob>) -> Result<(), Failure> {
        // Allows for about a hundred bytes of digest per blob.
        let most = self.limits.batch;
        let (small, large): (Vec<_>, Vec<_>) =
            blobs.into_iter().partition(|(digest, _)| digest.size + 200 <= most);
        let (mut batches, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0);
        for blob in small {
            let size = blob.0.size + 200;
            if bytes + size > most || batch.len() == TOGETHER {
                batches.push(std::mem::take(&mut batch));
                bytes = 0;
            }
            bytes += size;
            batch.push(blob);
        }
        batches.push(batch);
        batches.retain(|batch| !batch.is_empty());
        let batches = stream::iter(&batches).map(|batch| self.send_small(batch));
        let mut batches = batches.buffer_unordered(AT_ONCE);
        while let Some(result) = batches.next().await {
            result?;
        }
        let large = stream::iter(&large).map(|(digest, blob)| self.send(*digest, blob));
        let mut large = large.buffer_unordered(AT_ONCE);
        while let Some(result) = large.next().await {
            result?;
        }
        Ok(())
    }

    fn resource(&self, rest: &str) -> String {
        if self.instance.is_empty() { rest.to_owned() } else { format!("{}/{rest}", self.instance) }
    }
}

/// Rate of a stream, for each window of time.
struct Pace {
    since: Instant,
    from: u64,
    window: Duration,
}

impl Pace {
    fn is_slow(&mut self, position: u64) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed < self.window {
            return false;
        }
        let least = u128::from(SLOWEST) * elapsed.as_millis() / 1000;
        let is_slow = u128::from(position - self.from) < least;
        (self.since, self.from) = (Instant::now(), position);
        is_slow
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn local(error: std::io::Error) -> Failure {
    Failure::Refused(format!("on this machine: {error}"))
}

fn uuid() -> String {
    let random = || RandomState::new().hash_one(0);
    let (high, low) = (random(), random());
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
