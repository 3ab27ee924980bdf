//! Reader of the tables of symbol versions (`DT_VERNEED`, `DT_VERDEF`; LSB, "Symbol Versioning").

use object::Endianness;
use object::elf::{Verdaux, Verdef, Vernaux, Verneed};
use object::pod;

use super::error::ElfError;
use super::header::{Segment, read_bytes};
use crate::ReadAt;

/// Bytes read at first, which contain the tables of most libraries.
const WINDOW: u64 = 4096;

/// Needed library, or defined version. Names are offsets in the string table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VersionEntry {
    /// Offset in the table.
    pub at: u64,
    /// `vn_file` of a need; 0 for a definition.
    pub file: u64,
    /// Names of the needed versions, or of the defined version and its parents.
    pub names: Vec<u64>,
    /// `vna_other`, or `vd_ndx` of a definition.
    pub numbers: Vec<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Need,
    Definition,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Need => "DT_VERNEED",
            Self::Definition => "DT_VERDEF",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct VersionTable {
    pub entries: Vec<VersionEntry>,
    pub size: u64,
}

/// Verneed or Verdef.
struct EntryHeader {
    file: u64,
    count: u16,
    first_name: u64,
    next: u64,
    size: u64,
    number: Option<u16>,
}

impl VersionTable {
    /// Reads a table. Its size is not in the file, so the window grows until the table fits.
    pub(super) fn read(
        file: &(impl ReadAt + ?Sized),
        file_len: u64,
        loads: &[Segment],
        table: Table,
        (address, count): (u64, u64),
        endian: Endianness,
    ) -> Result<Self, ElfError> {
        let place = loads
            .iter()
            .filter(|load| load.is_load())
            .find_map(|load| Some((load, load.offset_of(address, 1)?)));
        let (load, offset) =
            place.ok_or(ElfError::NotFileBacked { field: table.name(), address })?;
        let rest = load.file_end() - offset;
        let mut window = WINDOW;
        loop {
            let bytes = read_bytes(file, file_len, offset, window.min(rest), table.name())?;
            match walk(table, &bytes, count, endian) {
                Err(_) if window < rest => window *= 4,
                Err(at) => return Err(ElfError::Versions { table: table.name(), offset: at }),
                Ok(read) => return Ok(read),
            }
        }
    }
}

/// Reads the entries of a table.
///
/// # Errors
/// The offset, in the table, of an invalid entry or name.
fn walk(table: Table, bytes: &[u8], count: u64, endian: Endianness) -> Result<VersionTable, u64> {
    let mut versions = VersionTable::default();
    let mut offset = 0;
    // Entries and names left to read: as many as have room without overlap, because overlapping
    // ones could take quadratic time.
    let mut budget = bytes.len() / size_of::<Verdaux<Endianness>>();
    let mut ranges = Vec::new();
    for _ in 0..count {
        let header = entry(table, bytes, offset, endian).ok_or(offset)?;
        let (mut names, mut numbers) = (Vec::new(), Vec::from_iter(header.number));
        let mut name_offset = offset + header.first_name;
        for _ in 0..header.count {
            budget = budget.checked_sub(1).ok_or(name_offset)?;
            let name = auxiliary(table, bytes, name_offset, endian).ok_or(name_offset)?;
            names.push(name.name);
            numbers.extend(name.number);
            versions.size = versions.size.max(name_offset + name.size);
            ranges.push((name_offset, name_offset + name.size));
            name_offset += name.next;
            if name.next == 0 {
                break;
            }
        }
        versions.size = versions.size.max(offset + header.size);
        ranges.push((offset, offset + header.size));
        versions.entries.push(VersionEntry { at: offset, file: header.file, names, numbers });
        budget = budget.checked_sub(1).ok_or(offset)?;
        if header.next == 0 {
            break;
        }
        offset += header.next;
    }
    // Needs must not overlap, because the new name of a library is written in place. Definitions
    // never change, and some linkers let them share parts.
    if table == Table::Need {
        ranges.sort_unstable();
        if let Some(pair) = ranges.windows(2).find(|pair| pair[1].0 < pair[0].1) {
            return Err(pair[1].0);
        }
    }
    Ok(versions)
}

fn entry(table: Table, bytes: &[u8], at: u64, endian: Endianness) -> Option<EntryHeader> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    Some(match table {
        Table::Need => {
            let (raw, _) = pod::from_bytes::<Verneed<Endianness>>(rest).ok()?;
            EntryHeader {
                file: raw.vn_file.get(endian).into(),
                count: raw.vn_cnt.get(endian),
                first_name: raw.vn_aux.get(endian).into(),
                next: raw.vn_next.get(endian).into(),
                size: size_of::<Verneed<Endianness>>() as u64,
                number: None,
            }
        }
        Table::Definition => {
            let (raw, _) = pod::from_bytes::<Verdef<Endianness>>(rest).ok()?;
            EntryHeader {
                file: 0,
                count: raw.vd_cnt.get(endian),
                first_name: raw.vd_aux.get(endian).into(),
                next: raw.vd_next.get(endian).into(),
                size: size_of::<Verdef<Endianness>>() as u64,
                number: Some(raw.vd_ndx.get(endian).0),
            }
        }
    })
}

/// Vernaux or Verdaux.
struct Auxiliary {
    name: u64,
    number: Option<u16>,
    /// 0 for the last.
    next: u64,
    size: u64,
}

fn auxiliary(table: Table, bytes: &[u8], at: u64, endian: Endianness) -> Option<Auxiliary> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    Some(match table {
        Table::Need => {
            let (raw, _) = pod::from_bytes::<Vernaux<Endianness>>(rest).ok()?;
            let number = Some(raw.vna_other.get(endian).0);
            Auxiliary {
                name: raw.vna_name.get(endian).into(),
                number,
                next: raw.vna_next.get(endian).into(),
                size: size_of::<Vernaux<Endianness>>() as u64,
            }
        }
        Table::Definition => {
            let (raw, _) = pod::from_bytes::<Verdaux<Endianness>>(rest).ok()?;
            Auxiliary {
                name: raw.vda_name.get(endian).into(),
                number: None,
                next: raw.vda_next.get(endian).into(),
                size: size_of::<Verdaux<Endianness>>() as u64,
            }
        }
    })
}
