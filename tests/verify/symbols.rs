//! Small shared libraries with symbols, made without a compiler.

/// Makes a library for x86-64 that defines and needs symbols.
pub fn library(soname: &str, needed: &[&str], defined: &[&str], wanted: &[&str]) -> Vec<u8> {
    let mut strings = vec![0];
    let mut string = |text: &str| {
        let at = strings.len() as u64;
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        at
    };
    let mut dynamic: Vec<(u64, u64)> = needed.iter().map(|name| (1, string(name))).collect();
    dynamic.push((14, string(soname)));
    // Global functions: defined (in any section but 0; the file has none), and undefined.
    let mut symbols = vec![[0; 24]];
    for (section, names) in [(1_u16, defined), (0, wanted)] {
        for name in names {
            let mut symbol = [0; 24];
            symbol[..4].copy_from_slice(&u32::try_from(string(name)).unwrap().to_le_bytes());
            symbol[4] = 0x12;
            symbol[6..8].copy_from_slice(&section.to_le_bytes());
            symbols.push(symbol);
        }
    }
    let (symbols_at, count) = (64 + 3 * 56, symbols.len());
    let hash_at = symbols_at + 24 * count;
    // Readers only take the number of symbols from it: no bucket leads to a symbol.
    let mut hash = vec![1, u32::try_from(count).unwrap(), 0];
    hash.resize(3 + count, 0);
    let strings_at = hash_at + 4 * hash.len();
    let dynamic_at = (strings_at + strings.len()).next_multiple_of(8);
    let at = |place: usize| place as u64;
    dynamic.extend([
        (4, at(hash_at)),
        (5, at(strings_at)),
        (6, at(symbols_at)),
        (10, at(strings.len())),
        (11, 24),
        (0, 0),
    ]);
    let end = dynamic_at + 16 * dynamic.len();
    let mut file = header();
    file.extend(segment(1, 4, 0, end));
    file.extend(segment(2, 4, dynamic_at, 16 * dynamic.len()));
    file.extend(segment(STACK, 6, 0, 0));
    file.extend(symbols.concat());
    file.extend(hash.iter().flat_map(|word| word.to_le_bytes()));
    file.extend(strings);
    file.resize(dynamic_at, 0);
    file.extend(
        dynamic.iter().flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()].concat()),
    );
    file
}

/// `PT_GNU_STACK`, without which the loader makes stacks executable.
const STACK: u32 = 0x6474_e551;

/// Makes the header of a shared library with three segments.
fn header() -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([3_u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1_u32.to_le_bytes());
    file.extend([0_u64, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(0_u32.to_le_bytes());
    file.extend([64_u16, 56, 3, 64, 0, 0].map(u16::to_le_bytes).concat());
    file
}

/// Makes a segment with equal offsets in memory and file.
fn segment(kind: u32, flags: u32, at: usize, size: usize) -> Vec<u8> {
    let (at, size) = (at as u64, size as u64);
    let mut bytes = [kind, flags].map(u32::to_le_bytes).concat();
    bytes.extend([at, at, at, size, size, 0x1000].map(u64::to_le_bytes).concat());
    bytes
}
