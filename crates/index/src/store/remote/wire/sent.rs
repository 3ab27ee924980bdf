//! Request body that is sent in pieces, so that an upload reports progress.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store::client::{HttpError, HttpRequestBody};

use super::operation::Operation;

/// Small against the buffers of a connection, large against the cost of a piece.
const PIECE: usize = 256 << 10;

/// Clock of a request without progress.
#[derive(Debug)]
pub(super) struct Clock {
    stall: Duration,
    start: Instant,
    /// Milliseconds from `start` to the last piece.
    progress: AtomicU64,
}

impl Clock {
    pub(super) fn new(stall: Duration) -> Self {
        Self { stall, start: Instant::now(), progress: AtomicU64::new(0) }
    }

    fn record_progress(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progress.store(now, Ordering::Relaxed);
    }

    /// Returns when no piece was sent for `stall`.
    pub(super) async fn stalled(&self) {
        loop {
            let progress = Duration::from_millis(self.progress.load(Ordering::Relaxed));
            let end = self.start + progress + self.stall;
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }
}

/// Body in pieces of [`PIECE`] bytes.
pub(super) struct PiecewiseBody {
    body: HttpRequestBody,
    rest: Bytes,
    remaining: u64,
    clock: Arc<Clock>,
    operation: Option<Arc<Operation>>,
}

impl PiecewiseBody {
    pub(super) fn new(
        body: HttpRequestBody,
        clock: Arc<Clock>,
        operation: Option<Arc<Operation>>,
    ) -> Self {
        let remaining = body.content_length() as u64;
        Self { body, rest: Bytes::new(), remaining, clock, operation }
    }
}

impl Body for PiecewiseBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = &mut *self;
        while this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => this.rest = frame.into_data().unwrap_or_default(),
                end => return end,
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE));
        this.remaining -= piece.len() as u64;
        this.clock.record_progress();
        if let Some(operation) = &this.operation {
            operation.moved(piece.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
