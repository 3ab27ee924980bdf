//! Blocking reader of an async body.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::runtime::Runtime;

use super::wire::Operation;

/// Body of an object. Has at most one piece in memory, as the client received it.
pub(super) struct Stream<F> {
    runtime: Arc<Runtime>,
    operation: Arc<Operation>,
    pieces: BoxStream<'static, object_store::Result<Bytes>>,
    piece: Bytes,
    message: F,
}

impl<F> Stream<F> {
    pub(super) fn new(
        runtime: Arc<Runtime>,
        operation: Arc<Operation>,
        pieces: BoxStream<'static, object_store::Result<Bytes>>,
        message: F,
    ) -> Self {
        Self { runtime, operation, pieces, piece: Bytes::new(), message }
    }
}

impl<F: Fn(&object_store::Error) -> String> Read for Stream<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.operation.run(&self.runtime, self.pieces.next()) {
                Some(Some(Ok(piece))) => self.piece = piece,
                Some(Some(Err(error))) => return Err(io::Error::other((self.message)(&error))),
                Some(None) => return Ok(0),
                None => return Err(io::Error::other((self.message)(&self.operation.stuck()))),
            }
        }
        let count = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
