//! Raw deflate (RFC 1951) in blocks that concatenate to one stream.
//!
//! Blocks are compressed in any order. libdeflate is the fastest encoder for its output size, but
//! writes only whole streams: the flag of the last block is cleared, and an empty stored block,
//! which ends at a byte boundary, is appended.

use libdeflater::{CompressionLvl, Compressor};

use super::checksum::Digest;

mod huffman;
mod last_block;

use last_block::{LastBlock, last_block};

/// Input bytes per block, part of the format: smaller blocks make larger streams (libraries: 0.12 %
/// for 1 MiB), because they share no history.
pub const BLOCK: usize = 2 << 20;

/// Encoder for cache keys: versions may differ in output.
pub const ENCODER: &str = "libdeflater 1.26.1";

/// Effort of deflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Fastest useful effort.
    Fast,
    /// At most the size of zlib's default level.
    #[default]
    Default,
    /// Smallest output, at a tenth of the speed.
    Max,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Default, Self::Max];

    fn number(self) -> CompressionLvl {
        let number = match self {
            Self::Fast => 1,
            Self::Default => 6,
            Self::Max => 12,
        };
        CompressionLvl::new(number).unwrap_or_default()
    }

    /// Bytes of memory of an [`Encoder`]: what libdeflate 1.26 allocates, and the scratch buffer.
    pub fn memory(self) -> u64 {
        let compressor = match self {
            Self::Fast => 202_759,
            Self::Default => 668_295,
            Self::Max => 9_011_751,
        };
        // Stored blocks of 64 KiB are the worst case.
        compressor + BLOCK as u64 + 5 * (BLOCK as u64).div_ceil(0xffff)
    }
}

/// Storage method of a zip member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Uncompressed.
    Store,
    /// Deflated.
    Deflate,
}

/// Reusable block compressor.
pub struct Encoder {
    compressor: Compressor,
    /// Never shrunk below the compressor's bound.
    scratch: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder.
    pub fn new(level: Level) -> Self {
        Self { compressor: Compressor::new(level.number()), scratch: Vec::new() }
    }

    /// Compresses `data` to one block; `last` marks the last, possibly empty one. Incompressible
    /// data is stored, with 5 bytes per 64 KiB.
    pub fn block(&mut self, data: &[u8], last: bool) -> Vec<u8> {
        let mut out = Vec::new();
        self.append_block(data, last, &mut out);
        out
    }

    /// Compresses like [`Encoder::block`], and appends to `out`.
    pub fn append_block(&mut self, data: &[u8], last: bool, out: &mut Vec<u8>) {
        let (start, whole) =
            (out.len(), self.compress(data).filter(|whole| whole.len() < data.len()));
        let Some(whole) = whole else { return stored(data, last, out) };
        if last {
            return out.extend_from_slice(whole);
        }
        if !append_opened(whole, out) {
            out.truncate(start);
            stored(data, last, out);
        }
    }

    fn compress(&mut self, data: &[u8]) -> Option<&[u8]> {
        let bound = self.compressor.deflate_compress_bound(data.len());
        if self.scratch.len() < bound {
            self.scratch.resize(bound, 0);
        }
        let length = self.compressor.deflate_compress(data, &mut self.scratch).ok()?;
        Some(&self.scratch[..length])
    }
}

/// Appends up to a byte boundary; `false` if the stream is invalid.
fn append_opened(stream: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(LastBlock { mark, end }) = last_block(stream) else { return false };
    let start = out.len();
    out.extend_from_slice(stream);
    out[start + mark / 8] &= !(1 << (mark % 8));
    // Three zero bits begin a stored block that is not the last.
    if let Some(byte) = out.get_mut(start + end / 8) {
        *byte &= !(0xff << (end % 8));
    }
    out.resize(start + (end + 3).div_ceil(8), 0);
    out.extend_from_slice(&EMPTY);
    true
}

const EMPTY: [u8; 4] = [0, 0, 0xff, 0xff];

/// At least one block (RFC 1951, section 3.2.4).
fn stored(data: &[u8], last: bool, out: &mut Vec<u8>) {
    out.reserve_exact(data.len() + 5 * data.len().div_ceil(0xffff).max(1));
    let mut rest = data;
    loop {
        let (part, after) = rest.split_at(rest.len().min(0xffff));
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        out.push(u8::from(last && after.is_empty()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(part);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

/// Compresses `data` in blocks.
pub fn deflate(data: &[u8], level: Level) -> Vec<u8> {
    let (mut encoder, mut out, mut rest) = (Encoder::new(level), Vec::new(), data);
    while rest.len() > BLOCK {
        let (block, after) = rest.split_at(BLOCK);
        encoder.append_block(block, false, &mut out);
        rest = after;
    }
    encoder.append_block(rest, true, &mut out);
    out
}

/// Content of a zip member.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Method.
    pub method: Method,
    /// Digest of the content.
    pub digest: Digest,
    /// Packed content.
    pub bytes: Vec<u8>,
}

impl Packed {
    /// Stores data that deflate does not shrink.
    pub fn new(data: &[u8], level: Level) -> Self {
        let deflated = deflate(data, level);
        if deflated.len() < data.len() {
            Self { method: Method::Deflate, digest: Digest::of(data), bytes: deflated }
        } else {
            Self::stored(data.to_vec())
        }
    }

    /// Stores `data` uncompressed.
    pub fn stored(data: Vec<u8>) -> Self {
        Self { method: Method::Store, digest: Digest::of(&data), bytes: data }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn inflate(stream: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut decoder = flate2::bufread::DeflateDecoder::new(stream);
        decoder.read_to_end(&mut out).unwrap();
        assert_eq!(decoder.total_in(), stream.len() as u64, "nothing follows the stream");
        out
    }

    fn text(size: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut out = Vec::with_capacity(size + 16);
        while out.len() < size {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            out.extend_from_slice(format!("{:x} ", (state >> 40) % 5000).as_bytes());
        }
        out.truncate(size);
        out
    }

    fn noise(size: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..size).map(|_| byte()).collect()
    }

    fn skewed(size: usize) -> Vec<u8> {
        noise(size)
            .iter()
            .zip(noise(2 * size).iter().skip(size))
            .map(|(&a, &b)| if b == 0 { a } else { 200 + (a.leading_zeros() & 7).to_le_bytes()[0] })
            .collect()
    }

    #[test]
    fn the_encoder_is_the_one_that_is_built_in() {
        let lock = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"))
            .unwrap();
        let (name, version) = ENCODER.split_once(' ').unwrap();
        assert!(
            lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")),
            "ENCODER is another than Cargo.lock has"
        );
    }

    #[test]
    fn blocks_join_to_one_stream() {
        for size in [0, 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 77] {
            for data in [text(size), noise(size), vec![0; size]] {
                for level in [Level::Fast, Level::Default] {
                    assert!(inflate(&deflate(&data, level)) == data, "{size} {level:?}");
                }
            }
        }
    }

    #[test]
    fn blocks_of_every_size_join() {
        // Blocks end at every bit of a byte.
        let (data, mut encoder, mut stream, mut expected) =
            (text(40_000), Encoder::new(Level::Default), Vec::new(), Vec::new());
        for size in 0..300 {
            stream.extend(encoder.block(&data[size..size + size * 100], false));
            expected.extend_from_slice(&data[size..size + size * 100]);
        }
        stream.extend(encoder.block(&[], true));
        assert!(inflate(&stream) == expected);
    }

    #[test]
    fn an_encoder_forgets_what_it_saw() {
        let (words, mut used) = (text(50_000), Encoder::new(Level::Default));
        used.block(&noise(70_000), false);
        assert_eq!(used.block(&words, true), Encoder::new(Level::Default).block(&words, true));
    }

    #[test]
    fn what_others_make_opens_too() {
        for level in [0, 1, 6, 9] {
            // With only seven-bit codes, a reader that starts at a wrong bit never synchronizes.
            let seven = noise(300_000).iter().map(|byte| byte & 0x7f).collect();
            let mixed =
                [text(70_000), noise(70_000), text(9), noise(200_000), skewed(70_000)].concat();
            for data in [text(300_000), noise(100_000), text(7), skewed(200_000), seven, mixed] {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(level));
                std::io::Write::write_all(&mut encoder, &data).unwrap();
                let mut opened = Vec::new();
                assert!(append_opened(&encoder.finish().unwrap(), &mut opened));
                let joined = [opened, deflate(b"end", Level::Default)].concat();
                assert!(inflate(&joined) == [&data[..], b"end"].concat(), "{level} {}", data.len());
            }
        }
    }

    #[test]
    fn what_is_no_stream_does_not_open() {
        let whole = deflate(&text(12_000), Level::Default);
        for end in 0..whole.len() {
            assert!(last_block(&whole[..end]).is_none(), "cut at {end} of {}", whole.len());
        }
        let long = deflate(&skewed(400_000), Level::Default);
        for end in (0..long.len()).step_by(997).chain(long.len() - 20..long.len()) {
            assert!(last_block(&long[..end]).is_none(), "cut at {end} of {}", long.len());
        }
        assert!(last_block(&[7]).is_none(), "there is no third kind of block");
        assert!(
            last_block(&[1, 5, 0, 5, 0, 1, 2, 3, 4, 5]).is_none(),
            "the length's complement is wrong"
        );
    }

    #[test]
    fn blocks_cost_less_than_one_percent() {
        let data = text(4 * BLOCK + 12_345);
        for level in [Level::Fast, Level::Default, Level::Max] {
            let whole = Encoder::new(level).block(&data, true);
            let blocks = deflate(&data, level);
            assert!(
                blocks.len() * 100 <= whole.len() * 101,
                "{} against {} at {level:?}",
                blocks.len(),
                whole.len()
            );
        }
    }

    #[test]
    fn what_does_not_shrink_is_stored() {
        let (words, noise) =
            (Packed::new(&text(5000), Level::Default), Packed::new(&noise(5000), Level::Default));
        assert_eq!((words.method, noise.method), (Method::Deflate, Method::Store));
        assert_eq!(inflate(&words.bytes), text(5000));
        assert_eq!((words.digest, noise.bytes.len()), (Digest::of(&text(5000)), 5000));
        assert_eq!(Packed::new(b"", Level::Default).method, Method::Store);
    }
}
