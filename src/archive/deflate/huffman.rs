//! Huffman codes of deflate, as far as one has to know them to find where symbols end.

/// The longest code (RFC 1951, section 3.2.7).
const LONGEST: usize = 15;
/// Symbols of the larger alphabet, that of literals and lengths.
const SYMBOLS: usize = 288;

/// A canonical code: what the lengths of its codes say (RFC 1951, section 3.2.2).
pub(super) struct Huffman {
    /// How many codes there are of each length.
    counts: [u16; LONGEST + 1],
    /// The symbols, by the length of their codes, then by number.
    symbols: [u16; SYMBOLS],
}

impl Huffman {
    /// The code in which symbol `i` has `lengths[i]` bits, 0 for none. `None` when no such code exists.
    pub fn new(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0_u16; LONGEST + 1];
        for &length in lengths {
            *counts.get_mut(usize::from(length))? += 1;
        }
        counts[0] = 0;
        let (mut starts, mut free) = ([0_u16; LONGEST + 2], 1_u32);
        for length in 1..=LONGEST {
            starts[length + 1] = starts[length] + counts[length];
            free = (free * 2).checked_sub(u32::from(counts[length]))?;
        }
        let mut symbols = [0; SYMBOLS];
        for (symbol, &length) in (0..).zip(lengths).filter(|(_, length)| **length != 0) {
            let place = &mut starts[usize::from(length)];
            *symbols.get_mut(usize::from(*place))? = symbol;
            *place += 1;
        }
        Some(Self { counts, symbols })
    }

    /// The symbol whose code `bits` begin with, and the code's length. `None` when there is none.
    pub fn decode(&self, mut bits: u64) -> Option<(usize, u32)> {
        let (mut code, mut first, mut index) = (0_u32, 0_u32, 0_u32);
        for (length, &count) in (1..).zip(&self.counts[1..]) {
            code |= u32::from(bits & 1 != 0);
            bits >>= 1;
            if code < first + u32::from(count) {
                let symbol = *self.symbols.get((index + code - first) as usize)?;
                return Some((usize::from(symbol), length));
            }
            index += u32::from(count);
            first = (first + u32::from(count)) << 1;
            code <<= 1;
        }
        None
    }

    /// Calls `see` with each symbol, its code as a reader finds it (first bit lowest) and the code's length.
    pub fn each(&self, mut see: impl FnMut(usize, usize, u32)) {
        let (mut code, mut symbols) = (0_u16, self.symbols.iter());
        for (length, &count) in (1..).zip(&self.counts[1..]) {
            for &symbol in symbols.by_ref().take(usize::from(count)) {
                see(usize::from(symbol), usize::from(code.reverse_bits() >> (16 - length)), length);
                code = code.wrapping_add(1);
            }
            code <<= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        // The example of RFC 1951, section 3.2.2: symbols A to H.
        let huffman = Huffman::new(&[3, 3, 3, 3, 3, 2, 4, 4]).unwrap();
        let mut codes = Vec::new();
        huffman.each(|symbol, code, length| codes.push((symbol, format!("{code:0width$b}", width = length as usize))));
        codes.sort();
        let forward: Vec<String> = codes.iter().map(|(_, code)| code.chars().rev().collect()).collect();
        assert_eq!(forward, ["010", "011", "100", "101", "110", "00", "1110", "1111"]);
        huffman.each(|symbol, code, length| assert_eq!(huffman.decode(code as u64 | 1 << 40), Some((symbol, length))));
    }

    #[test]
    fn what_is_no_code_is_none() {
        assert!(Huffman::new(&[1, 1, 1]).is_none(), "more codes than bits allow");
        assert!(Huffman::new(&[16]).is_none(), "too long");
        assert_eq!(Huffman::new(&[1]).unwrap().decode(1), None, "only 0 is a code");
    }
}
