//! Raw deflate (RFC 1951) in blocks that join to one stream.
//!
//! A block is compressed on its own, with the 32 KiB before it as dictionary, so that blocks
//! of one file can be made in any order by any number of threads and the bytes are always the
//! same. Every block but the last ends with a sync flush, which aligns it to a byte.

use zlib_rs::{Deflate, DeflateFlush, Status};

use super::checksum::Digest;

/// Bytes of input that make one block. Part of what decides the output's bytes.
pub const BLOCK: usize = 1 << 20;

/// How far back deflate can refer: longer dictionaries are of no use.
pub const WINDOW: usize = 32 << 10;

/// How hard deflate tries, from 1 (fast) to 9 (small).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// 6, what everybody means who names no level.
    pub const DEFAULT: Self = Self(6);

    /// The level of this number, if there is one.
    pub fn new(level: u8) -> Option<Self> {
        (1..=9).contains(&level).then_some(Self(level))
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a zip member's bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// As they are.
    Store,
    /// Deflated.
    Deflate,
}

/// Compresses `data`, one block of a stream.
///
/// `dictionary` is what comes right before it in the stream, of which the last [`WINDOW`]
/// bytes count; empty for the first block. The results of all blocks, one after the other, are
/// one deflate stream if `last` was set for the last of them alone. A stream has at least one
/// block, even when it has no bytes.
pub fn deflate_block(dictionary: &[u8], data: &[u8], last: bool, level: Level) -> Vec<u8> {
    let flush = if last { DeflateFlush::Finish } else { DeflateFlush::SyncFlush };
    encode(&mut encoder(dictionary, level), data, flush)
}

/// An encoder of raw deflate that has just seen `dictionary`.
fn encoder(dictionary: &[u8], level: Level) -> Deflate {
    let mut encoder = Deflate::new(i32::from(level.0), false, 15);
    if !dictionary.is_empty() {
        let tail = &dictionary[dictionary.len().saturating_sub(WINDOW)..];
        encoder.set_dictionary(tail).expect("a fresh raw encoder takes any dictionary");
    }
    encoder
}

/// Runs `encoder` over `data` until everything has come out.
fn encode(encoder: &mut Deflate, data: &[u8], flush: DeflateFlush) -> Vec<u8> {
    let mut out = vec![0; zlib_rs::compress_bound(data.len()) + 16];
    loop {
        let (taken, given) = (offset(encoder.total_in()), offset(encoder.total_out()));
        let status = encoder.compress(&data[taken..], &mut out[given..], flush).expect("the encoder is in order");
        let given = offset(encoder.total_out());
        // A flush is complete once it leaves room: only then is nothing pending.
        if status == Status::StreamEnd || (flush == DeflateFlush::SyncFlush && given < out.len()) {
            out.truncate(given);
            return out;
        }
        out.resize(out.len() * 2, 0);
    }
}

/// A count of bytes that are in memory, as an index.
fn offset(count: u64) -> usize {
    usize::try_from(count).expect("what is in memory can be counted")
}

/// Compresses `data` as one stream, block after block.
///
/// The same bytes as joining the results of [`deflate_block`] for each [`BLOCK`] of it.
pub fn deflate(data: &[u8], level: Level) -> Vec<u8> {
    let blocks = data.len().div_ceil(BLOCK).max(1);
    let mut out = Vec::new();
    for i in 0..blocks {
        let start = i * BLOCK;
        let end = data.len().min(start + BLOCK);
        out.extend_from_slice(&deflate_block(&data[..start], &data[start..end], i + 1 == blocks, level));
    }
    out
}

/// A member's content, ready to go into a zip: what it is digested and packed.
#[derive(Debug, Clone)]
pub struct Packed {
    /// How `bytes` are stored.
    pub method: Method,
    /// What the archive says of the content.
    pub digest: Digest,
    /// The content, compressed if `method` says so.
    pub bytes: Vec<u8>,
}

impl Packed {
    /// Compresses `data`, or stores it where deflate would not make it smaller.
    pub fn new(data: &[u8], level: Level) -> Self {
        let deflated = deflate(data, level);
        if deflated.len() < data.len() {
            Self { method: Method::Deflate, digest: Digest::of(data), bytes: deflated }
        } else {
            Self::stored(data.to_vec())
        }
    }

    /// Stores `data` as it is.
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

    /// Words from a fixed generator: compressible, but not trivially so.
    fn text(size: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut out = Vec::with_capacity(size + 16);
        while out.len() < size {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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

    #[test]
    fn blocks_join_to_one_stream() {
        for size in [0, 1, WINDOW, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 77] {
            for data in [text(size), noise(size), vec![0; size]] {
                assert!(inflate(&deflate(&data, Level::DEFAULT)) == data, "{size}");
            }
        }
    }

    #[test]
    fn empty_blocks_join_too() {
        let data = text(1000);
        let blocks = [
            deflate_block(&[], &[], false, Level::DEFAULT),
            deflate_block(&[], &data, false, Level::DEFAULT),
            deflate_block(&data, &[], false, Level::DEFAULT),
            deflate_block(&data, &[], true, Level::DEFAULT),
        ];
        assert_eq!(inflate(&blocks.concat()), data);
    }

    #[test]
    fn the_dictionary_is_used_and_only_its_end_matters() {
        let dictionary = text(WINDOW);
        let data = &dictionary[WINDOW / 2..];
        let alone = deflate_block(&[], data, true, Level::DEFAULT);
        let repeated = deflate_block(&dictionary, data, true, Level::DEFAULT);
        assert!(repeated.len() < alone.len() / 10, "{} of {}", repeated.len(), alone.len());
        let longer = [vec![1; 500], dictionary.clone()].concat();
        assert_eq!(deflate_block(&longer, data, true, Level::DEFAULT), repeated);
    }

    #[test]
    fn blocks_cost_less_than_one_percent() {
        let data = text(4 * BLOCK + 12_345);
        for level in [1, 6, 9].map(|level| Level::new(level).unwrap()) {
            let whole = encode(&mut encoder(&[], level), &data, DeflateFlush::Finish);
            let blocks = deflate(&data, level);
            assert!(blocks.len() * 100 <= whole.len() * 101, "{} against {} at {level:?}", blocks.len(), whole.len());
        }
    }

    #[test]
    fn levels_are_1_to_9() {
        assert_eq!(Level::new(6), Some(Level::DEFAULT));
        assert_eq!((Level::new(0), Level::new(10)), (None, None));
    }

    #[test]
    fn what_does_not_shrink_is_stored() {
        let (words, noise) = (Packed::new(&text(5000), Level::DEFAULT), Packed::new(&noise(5000), Level::DEFAULT));
        assert_eq!((words.method, noise.method), (Method::Deflate, Method::Store));
        assert_eq!(inflate(&words.bytes), text(5000));
        assert_eq!((words.digest, noise.bytes.len()), (Digest::of(&text(5000)), 5000));
        assert_eq!(Packed::new(b"", Level::DEFAULT).method, Method::Store);
    }
}
