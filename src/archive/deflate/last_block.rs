//! Where the last block of a deflate stream begins, and where the stream ends.
//!
//! An encoder that makes whole streams marks its last block as the last. To let another stream
//! follow, that mark has to be found, and only reading every code before it tells where it is.
//! Nothing is decompressed: of every symbol no more than its number of bits matters, so that
//! several literals, or some and the length after them, are passed in one step.

use super::huffman::Huffman;

/// The last block of a stream, in bits from the stream's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastBlock {
    /// The bit that says that it is the last.
    pub mark: usize,
    /// The end of its last symbol.
    pub end: usize,
}

/// Finds the last block; `None` when `stream` is no whole deflate stream.
pub(super) fn last_block(stream: &[u8]) -> Option<LastBlock> {
    let mut bits = Bits::new(stream);
    let mut steps = Steps::default();
    loop {
        bits.refill()?;
        let mark = bits.position();
        let last = bits.take(1) == 1;
        match bits.take(2) {
            0 => bits.skip_stored()?,
            1 => steps.fixed()?.pass(&mut bits)?,
            2 => steps.dynamic(&mut bits)?.pass(&mut bits)?,
            _ => return None,
        }
        if last {
            let end = bits.position();
            return (end <= stream.len() * 8).then_some(LastBlock { mark, end });
        }
    }
}

/// Reads a stream bit by bit, the lowest of a byte first.
struct Bits<'a> {
    stream: &'a [u8],
    /// The first byte that is not held.
    next: usize,
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    fn new(stream: &'a [u8]) -> Self {
        Self { stream, next: 0, held: 0, count: 0 }
    }

    /// Holds at least 56 bits, zeros beyond the end. `None` when far beyond it.
    #[inline]
    fn refill(&mut self) -> Option<()> {
        let Some(word) = self.stream.get(self.next..).and_then(<[u8]>::first_chunk) else { return self.refill_at_end() };
        self.held |= u64::from_le_bytes(*word) << self.count;
        self.next += ((63 - self.count) >> 3) as usize;
        self.count |= 0x38;
        Some(())
    }

    #[cold]
    fn refill_at_end(&mut self) -> Option<()> {
        while self.count < 56 {
            let byte = self.stream.get(self.next).copied().unwrap_or(0);
            self.held |= u64::from(byte) << self.count;
            self.next += 1;
            self.count += 8;
        }
        (self.next <= self.stream.len() + 16).then_some(())
    }

    fn drop(&mut self, count: u32) {
        self.held >>= count;
        self.count -= count;
    }

    fn take(&mut self, count: u32) -> u32 {
        let value = u32::try_from(self.held & ((1 << count) - 1)).unwrap_or_default();
        self.drop(count);
        value
    }

    fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }

    /// Passes the bytes of a stored block: from the next byte on, their number, its complement, and they.
    fn skip_stored(&mut self) -> Option<()> {
        let start = self.position().div_ceil(8);
        let &[a, b, c, d] = self.stream.get(start..)?.first_chunk()?;
        let (length, complement) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let end = start + 4 + usize::from(length);
        *self = Self { next: end, ..Self::new(self.stream) };
        (length == !complement && end <= self.stream.len()).then_some(())
    }
}

/// Bits that are looked at in one step.
const STEP: u32 = 10;
const STEPS: usize = 1 << STEP;
/// The bits of a step that say how many bits it passes.
const PASSED: u8 = 0x3f;
/// After it a distance comes. The bit is where it selects the half of the table for distances.
const DISTANCE: u8 = 0x40;
/// The step has to be taken by reading a symbol.
const SLOW: u8 = 0x80;

/// What to do at each of the next ten bits: in the first half where a literal or length is due, in the second a distance.
struct Steps {
    literals: Huffman,
    distances: Huffman,
    table: [u8; 2 * STEPS],
}

impl Default for Steps {
    fn default() -> Self {
        let none = || Huffman::new(&[]).expect("a code without symbols is one");
        Self { literals: none(), distances: none(), table: [SLOW; 2 * STEPS] }
    }
}

/// What comes after a symbol.
enum Next {
    /// The half of the table for what is due.
    Due(usize),
    /// Another block, or nothing.
    Over,
}

/// In which order the lengths of the code for code lengths come (RFC 1951, section 3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// The symbol that ends a block.
const END: usize = 256;

impl Steps {
    /// For a block with fixed codes.
    fn fixed(&mut self) -> Option<&Self> {
        let mut lengths = [8; 288];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.set(&lengths, &[5; 30])
    }

    /// For a block with codes of its own, which are read.
    fn dynamic(&mut self, bits: &mut Bits<'_>) -> Option<&Self> {
        let (literals, distances) = (bits.take(5) as usize + 257, bits.take(5) as usize + 1);
        let mut lengths = [0; 19];
        for &place in &ORDER[..bits.take(4) as usize + 4] {
            bits.refill()?;
            lengths[place] = u8::try_from(bits.take(3)).ok()?;
        }
        let lengths = code_lengths(bits, &Huffman::new(&lengths)?, literals + distances)?;
        self.set(lengths.get(..literals)?, lengths.get(literals..literals + distances)?)
    }

    fn set(&mut self, literals: &[u8], distances: &[u8]) -> Option<&Self> {
        (self.literals, self.distances) = (Huffman::new(literals)?, Huffman::new(distances)?);
        let (first, second) = self.table.split_at_mut(STEPS);
        fill_literals(&self.literals, first);
        second.fill(SLOW);
        each_index(&self.distances, |symbol, index, length| second[index] = byte(length + distance_bits(symbol)));
        Some(self)
    }

    /// Passes everything up to the end of the block.
    fn pass(&self, bits: &mut Bits<'_>) -> Option<()> {
        let mut half = 0;
        loop {
            bits.refill()?;
            // A step passes 23 bits at most: two go with what is held.
            let two = (0..2).all(|_| self.step(bits, &mut half));
            if !two {
                bits.refill()?;
                match self.slow(bits, half)? {
                    Next::Due(due) => half = due,
                    Next::Over => return Some(()),
                }
            }
        }
    }

    /// One step, when the table knows it.
    #[inline]
    fn step(&self, bits: &mut Bits<'_>, half: &mut usize) -> bool {
        let index = usize::try_from(bits.held & (STEPS as u64 - 1)).unwrap_or_default();
        let step = self.table[*half | index];
        if step & SLOW != 0 {
            return false;
        }
        bits.drop(u32::from(step & PASSED));
        *half = usize::from(step & DISTANCE) * (STEPS / usize::from(DISTANCE));
        true
    }

    /// Passes a symbol with a long code, or the block's end.
    #[cold]
    fn slow(&self, bits: &mut Bits<'_>, half: usize) -> Option<Next> {
        if half != 0 {
            let (symbol, length) = self.distances.decode(bits.held)?;
            bits.drop(length + distance_bits(symbol));
            return Some(Next::Due(0));
        }
        let (symbol, length) = self.literals.decode(bits.held)?;
        bits.drop(length + length_bits(symbol));
        Some(match symbol {
            END => Next::Over,
            symbol if symbol > END => Next::Due(STEPS),
            _ => Next::Due(0),
        })
    }
}

/// The lengths of codes, which are themselves coded (RFC 1951, section 3.2.7).
fn code_lengths(bits: &mut Bits<'_>, code: &Huffman, wanted: usize) -> Option<Vec<u8>> {
    let mut lengths = Vec::with_capacity(wanted + 138);
    while lengths.len() < wanted {
        bits.refill()?;
        let (symbol, length) = code.decode(bits.held)?;
        bits.drop(length);
        let (count, value) = match symbol {
            16 => (3 + bits.take(2), *lengths.last()?),
            17 => (3 + bits.take(3), 0),
            18 => (11 + bits.take(7), 0),
            length => (1, u8::try_from(length).ok()?),
        };
        lengths.extend(std::iter::repeat_n(value, count as usize));
    }
    (lengths.len() == wanted).then_some(lengths)
}

/// Calls `see` with every index of a table that begins with a code of the table's size or less.
fn each_index(code: &Huffman, mut see: impl FnMut(usize, usize, u32)) {
    code.each(|symbol, bits, length| {
        if length <= STEP {
            (bits..STEPS).step_by(1 << length).for_each(|index| see(symbol, index, length));
        }
    });
}

/// For each ten bits the symbols that they hold whole, up to and with a length; its further bits need not be among the ten.
fn fill_literals(code: &Huffman, table: &mut [u8]) {
    let mut single = [(0_u8, 0_u8); STEPS];
    each_index(code, |symbol, index, length| {
        if symbol != END {
            let flag = if symbol > END { DISTANCE } else { 0 };
            single[index] = (byte(length), byte(length + length_bits(symbol)) | flag);
        }
    });
    for (index, step) in table.iter_mut().enumerate() {
        let (mut passed, mut flag) = (0, 0);
        while flag == 0 {
            let (length, symbol) = single[index >> passed];
            if length == 0 || u32::from(passed + length) > STEP {
                break;
            }
            passed += symbol & PASSED;
            flag = symbol & DISTANCE;
        }
        *step = if passed == 0 { SLOW } else { passed | flag };
    }
}

/// Bits that follow the code of a length (RFC 1951, section 3.2.5).
fn length_bits(symbol: usize) -> u32 {
    match symbol {
        265..=284 => u32::try_from((symbol - 261) / 4).unwrap_or_default(),
        _ => 0,
    }
}

/// Bits that follow the code of a distance.
fn distance_bits(symbol: usize) -> u32 {
    match symbol {
        4..=29 => u32::try_from(symbol / 2 - 1).unwrap_or_default(),
        _ => 0,
    }
}

/// A number of bits; none comes near 64.
fn byte(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(PASSED)
}
