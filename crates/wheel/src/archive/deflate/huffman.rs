/// RFC 1951, section 3.2.7.
const LONGEST: usize = 15;
const SYMBOLS: usize = 288;

pub(super) struct Huffman {
    counts: [u16; LONGEST + 1],
    symbols: [u16; SYMBOLS],
}

impl Huffman {
    /// Takes the code length of each symbol, 0 for none; `None` if the lengths are invalid.
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

    /// Next symbol and its code length.
    pub fn decode(&self, mut bits: u64) -> Option<(usize, u16)> {
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

    /// Fills a table indexed by the next bits, lowest first: `entry` of symbol and length for a
    /// code, otherwise `none`. Its size must be a power of two.
    pub fn fill(&self, table: &mut [u16], none: u16, entry: impl Fn(usize, u16) -> u16) {
        // The table has as many bits as the current code length, and doubles between lengths.
        let (mut code, mut symbols, mut size) = (0_u16, self.symbols.iter(), 1);
        table[0] = none;
        for (length, &count) in (1..).zip(&self.counts[1..]) {
            if size == table.len() {
                return;
            }
            table.copy_within(..size, size);
            size *= 2;
            for &symbol in symbols.by_ref().take(usize::from(count)) {
                table[usize::from(code.reverse_bits() >> (16 - length))] =
                    entry(usize::from(symbol), length);
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
        // Example of RFC 1951, section 3.2.2: symbols A to H.
        let huffman = Huffman::new(&[3, 3, 3, 3, 3, 2, 4, 4]).unwrap();
        for (symbol, code) in
            ["010", "011", "100", "101", "110", "00", "1110", "1111"].into_iter().enumerate()
        {
            let first_lowest: String = code.chars().rev().collect();
            let bits = u64::from_str_radix(&first_lowest, 2).unwrap() | 1 << 40;
            assert_eq!(huffman.decode(bits), Some((symbol, u16::try_from(code.len()).unwrap())));
        }
    }

    #[test]
    fn a_table_has_what_reading_finds() {
        for lengths in [&[3, 3, 3, 3, 3, 2, 4, 4][..], &[0, 1], &[1, 2, 3, 4, 5, 6, 7, 7], &[]] {
            let huffman = Huffman::new(lengths).unwrap();
            for size in [1, 8, 64, 256] {
                let (mut table, longest) = (vec![7; size], size.ilog2());
                huffman.fill(&mut table, u16::MAX, |symbol, length| {
                    u16::try_from(symbol * 16).unwrap() | length
                });
                for (index, entry) in table.into_iter().enumerate() {
                    let read = huffman
                        .decode(index as u64)
                        .filter(|(_, length)| u32::from(*length) <= longest);
                    let found =
                        (entry != u16::MAX).then_some((usize::from(entry / 16), entry % 16));
                    assert_eq!(found, read, "{index} of {size}, {lengths:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_code_is_none() {
        assert!(Huffman::new(&[1, 1, 1]).is_none(), "more codes than bits allow");
        assert!(Huffman::new(&[16]).is_none(), "too long");
        assert_eq!(Huffman::new(&[1]).unwrap().decode(1), None, "only 0 is a code");
    }
}
