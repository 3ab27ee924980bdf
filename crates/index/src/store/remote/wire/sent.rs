//! Request bodies, whose pieces show progress.

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

/// Time since a request last moved.
#[derive(Debug)]
pub(super) struct Clock {
    stall: Duration,
    start: Instant,
    /// Milliseconds since `start`.
    moved: AtomicU64,
}

impl Clock {
    pub(super) fn new(stall: Duration) -> Self {
        Self { stall, start: Instant::now(), moved: AtomicU64::new(0) }
    }

    fn moved(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(now, Ordering::Relaxed);
    }

    pub(super) async fn silence(&self) {
        loop {
            let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
            let end = self.start + moved + self.stall;
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }
}

pub(super) struct Sent {
    body: HttpRequestBody,
    rest: Bytes,
    remaining: u64,
    clock: Arc<Clock>,
    operation: Option<Arc<Operation>>,
}

impl Sent {
    pub(super) fn new(
        body: HttpRequestBody,
        clock: Arc<Clock>,
        operation: Option<Arc<Operation>>,
    ) -> Self {
        let remaining = body.content_length() as u64;
        Self { body, rest: Bytes::new(), remaining, clock, operation }
    }
}

impl Body for Sent {
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
        this.clock.moved();
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
