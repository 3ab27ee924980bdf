//! How far the symbols of a block reach.

use super::super::huffman::Huffman;
use super::peek;

/// Bits that are looked at in one step: next to no code of libraries and of text is longer.
const STEP: usize = 11;
/// Steps of each kind, literals and lengths, and distances.
const SIZE: usize = 1 << STEP;
/// The bits of a step that say how many bits it passes: 24 at most, a code of 11 and what follows a distance's.
const PASSED: u16 = 0x3f;
/// Those of the sum of a leap's steps.
const LEAPT: usize = 0x7f;
/// After it a distance comes. The bit is what selects the half of the table for distances.
const DISTANCE: u16 = 1 << STEP;
/// The table does not know the symbol. The step passes nothing, and leaves due what is due.
const SLOW: u16 = 0x8000;
/// The symbol that ends a block.
const END: usize = 256;

/// Steps in a leap: the first two pass 40 bits at most, as no two distances follow each other, and the third looks at
/// 11 more, which makes fewer than are seen at once. What the third passes need not be seen.
pub(super) const LEAP: usize = 3;

/// A place between two symbols of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SymbolBoundary {
    /// The next bit.
    pub at: usize,
    /// [`DISTANCE`] where a distance is due, 0 where a literal or length is.
    due: u16,
}

impl SymbolBoundary {
    /// Where a literal or length is due.
    pub fn new(at: usize) -> Self {
        Self { at, due: 0 }
    }
}

/// What comes after a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one.
    Symbol(SymbolBoundary),
    /// Nothing of this block, which ends at this bit.
    Over(usize),
    /// There is no such symbol.
    Invalid,
}

/// What to do at each of the next bits: in the first half where a literal or length is due, in the second a distance.
pub(super) struct Steps {
    literals: Huffman,
    distances: Huffman,
    table: [u16; 2 * SIZE],
}

impl Default for Steps {
    fn default() -> Self {
        let none = || Huffman::new(&[]).expect("a code without symbols is one");
        Self { literals: none(), distances: none(), table: [SLOW; 2 * SIZE] }
    }
}

impl Steps {
    /// For the codes of which symbols have these lengths. `None` when they make no code.
    pub fn set(&mut self, literals: &[u8], distances: &[u8]) -> Option<&Self> {
        (self.literals, self.distances) = (Huffman::new(literals)?, Huffman::new(distances)?);
        let (first, second) = self.table.split_at_mut(SIZE);
        self.literals.fill(first, SLOW, |symbol, length| match symbol {
            END => SLOW,
            _ => (length + length_bits(symbol)) | due_after(symbol),
        });
        self.distances
            .fill(second, SLOW | DISTANCE, |symbol, length| length + distance_bits(symbol));
        Some(self)
    }

    fn step(&self, bits: u64, due: u16) -> u16 {
        let index = usize::try_from(bits).unwrap_or_default() & (SIZE - 1);
        self.table[index | usize::from(due & DISTANCE)]
    }

    /// Passes as many symbols as a leap has steps, if the table knows them all.
    #[inline]
    pub fn leap(&self, stream: &[u8], place: SymbolBoundary) -> Option<SymbolBoundary> {
        let (mut bits, mut step, mut passed) = (peek(stream, place.at), place.due, 0);
        for _ in 0..LEAP {
            // After a slow step, the same one comes again.
            step = self.step(bits, step);
            bits >>= step & PASSED;
            passed += usize::from(step);
        }
        (step & SLOW == 0)
            .then_some(SymbolBoundary { at: place.at + (passed & LEAPT), due: step & DISTANCE })
    }

    /// Passes one symbol.
    pub fn pass(&self, stream: &[u8], place: SymbolBoundary) -> Next {
        let bits = peek(stream, place.at);
        let step = self.step(bits, place.due);
        if step & SLOW == 0 {
            return Next::Symbol(SymbolBoundary {
                at: place.at + usize::from(step & PASSED),
                due: step & DISTANCE,
            });
        }
        if place.due == 0 { self.literal(bits, place.at) } else { self.distance(bits, place.at) }
            .unwrap_or(Next::Invalid)
    }

    /// Passes a literal or length, or the block's end.
    fn literal(&self, bits: u64, at: usize) -> Option<Next> {
        let (symbol, length) = self.literals.decode(bits)?;
        let at = at + usize::from(length + length_bits(symbol));
        Some(if symbol == END {
            Next::Over(at)
        } else {
            Next::Symbol(SymbolBoundary { at, due: due_after(symbol) })
        })
    }

    fn distance(&self, bits: u64, at: usize) -> Option<Next> {
        let (symbol, length) = self.distances.decode(bits)?;
        Some(Next::Symbol(SymbolBoundary::new(at + usize::from(length + distance_bits(symbol)))))
    }
}

/// What is due after a literal or length.
fn due_after(symbol: usize) -> u16 {
    if symbol > END { DISTANCE } else { 0 }
}

/// Bits that follow the code of a length (RFC 1951, section 3.2.5).
fn length_bits(symbol: usize) -> u16 {
    match symbol {
        265..=284 => u16::try_from((symbol - 261) / 4).unwrap_or_default(),
        _ => 0,
    }
}

/// Bits that follow the code of a distance.
fn distance_bits(symbol: usize) -> u16 {
    match symbol {
        4..=29 => u16::try_from(symbol / 2 - 1).unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of every length, for the last symbols of an alphabet: 11 bits for the very last.
    fn lengths(symbols: usize) -> Vec<u8> {
        let mut lengths = vec![0; symbols];
        let used = lengths.iter_mut().skip(symbols - 16);
        used.zip([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 15, 11])
            .for_each(|(length, value)| *length = value);
        lengths
    }

    #[test]
    fn a_leap_is_three_symbols() {
        let mut steps = Steps::default();
        steps.set(&lengths(285), &lengths(30)).unwrap();
        let mut state = 3_u64;
        let mut widest = 0;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Many ones, for the codes with many bits begin with them.
            let word =
                state | state.rotate_left(17) | state.rotate_left(31) | state.rotate_left(45);
            let stream = [word.to_le_bytes(), state.to_be_bytes()].concat();
            for due in [0, DISTANCE] {
                let start = SymbolBoundary { at: 3, due };
                let mut next = Next::Symbol(start);
                for _ in 0..LEAP {
                    next = if let Next::Symbol(place) = next {
                        steps.pass(&stream, place)
                    } else {
                        next
                    };
                }
                if let Some(leapt) = steps.leap(&stream, start) {
                    assert_eq!(Next::Symbol(leapt), next);
                    widest = widest.max(leapt.at - start.at);
                }
            }
        }
        assert!(widest >= 40, "leaps of many bits are seen: {widest}");
    }

    #[test]
    fn the_widest_leap_is_counted() {
        // A distance, a length and a distance, of 24, 16 and 24 bits.
        let mut steps = Steps::default();
        steps.set(&lengths(285), &lengths(30)).unwrap();
        let code =
            (0..1 << 11).find(|bits| steps.distances.decode(*bits) == Some((29, 11))).unwrap();
        assert_eq!(steps.literals.decode(code), Some((284, 11)));
        let bits = u128::from(code) | u128::from(code) << 24 | u128::from(code) << 40;
        let start = SymbolBoundary { at: 0, due: DISTANCE };
        assert_eq!(steps.leap(&bits.to_le_bytes(), start), Some(SymbolBoundary::new(64)));
    }
}
