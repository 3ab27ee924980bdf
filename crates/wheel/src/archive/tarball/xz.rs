//! xz in blocks (.xz file format, version 1.2), joined to the stream of liblzma's threads.

use std::io::{self, Read};
use std::num::NonZero;

use liblzma::stream::{Action, Check, MtStreamBuilder, Status, Stream};

use crate::archive::checksum::{Digest, Hasher};

/// Three times the largest dictionary, as liblzma recommends.
const LARGEST: usize = 24 << 20;

/// Encoder for cache keys: versions may differ in output.
pub const XZ_ENCODER: &str = "liblzma-sys 0.4.9";

/// Preset from 0 (fast) to 6 (small); higher ones only enlarge the dictionary beyond a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset(u8);

impl Preset {
    /// Preset 6, the default of xz.
    pub const DEFAULT: Self = Self(6);

    /// Preset with this number, if supported.
    pub fn new(preset: u8) -> Option<Self> {
        (preset <= 6).then_some(Self(preset))
    }

    /// Returns the number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Input bytes per block: eight dictionaries (xz(1), table of presets). This costs half a
    /// percent of size and balances cores. liblzma does not affect it.
    pub fn block(self) -> usize {
        const DICTIONARY: [usize; 7] =
            [256 << 10, 1 << 20, 2 << 20, 4 << 20, 4 << 20, 8 << 20, 8 << 20];
        (8 * DICTIONARY[usize::from(self.0)]).min(LARGEST)
    }

    /// Approximate bytes of memory for a block: encoder (`xz --info-memory`, xz(1)), input, output.
    pub fn memory(self) -> u64 {
        const ENCODER: [u64; 7] = [3, 9, 17, 32, 48, 94, 94];
        (ENCODER[usize::from(self.0)] << 20) + 2 * self.block() as u64
    }
}

impl Default for Preset {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Upper bound of the compressed size, with block headers, padding and index.
pub fn xz_worst_case(size: u64) -> u64 {
    let smallest = Preset(0).block() as u64;
    size.saturating_add(size / 1024).saturating_add((size / smallest + 1) * 256 + 1024)
}

/// Error of compression.
#[derive(Debug, thiserror::Error)]
pub enum XzError {
    /// Error of liblzma.
    #[error("failed to compress with xz")]
    Encoder(#[from] liblzma::stream::Error),
    /// Unexpected output of liblzma.
    #[error("the output of xz is not a stream of one block")]
    Layout,
}

/// Compressed block.
#[derive(Debug, Clone)]
pub struct XzBlock {
    /// Block with its padding.
    pub bytes: Vec<u8>,
    record: Record,
}

impl XzBlock {
    /// Restores a block by the sizes in its header (section 3.1), if present and right.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let &[length, flags, ref sizes @ ..] = bytes.as_slice() else { return None };
        if flags & SIZES != SIZES {
            return None;
        }
        let (packed, used) = number(sizes)?;
        let (content, _) = number(&sizes[used..])?;
        let unpadded = ((u64::from(length) + 1) * 4).checked_add(packed)?.checked_add(CHECK)?;
        let whole = unpadded.checked_next_multiple_of(4) == Some(bytes.len() as u64);
        whole.then_some(Self { bytes, record: Record { unpadded, content } })
    }

    /// Declared size of the content.
    pub fn content_len(&self) -> u64 {
        self.record.content
    }

    /// Digests the content; `None` if invalid or larger than `most` bytes.
    pub fn digest(&self, most: u64) -> Option<Digest> {
        if self.record.content > most {
            return None;
        }
        let mut stream = XzStream::default();
        stream.add(self);
        let end = stream.end();
        let packed = XzStream::START.chain(&*self.bytes).chain(&*end);
        let decoder = Stream::new_stream_decoder(Preset::DEFAULT.memory(), 0).ok()?;
        let decoder = liblzma::read::XzDecoder::new_stream(packed, decoder);
        let (mut decoder, mut hasher) = (decoder.take(most + 1), Hasher::default());
        let mut buffer = vec![0; 1 << 20];
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        let digest = hasher.finish();
        (digest.size == self.record.content).then_some(digest)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    unpadded: u64,
    content: u64,
}

const SIZES: u8 = 0xc0;
const CHECK: u64 = 8;
const FRAME: usize = 12;
/// Index size in the footer, in units of four bytes minus one.
const BACKWARD: std::ops::Range<usize> = 4..8;

/// Compresses `content`, of 1 to [`Preset::block`] bytes.
pub fn xz_block(content: &[u8], preset: Preset) -> Result<XzBlock, XzError> {
    // Only the multithreaded encoder writes the sizes that parallel decoders need.
    let mut stream = MtStreamBuilder::new();
    stream
        .threads(NonZero::<u32>::MIN.get())
        .block_size(preset.block() as u64)
        .preset(preset.0.into())
        .check(Check::Crc64);
    let mut stream = stream.encoder()?;
    let most = usize::try_from(xz_worst_case(content.len() as u64)).map_err(|_| XzError::Layout)?;
    let mut out = Vec::with_capacity(most);
    let mut consumed = 0;
    while stream.process_vec(&content[consumed..], &mut out, Action::Finish)? != Status::StreamEnd {
        consumed = usize::try_from(stream.total_in()).map_err(|_| XzError::Layout)?;
        if out.len() == out.capacity() {
            return Err(XzError::Layout);
        }
    }
    only_block(out).ok_or(XzError::Layout)
}

fn only_block(mut stream: Vec<u8>) -> Option<XzBlock> {
    let footer = stream.len().checked_sub(FRAME).filter(|&at| at >= FRAME)?;
    let backward = u32::from_le_bytes(stream[footer..][BACKWARD].try_into().ok()?) as usize;
    let index = footer.checked_sub((backward + 1) * 4)?;
    let [0, 1, rest @ ..] = stream.get(index..footer)? else { return None };
    let (unpadded, used) = number(rest)?;
    let (content, _) = number(&rest[used..])?;
    stream.truncate(index);
    stream.drain(..FRAME);
    Some(XzBlock { bytes: stream, record: Record { unpadded, content } })
}

/// Stream: [`XzStream::START`], blocks in order, [`XzStream::end`].
#[derive(Debug, Default)]
pub struct XzStream {
    records: Vec<Record>,
}

impl XzStream {
    /// Stream header with CRC-64 (section 2.1.1): magic, kind of check, their CRC-32.
    pub const START: [u8; FRAME] = [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46];

    /// Records the next block.
    pub fn add(&mut self, block: &XzBlock) {
        self.records.push(block.record);
    }

    /// Index and footer (sections 4 and 2.1.2).
    pub fn end(&self) -> Vec<u8> {
        let mut out = vec![0];
        append_number(&mut out, self.records.len() as u64);
        for record in &self.records {
            append_number(&mut out, record.unpadded);
            append_number(&mut out, record.content);
        }
        out.resize(out.len().next_multiple_of(4), 0);
        append_crc(&mut out, 0);
        let backward = u32::try_from(out.len() / 4 - 1).unwrap_or(u32::MAX).to_le_bytes();
        let fields = [&backward[..], &[0, 4]].concat();
        out.extend_from_slice(&crc32fast::hash(&fields).to_le_bytes());
        out.extend_from_slice(&fields);
        out.extend_from_slice(b"YZ");
        out
    }
}

fn append_crc(out: &mut Vec<u8>, start: usize) {
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Appends groups of seven bits, lowest first (section 1.2).
fn append_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn data() -> Vec<u8> {
        let line = |i: u32| format!("{:08}{}\n", i, "=".repeat(500));
        (0..110_000).flat_map(|i| line(i).into_bytes()).collect()
    }

    fn compress(data: &[u8], preset: u8) -> Vec<u8> {
        let (mut out, mut stream, preset) =
            (XzStream::START.to_vec(), XzStream::default(), Preset::new(preset).unwrap());
        for content in data.chunks(preset.block()) {
            let block = xz_block(content, preset).unwrap();
            stream.add(&block);
            out.extend(block.bytes);
        }
        out.extend(stream.end());
        out
    }

    fn by_liblzma(data: &[u8], preset: u8) -> Vec<u8> {
        let block = Preset::new(preset).unwrap().block() as u64;
        let stream = MtStreamBuilder::new()
            .threads(2)
            .block_size(block)
            .preset(preset.into())
            .check(Check::Crc64)
            .encoder()
            .unwrap();
        let mut out = Vec::new();
        liblzma::read::XzEncoder::new_stream(data, stream).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn the_encoder_is_the_one_that_is_built_in() {
        let lock = fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"))
            .unwrap();
        let (name, version) = XZ_ENCODER.split_once(' ').unwrap();
        assert!(
            lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")),
            "XZ_ENCODER is another than Cargo.lock has"
        );
    }

    #[test]
    fn blocks_make_the_stream_that_liblzma_makes() {
        let data = data();
        assert!(data.len() > 2 * LARGEST);
        for preset in [0, 3] {
            assert!(compress(&data, preset) == by_liblzma(&data, preset), "preset {preset}");
        }
        assert!(compress(b"short", 6) == by_liblzma(b"short", 6));
    }

    #[test]
    fn xz_reads_back() {
        for data in [data(), b"short".to_vec(), Vec::new()] {
            let mut out = Vec::new();
            liblzma::read::XzDecoder::new(&compress(&data, 1)[..]).read_to_end(&mut out).unwrap();
            assert!(out == data);
        }
    }

    #[test]
    fn what_does_not_shrink_fits_the_worst_case() {
        let noise: Vec<u8> = (0..200_000_u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).rotate_left(i % 31).to_le_bytes())
            .collect();
        let block = xz_block(&noise, Preset::DEFAULT).unwrap();
        assert!(block.bytes.len() as u64 <= xz_worst_case(noise.len() as u64));
    }

    #[test]
    fn a_block_can_be_kept() {
        for content in [b"to be kept".to_vec(), vec![7; 300], data()[..1 << 20].to_vec()] {
            let block = xz_block(&content, Preset::new(0).unwrap()).unwrap();
            let kept = XzBlock::from_bytes(block.bytes.clone()).unwrap();
            assert_eq!((&kept.bytes, kept.record), (&block.bytes, block.record));
            for wrong in [0, 1, 2, 15, block.bytes.len() - 4] {
                assert!(
                    XzBlock::from_bytes(block.bytes[..wrong].to_vec()).is_none(),
                    "{wrong} bytes"
                );
            }
        }
        assert!(XzBlock::from_bytes(vec![0; 16]).is_none());
    }

    #[test]
    fn numbers_are_written_in_groups_of_seven_bits() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX >> 1] {
            let mut bytes = Vec::new();
            append_number(&mut bytes, value);
            assert_eq!(number(&bytes), Some((value, bytes.len())), "{value}");
        }
        assert_eq!(number(&[0x80]), None, "cut short");
        assert_eq!(number(&[0xff; 10]), None, "too long");
    }

    #[test]
    fn what_is_no_stream_has_no_block() {
        let whole = compress(b"some bytes", 0);
        assert!(only_block(whole.clone()).is_some());
        for end in 0..whole.len() {
            assert!(only_block(whole[..end].to_vec()).is_none(), "cut at {end}");
        }
    }

    #[test]
    fn presets_are_0_to_6() {
        assert_eq!((Preset::new(6), Preset::new(7)), (Some(Preset::DEFAULT), None));
        let blocks: Vec<usize> =
            (0..=6).filter_map(Preset::new).map(|preset| preset.block() >> 20).collect();
        assert_eq!(blocks, [2, 8, 16, 24, 24, 24, 24]);
    }
}
