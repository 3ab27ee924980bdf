//! xz in blocks, which several threads can make and read.

use std::io::{self, Write};
use std::num::NonZero;

use liblzma::stream::{Action, Check, MtStreamBuilder, Status, Stream};

/// Bytes of input that make one xz block: three times the dictionary of [`Preset::DEFAULT`],
/// as liblzma recommends. Fixed, so that the bytes don't depend on liblzma's choice or on the
/// number of threads.
const BLOCK: u64 = 24 << 20;

/// How hard xz tries, from 0 (fast) to 6 (small).
///
/// Higher presets of xz only enlarge the dictionary, up to more than a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset(u32);

impl Preset {
    /// 6, what everybody means who names no preset.
    pub const DEFAULT: Self = Self(6);

    /// The preset of this number, if there is one.
    pub fn new(preset: u32) -> Option<Self> {
        (preset <= 6).then_some(Self(preset))
    }
}

impl Default for Preset {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// More than `size` bytes can come to: what xz cannot compress it stores in chunks with a few
/// bytes each, and every block has a header, padding and an index entry.
pub fn xz_worst_case(size: u64) -> u64 {
    size.saturating_add(size / 1024).saturating_add((size / BLOCK + 1) * 256 + 1024)
}

/// liblzma could not make an encoder; in practice for want of memory.
#[derive(Debug, thiserror::Error)]
#[error("failed to start an xz encoder with {threads} threads")]
pub struct XzError {
    threads: NonZero<u32>,
    source: liblzma::stream::Error,
}

/// Compresses what is written to it into `sink`.
///
/// Without [`Xz::finish`] the result is no xz file, and nothing is written on drop. Flushing
/// does not end a block, since the bytes would depend on it.
pub struct Xz<W> {
    sink: W,
    stream: Stream,
    /// Compressed bytes on their way to `sink`.
    out: Vec<u8>,
}

impl<W: Write> Xz<W> {
    /// An encoder that uses this many threads, each with up to about 175 MB of memory.
    ///
    /// The number of threads changes nothing in the bytes.
    ///
    /// # Errors
    /// When liblzma has not enough memory.
    pub fn new(sink: W, preset: Preset, threads: NonZero<u32>) -> Result<Self, XzError> {
        let mut builder = MtStreamBuilder::new();
        builder.threads(threads.get()).block_size(BLOCK).preset(preset.0).check(Check::Crc64);
        let stream = builder.encoder().map_err(|source| XzError { threads, source })?;
        Ok(Self { sink, stream, out: Vec::with_capacity(64 << 10) })
    }

    /// Compresses what is left, ends the file and gives the sink back, flushed.
    ///
    /// # Errors
    /// When the sink fails or liblzma runs out of memory.
    pub fn finish(mut self) -> io::Result<W> {
        while self.stream.process_vec(&[], &mut self.out, Action::Finish)? != Status::StreamEnd {
            self.pass_on()?;
        }
        self.pass_on()?;
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

impl<W: Write> Write for Xz<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let before = self.stream.total_in();
        let mut rest = data;
        while !rest.is_empty() {
            self.stream.process_vec(rest, &mut self.out, Action::Run)?;
            self.pass_on()?;
            let taken = usize::try_from(self.stream.total_in() - before).map_err(io::Error::other)?;
            rest = &data[taken..];
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::archive::checksum::Sha256;

    /// More than two blocks, quick to compress.
    fn data() -> Vec<u8> {
        let line = |i: u32| format!("{:08}{}\n", i, "=".repeat(500));
        (0..110_000).flat_map(|i| line(i).into_bytes()).collect()
    }

    fn compress(data: &[u8], preset: u32, threads: u32) -> Vec<u8> {
        let mut xz = Xz::new(Vec::new(), Preset::new(preset).unwrap(), NonZero::new(threads).unwrap()).unwrap();
        for chunk in data.chunks(1_000_003) {
            xz.write_all(chunk).unwrap();
            xz.flush().unwrap();
        }
        xz.finish().unwrap()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let data = data();
        assert!(data.len() as u64 > 2 * BLOCK);
        for preset in [0, 6] {
            let [one, two, four] = [1, 2, 4].map(|threads| Sha256::of(&compress(&data, preset, threads)));
            assert_eq!((one, one), (two, four), "preset {preset}");
        }
    }

    #[test]
    fn xz_reads_back() {
        for data in [data(), b"short".to_vec(), Vec::new()] {
            let mut out = Vec::new();
            liblzma::read::XzDecoder::new(&compress(&data, 1, 2)[..]).read_to_end(&mut out).unwrap();
            assert!(out == data);
        }
    }

    #[test]
    fn what_is_not_finished_is_no_xz_file() {
        let mut bytes = Vec::new();
        let mut xz = Xz::new(&mut bytes, Preset::DEFAULT, NonZero::<u32>::MIN).unwrap();
        xz.write_all(b"lost").unwrap();
        drop(xz);
        let read = liblzma::read::XzDecoder::new(&bytes[..]).read_to_end(&mut Vec::new());
        assert!(read.is_err());
    }

    #[test]
    fn presets_are_0_to_6() {
        assert_eq!((Preset::new(6), Preset::new(7)), (Some(Preset::DEFAULT), None));
    }
}
