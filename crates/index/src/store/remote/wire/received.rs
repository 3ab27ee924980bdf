//! Response bodies with limits of size and pace.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use object_store::client::{HttpError, HttpErrorKind};
use tokio::time::{Instant, Sleep};

use super::client;
use super::fault::{Fault, fault};
use super::limits::{LEAST, MOST_OF_SMALL};
use super::operation::Operation;

/// Codes and messages of stores are short.
const MOST_OF_ERROR: u64 = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its reader limits the size.
    Object,
    /// Listing, credentials or receipt of a write.
    Small,
    /// Error, cut at its limit.
    Error,
    /// Error of a web server, whose text nothing needs.
    Nothing,
}

pub(super) struct Received {
    body: reqwest::Body,
    kind: Kind,
    bytes: u64,
    pace: Pace,
    operation: Option<Arc<Operation>>,
}

/// Rate of a body while its reader waits for it.
struct Pace {
    window: Duration,
    waited: Duration,
    bytes: u64,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// Fails in a window with too few bytes.
    fn waits(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let end = since + self.window.saturating_sub(self.waited);
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        if timer.deadline() != end {
            timer.as_mut().reset(end);
        }
        while timer.as_mut().poll(context).is_ready() {
            self.waited += since.elapsed();
            self.since = Some(Instant::now());
            Self::check(&mut self.waited, &mut self.bytes)?;
            timer.as_mut().reset(Instant::now() + self.window);
        }
        Ok(())
    }

    fn came(&mut self, bytes: u64) -> Result<(), Fault> {
        self.bytes += bytes;
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
            if self.waited >= self.window {
                Self::check(&mut self.waited, &mut self.bytes)?;
            }
        }
        Ok(())
    }

    fn check(waited: &mut Duration, bytes: &mut u64) -> Result<(), Fault> {
        let least = u128::from(LEAST) * waited.as_millis() / 1000;
        let is_slow = u128::from(*bytes) < least;
        (*waited, *bytes) = (Duration::ZERO, 0);
        if is_slow { Err(Fault::Pace) } else { Ok(()) }
    }
}

impl Received {
    pub(super) fn new(
        body: reqwest::Body,
        kind: Kind,
        window: Duration,
        operation: Option<Arc<Operation>>,
    ) -> Self {
        let pace = Pace { window, waited: Duration::ZERO, bytes: 0, since: None, timer: None };
        Self { body, kind, bytes: 0, pace, operation }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let slow = |fault| HttpError::new(HttpErrorKind::Timeout, fault);
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending => {
                let waits = self.pace.waits(context).map_err(slow);
                return waits
                    .map_or_else(|error| Poll::Ready(Some(Err(error))), |()| Poll::Pending);
            }
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(frame)) => frame.map_err(client::error),
        };
        let frame = frame.and_then(|frame| {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.bytes += bytes;
            self.pace.came(bytes).map_err(slow)?;
            match (self.kind, &self.operation) {
                (Kind::Small, _) if self.bytes > MOST_OF_SMALL => Err(Fault::Large.into()),
                (Kind::Object, Some(operation)) => {
                    operation.moved(bytes);
                    Ok(frame)
                }
                _ => Ok(frame),
            }
        });
        Poll::Ready(Some(frame))
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = HttpError;

    // Without a size hint: readers reserve it, and servers can name any.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if self.kind == Kind::Nothing || self.kind == Kind::Error && self.bytes > MOST_OF_ERROR {
            return Poll::Ready(None);
        }
        let next = self.next(context);
        if let (Some(operation), Poll::Ready(end)) = (&self.operation, &next) {
            match end {
                None if self.kind != Kind::Error => operation.failed(None),
                Some(Err(error)) => operation.failed(Some(fault(error))),
                None | Some(Ok(_)) => {}
            }
        }
        next
    }
}
