//! DLLs with offload bundles in the layout of clang and lld-link, but smaller.

#![expect(clippy::cast_possible_truncation, reason = "numbers of files of some kilobytes")]

use std::ops::Range;

use crate::fat_library::OF_BUNDLE;
use crate::units;

/// Preferred address.
pub const BASE: u64 = 0x1_8000_0000;
/// A runtime that reads archives.
pub const RUNTIME: &str = "run_7.dll";
/// Offset of the file header.
pub const FILE_HEADER: usize = 0x84;
/// Offset of the optional header.
pub const OPTIONAL: usize = FILE_HEADER + 20;
/// Offset of the section table.
pub const TABLE: usize = OPTIONAL + 112 + 16 * 8;
/// Sections of each DLL: code, tables, records, bundles, a word, relocations.
pub const SECTIONS: usize = 6;
const IN_FILE: usize = 0x200;
const IN_MEMORY: usize = 0x1000;
/// Addresses of the first sections, since each is smaller than a page.
const TABLES: u32 = 0x2000;
const RECORDS: u32 = 0x3000;
const BUNDLES: u32 = 0x4000;

#[derive(Clone)]
pub struct Dll {
    /// Bundles, one for each unit.
    pub bundles: Vec<Vec<u8>>,
    /// Changes of the finished file: offset and new bytes.
    pub changes: Vec<(usize, Vec<u8>)>,
    /// The imported DLL.
    pub needs: &'static str,
    /// Address to which the additional word points.
    pub other: u32,
    /// Address of the exported function.
    pub export: u32,
    /// Sections of zeros before the relocations.
    pub empty: usize,
    /// Symbols for debuggers, behind the sections.
    pub has_symbols: bool,
    pub has_checksum: bool,
    /// Bytes behind all others.
    pub behind: Vec<u8>,
}

struct Section {
    name: String,
    flags: u32,
    size: usize,
    bytes: Vec<u8>,
}

impl Dll {
    /// The two units of [`units::two`].
    pub fn of_two_units() -> Self {
        Self::new(&units::two())
    }

    pub fn new(bundles: &[Vec<u8>]) -> Self {
        Self {
            bundles: bundles.to_vec(),
            changes: Vec::new(),
            needs: RUNTIME,
            other: 0x1000,
            export: 0x1000,
            empty: 0,
            has_symbols: false,
            has_checksum: false,
            behind: Vec::new(),
        }
    }

    #[must_use]
    pub fn changed(mut self, at: usize, bytes: &[u8]) -> Self {
        self.changes.push((at, bytes.to_vec()));
        self
    }

    /// Addresses of the bundles.
    pub fn starts(&self) -> Vec<u32> {
        units::starts(&self.bundles, BUNDLES as usize).into_iter().map(|at| at as u32).collect()
    }

    fn section(&self) -> Vec<u8> {
        units::section(&self.bundles)
    }

    /// Address of the additional word.
    fn word(&self) -> u32 {
        BUNDLES + (self.section().len() as u32).next_multiple_of(0x1000)
    }

    fn sections(&self) -> Vec<Section> {
        let record = |start: &u32| {
            let words = [OF_BUNDLE, 1].map(u32::to_le_bytes).concat();
            [words, (BASE + u64::from(*start)).to_le_bytes().to_vec(), vec![0; 8]].concat()
        };
        let records: Vec<u8> = self.starts().iter().flat_map(record).collect();
        let word = (BASE + u64::from(self.other)).to_le_bytes().to_vec();
        let full = |name: &str, flags, bytes: Vec<u8>| Section {
            name: name.to_owned(),
            flags,
            size: bytes.len(),
            bytes,
        };
        let mut sections = vec![
            full(".text", 0x6000_0020, vec![0x31, 0xc0, 0xc3]),
            full(".rdata", 0x4000_0040, self.tables()),
            full(".hipFatB", 0x4000_0040, records),
            full(".hip_fat", 0x4000_0040, self.section()),
            full(".data", 0xc000_0040, word),
        ];
        for number in 0..self.empty {
            let (name, bytes) = (format!(".bss{number}"), Vec::new());
            sections.push(Section { name, flags: 0xc000_0080, size: 16, bytes });
        }
        sections.push(full(".reloc", 0x4200_0040, self.relocations()));
        sections
    }

    /// Import directory at 0, debug directory at 0x40, its data at 0x60, export directory at 0x80.
    fn tables(&self) -> Vec<u8> {
        let mut tables = vec![0; 0x100];
        let mut put = |at: usize, bytes: &[u8]| {
            tables.resize(tables.len().max(at + bytes.len()), 0);
            tables[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let words =
            |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        put(0, &words(&[0, 0, 0, TABLES + 0x100, TABLES + 0xe0]));
        let at = self.tables_at() as u32;
        put(0x40, &words(&[0, 0, 0, 2, 4, TABLES + 0x60, at + 0x60]));
        put(0x60, b"RSDS");
        put(
            0x80,
            &words(&[0, 0, 0, TABLES + 0xb0, 1, 1, 1, TABLES + 0xc0, TABLES + 0xc4, TABLES + 0xc8]),
        );
        put(0xb0, b"fat.dll\0one\0");
        put(0xc0, &words(&[self.export, TABLES + 0xb8, 0]));
        put(0x100, self.needs.as_bytes());
        put(0x100 + self.needs.len(), &[0]);
        tables
    }

    fn relocations(&self) -> Vec<u8> {
        let block = |page: u32, places: &[u32]| {
            let mut entries: Vec<u16> =
                places.iter().map(|place| 10 << 12 | (place - page) as u16).collect();
            entries.resize(entries.len().next_multiple_of(2), 0);
            let header = [page, 8 + 2 * entries.len() as u32].map(u32::to_le_bytes).concat();
            [header, entries.iter().flat_map(|entry| entry.to_le_bytes()).collect()].concat()
        };
        let pointers: Vec<u32> =
            (0..self.bundles.len() as u32).map(|at| RECORDS + 24 * at + 8).collect();
        [block(RECORDS, &pointers), block(self.word(), &[self.word()])].concat()
    }

    fn headers_size(&self) -> usize {
        (TABLE + 40 * (SECTIONS + self.empty)).next_multiple_of(IN_FILE)
    }

    /// Offset of `.rdata`.
    pub fn tables_at(&self) -> usize {
        self.headers_size() + IN_FILE
    }

    /// Offset of `.hipFatB`.
    pub fn records_at(&self) -> usize {
        self.tables_at() + self.tables_len().next_multiple_of(IN_FILE)
    }

    fn tables_len(&self) -> usize {
        0x101 + self.needs.len()
    }

    /// Offset of `.hip_fat`.
    pub fn bundles_at(&self) -> usize {
        self.records_at() + (24 * self.bundles.len()).next_multiple_of(IN_FILE)
    }

    /// Offset of `.reloc`.
    pub fn relocations_at(&self) -> usize {
        self.bundles_at() + self.section().len().next_multiple_of(IN_FILE) + IN_FILE
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (sections, headers) = (self.sections(), self.headers_size());
        let mut file = vec![0; headers];
        let mut table = Vec::new();
        let mut address = IN_MEMORY;
        for section in &sections {
            let (at, raw) = (file.len(), section.bytes.len().next_multiple_of(IN_FILE));
            let mut name = section.name.clone().into_bytes();
            name.resize(8, 0);
            table.extend(name);
            let at = if raw == 0 { 0 } else { at };
            let words =
                [section.size, address, raw, at, 0, 0, 0].map(|it| (it as u32).to_le_bytes());
            table.extend(words.concat());
            table.extend(section.flags.to_le_bytes());
            file.extend(&section.bytes);
            file.resize(file.len().next_multiple_of(IN_FILE), 0);
            address += section.size.next_multiple_of(IN_MEMORY);
        }
        let symbols = if self.has_symbols { file.len() } else { 0 };
        if self.has_symbols {
            let symbol =
                [b"one\0\0\0\0\0".to_vec(), vec![0, 0, 0, 0, 1, 0, 0x20, 0, 2, 0]].concat();
            file.extend([symbol, 8_u32.to_le_bytes().to_vec(), b"abc\0".to_vec()].concat());
        }
        file.extend(&self.behind);
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"MZ");
        put(0x3c, &0x80_u32.to_le_bytes());
        put(0x80, b"PE\0\0");
        put(FILE_HEADER, &0x8664_u16.to_le_bytes());
        put(FILE_HEADER + 2, &(sections.len() as u16).to_le_bytes());
        put(FILE_HEADER + 8, &(symbols as u32).to_le_bytes());
        put(FILE_HEADER + 12, &u32::from(self.has_symbols).to_le_bytes());
        put(FILE_HEADER + 16, &[240, 0, 0x22, 0x20]);
        put(OPTIONAL, &0x20b_u16.to_le_bytes());
        put(OPTIONAL + 24, &BASE.to_le_bytes());
        let words = |at: usize, words: &[usize]| {
            (at, words.iter().flat_map(|it| (*it as u32).to_le_bytes()).collect::<Vec<_>>())
        };
        for (at, bytes) in [
            words(8, &[0x2000]),
            words(32, &[IN_MEMORY, IN_FILE, 6, 0, 6, 0, address, headers]),
            words(68, &[2]),
            words(108, &[16]),
        ] {
            put(OPTIONAL + at, &bytes);
        }
        let reloc = (address - IN_MEMORY) as u32;
        let directories = [
            (0, TABLES + 0x80, 40),
            (1, TABLES, 40),
            (5, reloc, self.relocations().len() as u32),
            (6, TABLES + 0x40, 28),
        ];
        for (index, address, size) in directories {
            put(OPTIONAL + 112 + 8 * index, &[address, size].map(u32::to_le_bytes).concat());
        }
        put(TABLE, &table);
        if self.has_checksum {
            let sum = checksum(&file);
            file[OPTIONAL + 64..OPTIONAL + 68].copy_from_slice(&sum.to_le_bytes());
        }
        for (at, bytes) in &self.changes {
            file[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        file
    }
}

/// Checksum of a file whose field is zero.
pub fn checksum(file: &[u8]) -> u32 {
    let mut sum = 0_u32;
    for word in file.chunks(2) {
        sum += u32::from(word[0]) + (u32::from(*word.get(1).unwrap_or(&0)) << 8);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum + file.len() as u32
}

/// A section of a finished file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    pub memory: Range<usize>,
    pub file: Range<usize>,
    pub flags: u32,
}

/// Reads the section table.
pub fn places(file: &[u8]) -> Vec<Place> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_le_bytes(file[FILE_HEADER + 2..][..2].try_into().unwrap()));
    let place = |at: usize| Place {
        name: String::from_utf8_lossy(&file[at..at + 8]).trim_end_matches('\0').to_owned(),
        memory: word(at + 12)..word(at + 12) + word(at + 8),
        file: word(at + 20)..word(at + 20) + word(at + 16),
        flags: word(at + 36) as u32,
    };
    (0..count).map(|index| place(TABLE + 40 * index)).collect()
}

/// Returns the memory of a section, relocations not applied.
pub fn memory(file: &[u8], place: &Place) -> Vec<u8> {
    let mut bytes = file[place.file.clone()].to_vec();
    bytes.resize(place.memory.len(), 0);
    bytes
}
