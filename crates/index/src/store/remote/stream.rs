//! Blocking reader of an async body.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::runtime::Runtime;

/// Holds at most one chunk.
pub(super) struct Stream<F> {
    runtime: Arc<Runtime>,
    pieces: BoxStream<'static, object_store::Result<Bytes>>,
    piece: Bytes,
    pace: Pace,
    said: F,
}

/// Lowest rate, in bytes each second.
const LEAST: u64 = 1024;

/// Rate of a body while the reader waits for it.
#[derive(Debug)]
pub(super) struct Pace {
    window: Duration,
    /// Limit for one piece, because new connections take long.
    longest: Duration,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    pub(super) fn new(stall: Duration) -> Self {
        Self { window: stall * 2, longest: stall / 4, waited: Duration::ZERO, bytes: 0 }
    }

    fn is_too_slow(&mut self, waited: Duration, bytes: usize) -> bool {
        self.waited += waited.min(self.longest);
        self.bytes += bytes as u64;
        if self.waited < self.window {
            return false;
        }
        let least = u128::from(LEAST) * self.waited.as_millis() / 1000;
        let slow = u128::from(self.bytes) < least;
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        slow
    }
}

impl<F> Stream<F> {
    pub(super) fn new(
        runtime: Arc<Runtime>,
        pieces: BoxStream<'static, object_store::Result<Bytes>>,
        pace: Pace,
        said: F,
    ) -> Self {
        Self { runtime, pieces, piece: Bytes::new(), pace, said }
    }
}

impl<F: Fn(&object_store::Error) -> String> Read for Stream<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let start = Instant::now();
            match self.runtime.block_on(self.pieces.next()) {
                Some(Ok(piece)) if self.pace.is_too_slow(start.elapsed(), piece.len()) => {
                    let what = format!("the server sends less than {LEAST} bytes each second");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, what));
                }
                Some(Ok(piece)) => self.piece = piece,
                Some(Err(error)) => return Err(io::Error::other((self.said)(&error))),
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
