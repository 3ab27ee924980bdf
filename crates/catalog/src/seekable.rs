//! Compressed streams with random access, in the format of zstd's `contrib/seekable_format`
//! (version 0.1.0): zstd frames of a fixed unpacked size, then a table in a skippable frame.

use std::io::{self, Write};

use rayon::prelude::*;
use zstd::bulk::Compressor;

use base::hash::Sha256;

/// Unpacked size of a frame: large for a good ratio, small to be decoded quickly for a few bytes.
pub(super) const FRAME: usize = 4 << 20;
/// Magic number of the skippable frame with the table.
pub(super) const SKIPPABLE: u32 = 0x184D_2A5E;
/// Magic number of the skippable frame with checksums.
pub(super) const CHECKSUMS: u32 = 0x184D_2A5D;
/// First bytes of the checksums: algorithm and version of this layout.
pub(super) const CHECKSUM_KIND: [u8; 8] = *b"sha256\0\x01";
/// Magic number at the end of the table.
pub(super) const SEEKABLE: u32 = 0x8F92_EAB1;
/// Limit of the format `contrib/seekable_format`.
pub(super) const MOST_FRAMES: usize = 0x0800_0000;

pub(super) struct SeekableWriter<W> {
    out: W,
    level: i32,
    buffer: Vec<u8>,
    /// Size of a full buffer: a frame for each thread.
    batch: usize,
    frames: Vec<PackedFrame>,
}

struct PackedFrame {
    packed: u32,
    unpacked: u32,
    sha256: Sha256,
}

impl<W: Write> SeekableWriter<W> {
    pub(super) fn new(out: W, level: i32) -> Self {
        let batch = FRAME * rayon::current_num_threads().clamp(1, 16);
        Self { out, level, buffer: Vec::with_capacity(batch), batch, frames: Vec::new() }
    }

    /// Writes checksums and table. Returns their SHA-256, which readers of a part of the stream need.
    pub(super) fn finish(mut self) -> io::Result<(W, Sha256)> {
        self.pack()?;
        let mut end = self.checksums()?;
        let packed = u32::try_from(end.len()).map_err(io::Error::other)?;
        let sizes = self.frames.iter().map(|frame| (frame.packed, frame.unpacked));
        // The table lists the frame of checksums too, because other readers derive positions from the sum
        // of all sizes.
        end.extend(table(sizes.chain([(packed, 0)]))?);
        self.out.write_all(&end)?;
        Ok((self.out, Sha256::of(&end)))
    }

    fn checksums(&self) -> io::Result<Vec<u8>> {
        let sums = self.frames.iter().flat_map(|frame| *frame.sha256.as_bytes());
        skippable(CHECKSUMS, &CHECKSUM_KIND.into_iter().chain(sums).collect::<Vec<u8>>())
    }

    fn pack(&mut self) -> io::Result<()> {
        let level = self.level;
        let packed: Vec<io::Result<_>> =
            self.buffer.par_chunks(FRAME).map(|content| frame(content, level)).collect();
        for packed in packed {
            let (bytes, frame) = packed?;
            self.out.write_all(&bytes)?;
            self.frames.push(frame);
        }
        self.buffer.clear();
        Ok(())
    }
}

fn frame(content: &[u8], level: i32) -> io::Result<(Vec<u8>, PackedFrame)> {
    let mut compressor = Compressor::new(level)?;
    compressor.include_checksum(true)?;
    let bytes = compressor.compress(content)?;
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
    let sha256 = Sha256::of(&bytes);
    let frame = PackedFrame { packed: size(&bytes)?, unpacked: size(content)?, sha256 };
    Ok((bytes, frame))
}

fn table(sizes: impl Iterator<Item = (u32, u32)>) -> io::Result<Vec<u8>> {
    let (mut table, mut count) = (Vec::new(), 0);
    for (packed, unpacked) in sizes {
        table.extend(packed.to_le_bytes());
        table.extend(unpacked.to_le_bytes());
        count += 1;
    }
    let number = u32::try_from(count).ok().filter(|_| count <= MOST_FRAMES);
    let number = number.ok_or_else(|| io::Error::other("it has too many frames"))?;
    table.extend(number.to_le_bytes());
    // The descriptor: no checksums in the table, because each zstd frame ends with one.
    table.push(0);
    table.extend(SEEKABLE.to_le_bytes());
    skippable(SKIPPABLE, &table)
}

fn skippable(magic: u32, content: &[u8]) -> io::Result<Vec<u8>> {
    let size = u32::try_from(content.len()).map_err(io::Error::other)?;
    Ok([&magic.to_le_bytes(), &size.to_le_bytes(), content].concat())
}

impl<W: Write> Write for SeekableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.batch - self.buffer.len());
        self.buffer.extend(&bytes[..len]);
        if self.buffer.len() == self.batch {
            self.pack()?;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_independent_frames_and_their_table() {
        let content: Vec<u8> =
            (0..2 * FRAME + 1000).map(|n| u8::try_from(n / 7 % 251).unwrap()).collect();
        let mut writer = SeekableWriter::new(Vec::new(), 3);
        content.chunks(100_000).for_each(|chunk| writer.write_all(chunk).unwrap());
        let (packed, sum_of_end) = writer.finish().unwrap();
        assert_eq!(zstd::decode_all(&packed[..]).unwrap(), content);

        let word =
            |offset: usize| u32::from_le_bytes(packed[offset..offset + 4].try_into().unwrap());
        let end = packed.len();
        assert_eq!((word(end - 4), packed[end - 5], word(end - 9)), (SEEKABLE, 0, 4));
        let table = end - 9 - 4 * 8;
        assert_eq!((word(table - 8), word(table - 4)), (SKIPPABLE, 4 * 8 + 9));
        let (mut offset, mut sums) = (0, Vec::<u8>::new());
        for (frame, expected) in content.chunks(FRAME).enumerate() {
            let size = word(table + 8 * frame) as usize;
            assert_eq!(zstd::decode_all(&packed[offset..offset + size]).unwrap(), expected);
            assert_eq!(word(table + 8 * frame + 4) as usize, expected.len());
            sums.extend(Sha256::of(&packed[offset..offset + size]).as_bytes());
            offset += size;
        }
        assert_eq!((word(offset), word(offset + 4)), (CHECKSUMS, 8 + 3 * 32));
        assert_eq!(packed[offset + 8..offset + 16], CHECKSUM_KIND);
        assert_eq!(packed[offset + 16..table - 8], sums, "and nothing between");
        assert_eq!((word(table + 24) as usize, word(table + 28)), (table - 8 - offset, 0));
        assert_eq!(sum_of_end, Sha256::of(&packed[offset..]));
    }

    #[test]
    fn writes_a_table_without_frames_for_empty_content() {
        let (packed, _) = SeekableWriter::new(Vec::new(), 3).finish().unwrap();
        assert_eq!(packed.len(), 8 + 8 + 8 + 8 + 9);
        assert!(zstd::decode_all(&packed[..]).unwrap().is_empty());
    }
}
