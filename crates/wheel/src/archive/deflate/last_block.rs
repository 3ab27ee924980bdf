//! Last block and end of a deflate stream.
//!
//! All codes before its mark must be read, but not decompressed: only the number of bits of each
//! symbol matters (`steps`), and a block is read at several positions concurrently (`walk`).

use super::huffman::Huffman;

mod steps;
mod walk;

use steps::Steps;
use walk::walk;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastBlock {
    /// Position of the bit that marks the last block.
    pub mark: usize,
    pub end: usize,
}

pub(super) fn last_block(stream: &[u8]) -> Option<LastBlock> {
    let (mut bits, mut steps) = (Bits { stream, at: 0 }, Steps::default());
    loop {
        let mark = bits.at;
        let last = bits.take(1) == 1;
        match bits.take(2) {
            0 => bits.skip_stored()?,
            1 => bits.at = walk(fixed(&mut steps)?, stream, bits.at)?,
            2 => bits.at = walk(dynamic(&mut steps, &mut bits)?, stream, bits.at)?,
            _ => return None,
        }
        if last {
            return (bits.at <= stream.len() * 8).then_some(LastBlock { mark, end: bits.at });
        }
    }
}

struct Bits<'a> {
    stream: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u8) -> usize {
        let value = peek(self.stream, self.at) & ((1 << count) - 1);
        self.at += usize::from(count);
        usize::try_from(value).unwrap_or_default()
    }

    fn skip_stored(&mut self) -> Option<()> {
        let start = self.at.div_ceil(8);
        let &[a, b, c, d] = self.stream.get(start..)?.first_chunk()?;
        let (length, complement) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let end = start + 4 + usize::from(length);
        self.at = end * 8;
        (length == !complement && end <= self.stream.len()).then_some(())
    }
}

/// At least 57 bits, lowest first; zeros beyond the end.
#[inline]
fn peek(stream: &[u8], at: usize) -> u64 {
    let byte = at / 8;
    match stream.get(byte..byte + 8).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word) >> (at % 8),
        None => peek_at_end(stream, at),
    }
}

#[cold]
fn peek_at_end(stream: &[u8], at: usize) -> u64 {
    let rest = stream.get(at / 8..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)) >> (at % 8)
}

fn fixed(steps: &mut Steps) -> Option<&Steps> {
    let mut lengths = [8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    steps.set(&lengths, &[5; 30])
}

/// RFC 1951, section 3.2.7.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

fn dynamic<'s>(steps: &'s mut Steps, bits: &mut Bits<'_>) -> Option<&'s Steps> {
    let (literals, distances) = (bits.take(5) + 257, bits.take(5) + 1);
    let mut lengths = [0; 19];
    for &place in &ORDER[..bits.take(4) + 4] {
        lengths[place] = u8::try_from(bits.take(3)).ok()?;
    }
    let lengths = code_lengths(bits, &Huffman::new(&lengths)?, literals + distances)?;
    steps.set(lengths.get(..literals)?, lengths.get(literals..)?)
}

/// RFC 1951, section 3.2.7.
fn code_lengths(bits: &mut Bits<'_>, code: &Huffman, wanted: usize) -> Option<Vec<u8>> {
    // These codes have at most seven bits. An entry contains the symbol and, in its lowest three
    // bits, the code length.
    let mut table = [0; 1 << 7];
    code.fill(&mut table, 0, |symbol, length| {
        u16::try_from(symbol << 3).unwrap_or_default() | length
    });
    let mut lengths = Vec::with_capacity(wanted + 138);
    while lengths.len() < wanted {
        let next = Bits { ..*bits }.take(7);
        let (symbol, length) = (table[next] >> 3, table[next] & 7);
        if length == 0 {
            return None;
        }
        bits.at += usize::from(length);
        let (count, value) = match symbol {
            16 => (3 + bits.take(2), *lengths.last()?),
            17 => (3 + bits.take(3), 0),
            18 => (11 + bits.take(7), 0),
            length => (1, u8::try_from(length).ok()?),
        };
        lengths.extend(std::iter::repeat_n(value, count));
    }
    (lengths.len() == wanted).then_some(lengths)
}
