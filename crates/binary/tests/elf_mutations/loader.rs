//! A file as seen by a loader: the bytes at each address, and everything reachable from the program
//! headers and the dynamic section.
//!
//! It shares no code with the editor, and follows glibc's `_dl_map_object_from_fd` and the gABI.

/// Fields of a program header (gABI, "Program Header").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

pub const LOAD: u32 = 1;
pub const DYNAMIC: u32 = 2;
pub const INTERP: u32 = 3;
pub const NOTE: u32 = 4;
pub const TLS: u32 = 7;
pub const EH_FRAME: u32 = 0x6474_e550;
pub const STACK: u32 = 0x6474_e551;
pub const RELRO: u32 = 0x6474_e552;
pub const PROPERTY: u32 = 0x6474_e553;

/// Tags of the dynamic section (gABI, "Dynamic Section", and glibc's elf.h).
pub mod tag {
    pub const NEEDED: u64 = 1;
    pub const PLTRELSZ: u64 = 2;
    pub const HASH: u64 = 4;
    pub const STRTAB: u64 = 5;
    pub const SYMTAB: u64 = 6;
    pub const RELA: u64 = 7;
    pub const RELASZ: u64 = 8;
    pub const STRSZ: u64 = 10;
    pub const INIT: u64 = 12;
    pub const FINI: u64 = 13;
    pub const SONAME: u64 = 14;
    pub const RPATH: u64 = 15;
    pub const REL: u64 = 17;
    pub const RELSZ: u64 = 18;
    pub const PLTREL: u64 = 20;
    pub const JMPREL: u64 = 23;
    pub const INIT_ARRAY: u64 = 25;
    pub const FINI_ARRAY: u64 = 26;
    pub const INIT_ARRAYSZ: u64 = 27;
    pub const FINI_ARRAYSZ: u64 = 28;
    pub const RUNPATH: u64 = 29;
    pub const PREINIT_ARRAY: u64 = 32;
    pub const PREINIT_ARRAYSZ: u64 = 33;
    pub const RELRSZ: u64 = 35;
    pub const RELR: u64 = 36;
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    pub const VERSYM: u64 = 0x6fff_fff0;
    pub const RELACOUNT: u64 = 0x6fff_fff9;
    pub const VERDEF: u64 = 0x6fff_fffc;
    pub const VERNEED: u64 = 0x6fff_fffe;
    pub const VERNEEDNUM: u64 = 0x6fff_ffff;
}

pub struct Image<'a> {
    pub file: &'a [u8],
    pub segments: Vec<Segment>,
    /// Offset and length of the program header table.
    pub table: (u64, u64),
    /// Entries before the first zero entry.
    pub dynamic: Vec<(u64, u64)>,
}

/// Reads a little-endian number of `len` bytes at `at`.
pub fn number(bytes: &[u8], at: u64, len: usize) -> Option<u64> {
    let start = usize::try_from(at).ok()?;
    let bytes = bytes.get(start..start.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)))
}

impl<'a> Image<'a> {
    /// Maps a file. Returns `None` if a loader would refuse it.
    pub fn map(file: &'a [u8]) -> Option<Self> {
        let field = |at, len| number(file, at, len);
        // The identification up to its version; the size of a program header.
        let is_elf = file.get(..4)? == b"\x7fELF" && file[4..7] == [2, 1, 1];
        if !is_elf || field(20, 4)? != 1 || field(54, 2)? != 56 {
            return None;
        }
        let (table_at, count) = (field(32, 8)?, field(56, 2)?);
        let mut segments = Vec::new();
        for index in 0..count {
            let at = table_at.checked_add(index * 56)?;
            segments.push(Segment {
                kind: u32::try_from(field(at, 4)?).ok()?,
                flags: u32::try_from(field(at + 4, 4)?).ok()?,
                offset: field(at + 8, 8)?,
                address: field(at + 16, 8)?,
                file_size: field(at + 32, 8)?,
                memory_size: field(at + 40, 8)?,
                align: field(at + 48, 8)?,
            });
        }
        let mut image = Self { file, segments, table: (table_at, count * 56), dynamic: Vec::new() };
        if !image.loads_are_right() {
            return None;
        }
        image.dynamic = image.read_dynamic()?;
        Some(image)
    }

    /// Checks glibc's conditions for LOADs, and that they ascend, as the gABI requires.
    fn loads_are_right(&self) -> bool {
        let right = |load: &&Segment| {
            let align = load.align.max(1);
            align.is_power_of_two()
                && load.address.wrapping_sub(load.offset).is_multiple_of(align)
                && load.file_size <= load.memory_size
                && load
                    .offset
                    .checked_add(load.file_size)
                    .is_some_and(|end| end <= self.file.len() as u64)
                && load.address.checked_add(load.memory_size).is_some()
        };
        let loads: Vec<_> = self.loads().collect();
        !loads.is_empty()
            && loads.iter().all(right)
            && loads.windows(2).all(|pair| pair[0].address <= pair[1].address)
    }

    fn read_dynamic(&self) -> Option<Vec<(u64, u64)>> {
        let segment = self.segments.iter().rfind(|segment| segment.kind == DYNAMIC)?;
        let mut entries = Vec::new();
        // glibc reads up to the end mark, and ignores the size in the header.
        for index in 0..self.file.len() as u64 / 16 {
            let entry = self.read(segment.address.checked_add(index * 16)?, 16)?;
            let (tag, value) = (number(&entry, 0, 8)?, number(&entry, 8, 8)?);
            if tag == 0 {
                break;
            }
            entries.push((tag, value));
        }
        Some(entries)
    }

    pub fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == LOAD)
    }

    /// Returns the offset of the byte at an address.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let has =
            |load: &&Segment| load.address <= address && address - load.address < load.file_size;
        let load = self.loads().filter(has).last()?;
        Some(load.offset + (address - load.address))
    }

    /// Returns the byte at an address: from the file, or zero. The last LOAD with the address
    /// counts.
    fn byte(&self, address: u64) -> Option<u8> {
        let mut loads: Vec<_> = self.loads().collect();
        loads.reverse();
        let load = loads
            .into_iter()
            .find(|load| load.address <= address && address - load.address < load.memory_size)?;
        let inside = address - load.address;
        if inside >= load.file_size {
            return Some(0);
        }
        self.file.get(usize::try_from(load.offset + inside).ok()?).copied()
    }

    /// Reads `len` bytes of memory. Returns `None` if some are not mapped; lengths beyond any file
    /// are not read.
    pub fn read(&self, address: u64, len: u64) -> Option<Vec<u8>> {
        let one = self.loads().filter(|load| {
            load.address <= address
                && address.checked_add(len).is_some_and(|end| end <= load.address + load.file_size)
        });
        if let [load] = one.collect::<Vec<_>>()[..] {
            let at = usize::try_from(load.offset + (address - load.address)).ok()?;
            return Some(self.file.get(at..at + usize::try_from(len).ok()?)?.to_vec());
        }
        if len > self.file.len() as u64 {
            return None;
        }
        (0..len).map(|inside| self.byte(address.checked_add(inside)?)).collect()
    }

    /// Returns the value of the last entry of a tag, which is the effective one.
    pub fn entry(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().rfind(|entry| entry.0 == tag).map(|entry| entry.1)
    }

    /// Reads the string at an offset of the string table.
    pub fn string(&self, offset: u64) -> Option<Vec<u8>> {
        let mut at = self.entry(tag::STRTAB)?.checked_add(offset)?;
        let mut text = Vec::new();
        loop {
            match self.byte(at)? {
                0 => return Some(text),
                byte => text.push(byte),
            }
            at = at.checked_add(1)?;
        }
    }

    /// Returns the number of symbols in the hash tables.
    pub fn symbol_count(&self) -> u64 {
        self.hash_count().unwrap_or(0).max(self.gnu_hash_len().map_or(0, |(count, _)| count))
    }

    fn hash_count(&self) -> Option<u64> {
        number(&self.read(self.entry(tag::HASH)?.checked_add(4)?, 4)?, 0, 4)
    }

    /// Returns the number of symbols in `DT_GNU_HASH`, and its length in bytes.
    pub fn gnu_hash_len(&self) -> Option<(u64, u64)> {
        let at = self.entry(tag::GNU_HASH)?;
        let header = self.read(at, 16)?;
        let field = |at| number(&header, at, 4);
        let (buckets, base, bloom) = (field(0)?, field(4)?, field(8)?);
        let chains_at = 16 + 8 * bloom + 4 * buckets;
        let heads = self.read(at.checked_add(16 + 8 * bloom)?, 4 * buckets)?;
        let last = (0..buckets).filter_map(|bucket| number(&heads, 4 * bucket, 4)).max()?;
        if last == 0 || last < base {
            return Some((0, chains_at));
        }
        let mut symbol = last;
        loop {
            let link = at.checked_add(chains_at)?.checked_add(4 * (symbol - base))?;
            symbol += 1;
            if number(&self.read(link, 4)?, 0, 4)? & 1 == 1 {
                return Some((symbol, chains_at + 4 * (symbol - base)));
            }
        }
    }
}
