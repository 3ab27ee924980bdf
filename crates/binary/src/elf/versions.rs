use object::Endianness;
use object::elf::{Verdaux, Verdef, Vernaux, Verneed};
use object::pod;

use super::error::ElfError;
use super::header::{Segment, read_bytes};
use crate::ReadAt;

/// Tables of real libraries are smaller.
const WINDOW: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Versions {
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
    pub entries: Vec<Versions>,
    pub size: u64,
}

struct Parts {
    file: u64,
    count: u16,
    names: u64,
    next: u64,
    size: u64,
    number: Option<u16>,
}

impl VersionTable {
    /// Reads larger windows: the size is not recorded.
    pub(super) fn read(
        file: &(impl ReadAt + ?Sized),
        have: u64,
        loads: &[Segment],
        table: Table,
        (address, count): (u64, u64),
        endian: Endianness,
    ) -> Result<Self, ElfError> {
        let home = loads
            .iter()
            .filter(|load| load.is_load())
            .find_map(|load| Some((load, load.offset_of(address, 1)?)));
        let (load, offset) =
            home.ok_or(ElfError::NotFileBacked { field: table.name(), address })?;
        let most = load.file_end() - offset;
        let mut window = WINDOW;
        loop {
            let bytes = read_bytes(file, have, offset, window.min(most), table.name())?;
            match walk(table, &bytes, count, endian) {
                Err(_) if window < most => window *= 4,
                Err(at) => return Err(ElfError::Versions { table: table.name(), offset: at }),
                Ok(read) => return Ok(read),
            }
        }
    }
}

fn walk(table: Table, bytes: &[u8], count: u64, endian: Endianness) -> Result<VersionTable, u64> {
    let mut versions = VersionTable::default();
    let mut offset = 0;
    // Limit of names: overlapping entries could otherwise take quadratic time.
    let mut budget = bytes.len() / size_of::<Verdaux<Endianness>>();
    let mut places = Vec::new();
    for _ in 0..count {
        let parts = entry(table, bytes, offset, endian).ok_or(offset)?;
        let (mut names, mut numbers) = (Vec::new(), Vec::from_iter(parts.number));
        let mut aux = offset + parts.names;
        for _ in 0..parts.count {
            budget = budget.checked_sub(1).ok_or(aux)?;
            let name = auxiliary(table, bytes, aux, endian).ok_or(aux)?;
            names.push(name.offset);
            numbers.extend(name.number);
            versions.size = versions.size.max(aux + name.size);
            places.push((aux, aux + name.size));
            aux += name.next;
            if name.next == 0 {
                break;
            }
        }
        versions.size = versions.size.max(offset + parts.size);
        places.push((offset, offset + parts.size));
        versions.entries.push(Versions { at: offset, file: parts.file, names, numbers });
        budget = budget.checked_sub(1).ok_or(offset)?;
        if parts.next == 0 {
            break;
        }
        offset += parts.next;
    }
    // Renaming a library would change overlapping parts. Definitions never change, and some linkers
    // let them share parts.
    places.sort_unstable();
    match places.windows(2).find(|pair| table == Table::Need && pair[1].0 < pair[0].1) {
        Some(pair) => Err(pair[1].0),
        None => Ok(versions),
    }
}

fn entry(table: Table, bytes: &[u8], at: u64, endian: Endianness) -> Option<Parts> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    Some(match table {
        Table::Need => {
            let (raw, _) = pod::from_bytes::<Verneed<Endianness>>(rest).ok()?;
            let names = raw.vn_aux.get(endian).into();
            Parts {
                file: raw.vn_file.get(endian).into(),
                count: raw.vn_cnt.get(endian),
                names,
                next: raw.vn_next.get(endian).into(),
                size: size_of::<Verneed<Endianness>>() as u64,
                number: None,
            }
        }
        Table::Definition => {
            let (raw, _) = pod::from_bytes::<Verdef<Endianness>>(rest).ok()?;
            Parts {
                file: 0,
                count: raw.vd_cnt.get(endian),
                names: raw.vd_aux.get(endian).into(),
                next: raw.vd_next.get(endian).into(),
                size: size_of::<Verdef<Endianness>>() as u64,
                number: Some(raw.vd_ndx.get(endian).0),
            }
        }
    })
}

struct Name {
    offset: u64,
    number: Option<u16>,
    /// 0 for the last.
    next: u64,
    size: u64,
}

fn auxiliary(table: Table, bytes: &[u8], at: u64, endian: Endianness) -> Option<Name> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    Some(match table {
        Table::Need => {
            let (raw, _) = pod::from_bytes::<Vernaux<Endianness>>(rest).ok()?;
            let number = Some(raw.vna_other.get(endian).0);
            Name {
                offset: raw.vna_name.get(endian).into(),
                number,
                next: raw.vna_next.get(endian).into(),
                size: size_of::<Vernaux<Endianness>>() as u64,
            }
        }
        Table::Definition => {
            let (raw, _) = pod::from_bytes::<Verdaux<Endianness>>(rest).ok()?;
            let offset = raw.vda_name.get(endian).into();
            Name {
                offset,
                number: None,
                next: raw.vda_next.get(endian).into(),
                size: size_of::<Verdaux<Endianness>>() as u64,
            }
        }
    })
}
