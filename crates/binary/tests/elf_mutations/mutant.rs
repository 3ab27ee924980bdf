//! Mutants of ELF files by a fixed sequence of pseudo-random numbers.

/// Xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators,
/// scrambled").
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

/// Changes one to four fields, preferably of headers.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        match random.below(12) {
            0 => bytes.truncate(random.below(bytes.len()) + 1),
            1 => {
                let (at, bit) = (choose_offset(bytes, random), random.below(8));
                bytes[at] ^= 1 << bit;
            }
            2 => {
                let (from, to) = (choose_offset(bytes, random), choose_offset(bytes, random));
                let len = 56.min(bytes.len() - from).min(bytes.len() - to);
                bytes.copy_within(from..from + len, to);
            }
            _ => set_field(bytes, random),
        }
    }
}

/// Returns the offset of a byte in the file header and program headers, in the dynamic section, in the
/// section headers, or anywhere, by the fields of a 64-bit file: a mutant of them leads anywhere.
fn choose_offset(bytes: &[u8], random: &mut Random) -> usize {
    let field = |at: usize, len: usize| {
        bytes
            .get(at..at + len)
            .map_or(0, |it| it.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)))
    };
    let (header_count, section_headers, section_count) = (field(56, 2), field(40, 8), field(60, 2));
    // PT_DYNAMIC is 2.
    let dynamic = (0..header_count.min(16))
        .map(|number| 64 + number * 56)
        .find(|&at| field(at, 4) == 2)
        .map_or(0, |at| field(at + 8, 8));
    let (start, len) = match random.below(4) {
        0 => (0, 64 + 56 * header_count),
        1 => (dynamic, 512),
        2 => (section_headers, 64 * section_count),
        _ => (0, bytes.len()),
    };
    start.saturating_add(random.below(len.max(1))) % bytes.len()
}

/// Writes a malicious number into an aligned field of 2, 4 or 8 bytes.
fn set_field(bytes: &mut [u8], random: &mut Random) {
    let size = [2, 4, 8, 8][random.below(4)];
    let at = choose_offset(bytes, random) / size * size;
    let len = bytes.len() as u64;
    let numbers = [
        0,
        1,
        2,
        7,
        56,
        64,
        0xfff,
        0x1000,
        0xffff,
        0x1_0000,
        1 << 31,
        1 << 32,
        1 << 63,
        u64::MAX,
        u64::MAX - 0xfff,
        len,
        len - 1,
    ];
    let value = if random.below(3) == 0 {
        random.next() % (2 * len)
    } else {
        numbers[random.below(numbers.len())]
    };
    let end = (at + size).min(bytes.len());
    bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
}
