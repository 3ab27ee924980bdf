//! Compressed streams of which any part can be read without what comes before.
//!
//! They are zstd frames, each of so many bytes, with a table of all frames behind them: a skippable frame, as the
//! seekable format of zstd's own `contrib/seekable_format` describes it (version 0.1.0). Every program that reads
//! zstd reads them, and leaves out the table.

use std::io::{self, Write};

use rayon::prelude::*;
use zstd::bulk::Compressor;

/// How many bytes a frame has: large enough to be packed well, small enough to be read for a few bytes of it.
pub(super) const FRAME: usize = 4 << 20;
/// What a skippable frame begins with.
pub(super) const SKIPPABLE: u32 = 0x184D_2A5E;
/// What ends the table.
pub(super) const SEEKABLE: u32 = 0x8F92_EAB1;
/// The format takes no more frames.
pub(super) const MOST_FRAMES: usize = 0x0800_0000;

/// Packs what is written to it, on all threads of the pool.
pub(super) struct SeekableWriter<W> {
    out: W,
    level: i32,
    /// What is not packed yet.
    buffer: Vec<u8>,
    /// How much is packed at once.
    batch: usize,
    /// The packed and the unpacked size of each frame.
    frames: Vec<(u32, u32)>,
}

impl<W: Write> SeekableWriter<W> {
    /// Packs into `out`.
    pub(super) fn new(out: W, level: i32) -> Self {
        let batch = FRAME * rayon::current_num_threads().clamp(1, 16);
        Self { out, level, buffer: Vec::with_capacity(batch), batch, frames: Vec::new() }
    }

    /// Writes what is left, and the table.
    ///
    /// # Errors
    /// When `out` cannot take it, or there are more frames than the format has.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.pack()?;
        let count =
            u32::try_from(self.frames.len()).ok().filter(|_| self.frames.len() <= MOST_FRAMES);
        let count = count.ok_or_else(|| io::Error::other("it has too many frames"))?;
        let mut table = Vec::new();
        for (packed, unpacked) in &self.frames {
            table.extend(packed.to_le_bytes());
            table.extend(unpacked.to_le_bytes());
        }
        table.extend(count.to_le_bytes());
        // No flag: frames have checksums of their own.
        table.push(0);
        table.extend(SEEKABLE.to_le_bytes());
        let size = u32::try_from(table.len()).map_err(io::Error::other)?;
        self.out.write_all(&SKIPPABLE.to_le_bytes())?;
        self.out.write_all(&size.to_le_bytes())?;
        self.out.write_all(&table)?;
        Ok(self.out)
    }

    fn pack(&mut self) -> io::Result<()> {
        let level = self.level;
        let packed: Vec<io::Result<Vec<u8>>> =
            self.buffer.par_chunks(FRAME).map(|content| frame(content, level)).collect();
        for (packed, content) in packed.into_iter().zip(self.buffer.chunks(FRAME)) {
            let packed = packed?;
            self.out.write_all(&packed)?;
            let sizes = u32::try_from(packed.len()).ok().zip(u32::try_from(content.len()).ok());
            self.frames.extend(sizes);
        }
        self.buffer.clear();
        Ok(())
    }
}

/// One frame, which has a checksum and says its size.
fn frame(content: &[u8], level: i32) -> io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(level)?;
    compressor.include_checksum(true)?;
    compressor.compress(content)
}

impl<W: Write> Write for SeekableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.batch - self.buffer.len());
        self.buffer.extend(&bytes[..taken]);
        if self.buffer.len() == self.batch {
            self.pack()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_independent_and_the_table_says_where_they_are() {
        let content: Vec<u8> =
            (0..2 * FRAME + 1000).map(|n| u8::try_from(n / 7 % 251).unwrap()).collect();
        let mut writer = SeekableWriter::new(Vec::new(), 3);
        content.chunks(100_000).for_each(|chunk| writer.write_all(chunk).unwrap());
        let packed = writer.finish().unwrap();
        assert_eq!(zstd::decode_all(&packed[..]).unwrap(), content);

        let word = |at: usize| u32::from_le_bytes(packed[at..at + 4].try_into().unwrap());
        let end = packed.len();
        assert_eq!((word(end - 4), packed[end - 5], word(end - 9)), (SEEKABLE, 0, 3));
        let table = end - 9 - 3 * 8;
        assert_eq!((word(table - 8), word(table - 4)), (SKIPPABLE, 3 * 8 + 9));
        let mut at = 0;
        for (frame, expected) in content.chunks(FRAME).enumerate() {
            let size = word(table + 8 * frame) as usize;
            assert_eq!(zstd::decode_all(&packed[at..at + size]).unwrap(), expected);
            assert_eq!(word(table + 8 * frame + 4) as usize, expected.len());
            at += size;
        }
        assert_eq!(at, table - 8, "nothing between");
    }

    #[test]
    fn nothing_is_a_table_without_frames() {
        let packed = SeekableWriter::new(Vec::new(), 3).finish().unwrap();
        assert_eq!(packed.len(), 8 + 9);
        assert!(zstd::decode_all(&packed[..]).unwrap().is_empty());
    }
}
