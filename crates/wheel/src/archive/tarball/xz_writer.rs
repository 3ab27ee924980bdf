use std::io::{self, Write};

use super::{Preset, XzError, XzStream, xz_block};

/// xz compressor of a stream.
pub struct XzWriter<W> {
    sink: W,
    preset: Preset,
    stream: XzStream,
    /// Bytes that are not packed yet: at most one block between writes.
    waiting: Vec<u8>,
}

impl<W: Write> XzWriter<W> {
    /// Begins a stream.
    pub fn new(mut sink: W, preset: Preset) -> io::Result<Self> {
        sink.write_all(&XzStream::START)?;
        Ok(Self { sink, preset, stream: XzStream::default(), waiting: Vec::new() })
    }

    fn block(&mut self, count: usize) -> io::Result<()> {
        let made = xz_block(&self.waiting[..count], self.preset).map_err(of_encoder)?;
        self.waiting.drain(..count);
        self.stream.add(&made);
        self.sink.write_all(&made.bytes)
    }

    /// Ends the stream.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.block(self.waiting.len())?;
        }
        self.sink.write_all(&self.stream.end())
    }
}

fn of_encoder(error: XzError) -> io::Error {
    io::Error::other(error)
}

impl<W: Write> Write for XzWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() > self.preset.block() {
            self.block(self.preset.block())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
