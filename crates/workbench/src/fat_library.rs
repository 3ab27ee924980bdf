//! Libraries with offload bundles in the layout of clang and linkers, but smaller.

#![expect(clippy::cast_possible_truncation, reason = "numbers of files of some kilobytes")]

use crate::units;

/// `HIPF`.
pub const OF_BUNDLE: u32 = 0x4849_5046;
/// `HIPK`.
pub const OF_MARKER: u32 = 0x4b50_4948;
/// Offset of the bundles, in the file and in memory.
pub const BUNDLES: usize = 0x1000;
/// A runtime that reads archives.
pub const RUNTIME: &str = "librun.so.7";
const SONAME: &str = "libfat.so\0";
/// End of the program headers.
const HEADERS_END: usize = 64 + 4 * 56;
/// `PT_GNU_STACK`, without which the loader makes stacks executable.
const STACK: u32 = 0x6474_e551;
/// Address of an additional word, filled by a relocation.
const OTHER: usize = 8;

#[derive(Clone)]
pub struct Library {
    /// Bundles, one for each unit.
    pub bundles: Vec<Vec<u8>>,
    /// Changes of the finished file: place and new bytes.
    pub changes: Vec<(Place, Vec<u8>)>,
    /// Address of an additional dynamic symbol.
    pub symbol: Option<u64>,
    /// Target of the additional word.
    pub other: u64,
    pub machine: u16,
    /// The needed library.
    pub needs: &'static str,
    /// True if data follow the program headers, and the bundles.
    pub is_crowded: bool,
}

#[derive(Clone, Copy)]
pub enum Place {
    /// Offset in the records.
    Record(usize),
    /// Offset in the relocations.
    Relocation(usize),
    /// Offset in the bundles.
    Bundle(usize),
    /// Offset in the header.
    Header(usize),
    /// Offset in the section names.
    Names(usize),
    /// Offset in the dynamic section.
    Dynamic(usize),
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    at: usize,
    bytes: Vec<u8>,
    link: u32,
    entry: u64,
}

impl Library {
    /// The two units of [`units::two`].
    pub fn of_two_units() -> Self {
        Self::new(&units::two())
    }

    pub fn new(bundles: &[Vec<u8>]) -> Self {
        Self {
            bundles: bundles.to_vec(),
            changes: Vec::new(),
            symbol: None,
            other: OTHER as u64,
            machine: 62,
            needs: RUNTIME,
            is_crowded: false,
        }
    }

    #[must_use]
    pub fn changed(mut self, place: Place, bytes: &[u8]) -> Self {
        self.changes.push((place, bytes.to_vec()));
        self
    }

    pub fn records(&self) -> usize {
        BUNDLES + self.section().len().next_multiple_of(4096)
    }

    pub fn starts(&self) -> Vec<usize> {
        units::starts(&self.bundles, BUNDLES)
    }

    fn section(&self) -> Vec<u8> {
        units::section(&self.bundles)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (records, starts) = (self.records(), self.starts());
        let symbols = [vec![0; 24], self.symbol.map_or(Vec::new(), symbol)].concat();
        let hash = [1, symbols.len() as u32 / 24, 0, 0, 0].map(u32::to_le_bytes).concat();
        // The records are last in the relocated data, in the linkers' order.
        let word = records + starts.len() * 24;
        let pointers = starts.iter().enumerate().map(|(at, start)| (records + at * 24 + 8, *start));
        let mut filled: Vec<(usize, u64)> = vec![(word, self.other)];
        filled.extend(pointers.map(|(at, to)| (at, to as u64)));
        let relative = |(at, to): &(usize, u64)| {
            [*at as u64, 8, *to].iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>()
        };
        let relocations: Vec<u8> = filled.iter().flat_map(relative).collect();
        let record: Vec<u8> = [OF_BUNDLE, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let record = [record, vec![0; 16]].concat();
        let strings = format!("\0{SONAME}{}\0", self.needs).into_bytes();
        let sizes = (symbols.len(), relocations.len());
        let dynamic = |tag: u64, value: usize| [tag, value as u64].map(u64::to_le_bytes).concat();
        let dynamic = [
            dynamic(14, 1),
            dynamic(5, 0x200),
            dynamic(10, strings.len()),
            dynamic(6, 0x240),
            dynamic(11, 24),
            dynamic(4, 0x280),
            dynamic(7, 0x300),
            dynamic(8, sizes.1),
            dynamic(9, 24),
            dynamic(1, SONAME.len() + 1),
            dynamic(0, 0),
        ]
        .concat();
        let section = |name, kind, flags, at, bytes, link, entry| Section {
            name,
            kind,
            flags,
            at,
            bytes,
            link,
            entry,
        };
        let mut sections = vec![
            section(".dynstr", 3, 2, 0x200, strings, 0, 0),
            section(".dynsym", 11, 2, 0x240, symbols, 1, 24),
            section(".hash", 5, 2, 0x280, hash, 2, 4),
            section(".rela.dyn", 4, 2, 0x300, relocations, 2, 24),
            section(".hip_fatbin", 1, 2, BUNDLES, self.section(), 0, 0),
            section(".hipFatBinSegment", 1, 3, records, record.repeat(starts.len()), 0, 0),
            section(".data", 1, 3, word, b"its word".to_vec(), 0, 0),
            section(".dynamic", 6, 3, (word + 8).next_multiple_of(16), dynamic, 1, 16),
        ];
        if self.is_crowded {
            let behind = vec![1; 0x200 - HEADERS_END];
            sections.insert(7, section(".rodata", 1, 2, HEADERS_END, behind, 0, 0));
        }
        self.assemble(&sections)
    }

    fn assemble(&self, sections: &[Section]) -> Vec<u8> {
        let (records, last) = (self.records(), sections.last().unwrap());
        let mut file = vec![0; last.at + last.bytes.len()];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        for section in sections {
            put(section.at, &section.bytes);
        }
        let segment = |kind: u32, flags: u32, at: usize, end: usize| {
            let sizes = [at, at, at, end - at, end - at, 4096].map(|n| (n as u64).to_le_bytes());
            [&kind.to_le_bytes()[..], &flags.to_le_bytes(), &sizes.concat()].concat()
        };
        let end = last.at + last.bytes.len();
        let behind = if self.is_crowded { 16 } else { 0 };
        let segments = [
            segment(1, 4, 0, BUNDLES + self.section().len() + behind),
            segment(1, 6, records, end),
            segment(2, 6, last.at, end),
            segment(STACK, 6, 0, 0),
        ];
        put(64, &segments.concat());
        let mut names = vec![0];
        let mut headers = vec![0; 64];
        let rest = Section {
            name: ".shstrtab",
            kind: 3,
            flags: 0,
            at: end,
            bytes: Vec::new(),
            link: 0,
            entry: 0,
        };
        let length: usize = sections.iter().chain([&rest]).map(|it| it.name.len() + 1).sum();
        for it in sections.iter().chain([&rest]) {
            let address = if it.flags == 0 { 0 } else { it.at };
            let size = if it.flags == 0 { length + 1 } else { it.bytes.len() };
            headers.extend((names.len() as u32).to_le_bytes());
            headers.extend(it.kind.to_le_bytes());
            headers.extend(it.flags.to_le_bytes());
            headers.extend([address, it.at, size].map(|n| (n as u64).to_le_bytes()).concat());
            headers.extend([it.link.to_le_bytes(), [0; 4]].concat());
            headers.extend([1, it.entry].map(u64::to_le_bytes).concat());
            names.extend(it.name.as_bytes());
            names.push(0);
        }
        file.extend(names);
        file.resize(file.len().next_multiple_of(8), 0);
        let header = self.header(file.len(), sections.len() + 2);
        file[..64].copy_from_slice(&header);
        file.extend(headers);
        for (place, bytes) in &self.changes {
            let at = match place {
                Place::Record(at) => records + at,
                Place::Relocation(at) => 0x300 + at,
                Place::Bundle(at) => BUNDLES + at,
                Place::Header(at) => *at,
                Place::Names(at) => end + at,
                Place::Dynamic(at) => last.at + at,
            };
            file[at..at + bytes.len()].copy_from_slice(bytes);
        }
        file
    }

    fn header(&self, sections_at: usize, sections: usize) -> Vec<u8> {
        let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        header.extend([3, self.machine].map(u16::to_le_bytes).concat());
        header.extend(1_u32.to_le_bytes());
        header.extend([0, 64, sections_at as u64].map(u64::to_le_bytes).concat());
        header.extend(0_u32.to_le_bytes());
        let counts = [64, 56, 4, 64, sections as u16, sections as u16 - 1];
        header.extend(counts.map(u16::to_le_bytes).concat());
        header
    }
}

/// Makes a dynamic symbol with this address, in a section.
fn symbol(address: u64) -> Vec<u8> {
    let start = [&1_u32.to_le_bytes()[..], &[0x11, 0], &5_u16.to_le_bytes()].concat();
    [start, address.to_le_bytes().to_vec(), 8_u64.to_le_bytes().to_vec()].concat()
}
