use super::super::huffman::Huffman;
use super::peek;

/// Few codes of libraries and texts are longer.
const STEP: usize = 11;
const SIZE: usize = 1 << STEP;
/// Mask of a step's bits: at most 24, for a code of 11 bits and the extra bits of a distance.
const PASSED: u16 = 0x3f;
const LEAPT: usize = 0x7f;
/// Flag: a distance follows. Also selects the half of the table.
const DISTANCE: u16 = 1 << STEP;
/// Flag: the code is not in the table.
const SLOW: u16 = 0x8000;
const END: usize = 256;

/// The first two steps pass at most 40 bits, because distances are never adjacent, and the third
/// reads 11 more: fewer than [`peek`] returns.
pub(super) const LEAP: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SymbolBoundary {
    pub at: usize,
    /// [`DISTANCE`] if a distance is expected, 0 for a literal or length.
    due: u16,
}

impl SymbolBoundary {
    pub fn new(at: usize) -> Self {
        Self { at, due: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Symbol(SymbolBoundary),
    Over(usize),
    Invalid,
}

/// Step for each value of the next bits: literals and lengths, then distances.
pub(super) struct Steps {
    literals: Huffman,
    distances: Huffman,
    table: [u16; 2 * SIZE],
}

impl Default for Steps {
    fn default() -> Self {
        let empty = || Huffman::new(&[]).expect("a code without symbols is one");
        Self { literals: empty(), distances: empty(), table: [SLOW; 2 * SIZE] }
    }
}

impl Steps {
    /// `None` if the lengths are invalid.
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

    /// Fails if the table lacks a symbol.
    #[inline]
    pub(crate) fn leap(&self, stream: &[u8], place: SymbolBoundary) -> Option<SymbolBoundary> {
        let (mut bits, mut step, mut passed) = (peek(stream, place.at), place.due, 0);
        for _ in 0..LEAP {
            step = self.step(bits, step);
            bits >>= step & PASSED;
            passed += usize::from(step);
        }
        (step & SLOW == 0)
            .then_some(SymbolBoundary { at: place.at + (passed & LEAPT), due: step & DISTANCE })
    }

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

    fn literal(&self, bits: u64, at: usize) -> Option<Next> {
        let (symbol, length) = self.literals.decode(bits)?;
        let end = at + usize::from(length + length_bits(symbol));
        Some(if symbol == END {
            Next::Over(end)
        } else {
            Next::Symbol(SymbolBoundary { at: end, due: due_after(symbol) })
        })
    }

    fn distance(&self, bits: u64, at: usize) -> Option<Next> {
        let (symbol, length) = self.distances.decode(bits)?;
        Some(Next::Symbol(SymbolBoundary::new(at + usize::from(length + distance_bits(symbol)))))
    }
}

fn due_after(symbol: usize) -> u16 {
    if symbol > END { DISTANCE } else { 0 }
}

fn length_bits(symbol: usize) -> u16 {
    match symbol {
        265..=284 => u16::try_from((symbol - 261) / 4).unwrap_or_default(),
        _ => 0,
    }
}

fn distance_bits(symbol: usize) -> u16 {
    match symbol {
        4..=29 => u16::try_from(symbol / 2 - 1).unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 11 bits for the very last symbol, all lengths for others.
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
            // Long codes begin with ones, so ones are frequent.
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
        // Distance, length and distance, of 24, 16 and 24 bits.
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
