//! Index at the end of an xz stream (the .xz file format, version 1.2, sections 2.1.2 and 4).

use std::io::{self, Read};

use liblzma::read::XzDecoder;
use liblzma::stream::Stream;

use super::archive::MEMORY;
use binary::ReadAt;

pub(super) const HEADER: u64 = 12;
/// An index is read into memory; enough for a million blocks.
const LARGEST: u64 = 16 << 20;
const BEGIN: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const END: [u8; 2] = *b"YZ";

/// Packed (unpadded) and unpacked sizes; the first block is at [`HEADER`]. `None` unless the file
/// is one stream with a consistent index.
pub(super) fn blocks(stream: &dyn ReadAt) -> io::Result<Option<Vec<(u64, u64)>>> {
    let end = stream.len()?;
    if end < 2 * HEADER {
        return Ok(None);
    }
    let (mut header, mut footer) = ([0; 12], [0; 12]);
    stream.read_exact_at(0, &mut header)?;
    stream.read_exact_at(end - HEADER, &mut footer)?;
    let whole = footer[..4] == crc(&footer[4..10]) && header[8..] == crc(&header[6..8]);
    if header[..6] != BEGIN || footer[10..] != END || footer[8..10] != header[6..8] || !whole {
        return Ok(None);
    }
    let size = u32::from_le_bytes([footer[4], footer[5], footer[6], footer[7]]);
    let size = (u64::from(size) + 1) * 4;
    if size > LARGEST || size + 2 * HEADER > end {
        return Ok(None);
    }
    let mut index = vec![0; usize::try_from(size).unwrap_or_default()];
    stream.read_exact_at(end - HEADER - size, &mut index)?;
    let Some((records, sum)) = index.split_last_chunk::<4>() else { return Ok(None) };
    if *sum != crc(records) {
        return Ok(None);
    }
    let blocks = Records(records).blocks();
    let packed: u64 = blocks.iter().flatten().map(|block| block.0.next_multiple_of(4)).sum();
    Ok(blocks.filter(|_| HEADER + packed + size + HEADER == end))
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    crc32fast::hash(bytes).to_le_bytes()
}

struct Records<'i>(&'i [u8]);

impl Records<'_> {
    fn blocks(mut self) -> Option<Vec<(u64, u64)>> {
        let (0, rest) = self.0.split_first()? else { return None };
        self.0 = rest;
        let mut blocks = Vec::new();
        for _ in 0..self.number()? {
            let packed = self.number()?;
            let unpacked = self.number()?;
            // Sums of sizes cannot overflow.
            (packed < 1 << 48 && unpacked < 1 << 48).then(|| blocks.push((packed, unpacked)))?;
        }
        (self.0.len() < 4 && self.0.iter().all(|byte| *byte == 0)).then_some(blocks)
    }

    /// Up to nine bytes of seven bits, lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

/// `len` is the unpacked size.
pub(super) fn decode(
    header: &[u8; 12],
    block: &[u8],
    unpadded: u64,
    len: usize,
) -> io::Result<Vec<u8>> {
    // As a stream of this block: the decoder performs all checks.
    let end = stream_end(header, unpadded, len as u64);
    let whole = header.chain(block).chain(&*end);
    let decoder = Stream::new_stream_decoder(MEMORY, 0)?;
    let mut out = Vec::with_capacity(len);
    // One more byte makes the decoder check the end.
    let most = len as u64 + 1;
    XzDecoder::new_stream(whole, decoder).take(most).read_to_end(&mut out)?;
    if out.len() == len {
        return Ok(out);
    }
    let message = "the size of a block differs from the index";
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

fn stream_end(header: &[u8; 12], unpadded: u64, len: u64) -> Vec<u8> {
    let mut end = vec![0, 1];
    for mut number in [unpadded, len] {
        while number >= 0x80 {
            end.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        end.push(number.to_le_bytes()[0]);
    }
    end.resize(end.len().next_multiple_of(4), 0);
    end.extend(crc(&end));
    let size = u32::try_from(end.len() / 4 - 1).unwrap_or_default();
    let sizes = [&size.to_le_bytes(), &header[6..8]].concat();
    end.extend(crc(&sizes));
    end.extend(sizes);
    end.extend(END);
    end
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use liblzma::stream::{Check, MtStreamBuilder};
    use liblzma::write::XzEncoder;

    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut builder = MtStreamBuilder::new();
        builder.threads(1).block_size(1000).preset(1).check(Check::Crc64);
        let mut encoder = XzEncoder::new_stream(Vec::new(), builder.encoder().unwrap());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn content() -> Vec<u8> {
        (0..3500_u32).map(|n| (n.wrapping_mul(n) >> 5).to_le_bytes()[0]).collect()
    }

    #[test]
    fn decodes_each_block_alone() {
        let (content, bytes) = (content(), packed(&content()));
        let blocks = blocks(&bytes).unwrap().unwrap();
        assert_eq!(blocks.iter().map(|block| block.1).collect::<Vec<_>>(), [1000, 1000, 1000, 500]);
        let (mut offset, mut position) = (12, 0);
        for (packed, len) in blocks {
            let (unpadded, len) = (packed, usize::try_from(len).unwrap());
            let packed = usize::try_from(packed.next_multiple_of(4)).unwrap();
            let block = &bytes[offset..offset + packed];
            let decoded =
                |block: &[u8], len| decode(bytes[..12].try_into().unwrap(), block, unpadded, len);
            assert_eq!(decoded(block, len).unwrap(), content[position..position + len]);
            assert!(decoded(block, len - 1).is_err(), "more than it should have");
            assert!(decoded(block, len + 1).is_err(), "less than it should have");
            assert!(decoded(&block[..packed - 4], len).is_err(), "half of its check");
            for place in [packed / 2, packed - 1] {
                let mut damaged = block.to_vec();
                damaged[place] ^= 0x10;
                assert!(decoded(&damaged, len).is_err(), "{place}");
            }
            (offset, position) = (offset + packed, position + len);
        }
    }

    #[test]
    fn finds_blocks_in_one_whole_stream_only() {
        let good = packed(&content());
        assert!(blocks(&good).unwrap().is_some());
        assert_eq!(blocks(&packed(b"")).unwrap(), Some(Vec::new()));
        for cut in 0..good.len() {
            assert_eq!(blocks(&good[..cut].to_vec()).unwrap(), None, "{cut}");
        }
        assert_eq!(blocks(&[good.clone(), good.clone()].concat()).unwrap(), None);
        assert_eq!(blocks(&[&good[..], &[0; 4]].concat()).unwrap(), None);
        let index = good.len() - 40;
        for position in (0..12).chain(index..good.len()) {
            let mut damaged = good.clone();
            damaged[position] ^= 0x10;
            let is_unchanged = blocks(&damaged)
                .unwrap()
                .is_none_or(|table| table == blocks(&good).unwrap().unwrap_or_default());
            assert!(is_unchanged, "{position}");
        }
    }
}
