//! Device code in host binaries.
//!
//! Sources are clang's code generation and HIP's runtime (`ROCm/rocm-systems`:
//! `projects/clr/hipamd`, `StatCO::digestFatBinary`; `shared/kpack`,
//! `python/rocm_kpack/elf/kpack_transform.py`):
//!
//! - `.hip_fatbin` contains offload bundles, one per compilation unit, separated by zeros.
//! - `.hipFatBinSegment` contains a record of 24 bytes per bundle: magic number `HIPF` (four
//!   bytes), version 1, address of the bundle, eight zero bytes. In position-independent files,
//!   loaders fill in the address.
//! - With the magic number `HIPK`, the address is of a marker that refers to code archives, and the
//!   last eight bytes are the index of the bundle: archives are keyed by binary, index and target.
//!
//! The marker replaces the start of each bundle, and the rest becomes zeros, so addresses,
//! relocations, headers and the length stay. (ROCm's build tools add a segment and cut pages.) Only
//! this module depends on section names.

use std::ops::Range;

use object::elf;

use super::header::{Section, read_bytes};
use super::info::{ElfInfo, ElfKind, inspect};
use super::pointers::Filled;
use crate::{Machine, ReadAt};
use base::names::offload::{BUNDLES, RECORDS};

mod emptied;
mod error;
mod proof;

pub use emptied::{Emptied, Emptying};
pub use error::FatError;
pub use proof::prove;

const RECORD: usize = 24;
const ADDRESS: u64 = 8;
const NUMBER: usize = 16;
/// `HIPF`.
const OF_BUNDLE: u32 = 0x4849_5046;
/// `HIPK`.
const OF_MARKER: u32 = 0x4b50_4948;
const VERSION: u32 = 1;

/// File with device code to which only records refer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FatElf {
    length: u64,
    section: Range<u64>,
    records: Vec<Record>,
}

/// File offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    at: u64,
    bundle: u64,
}

impl FatElf {
    /// Finds the bundles.
    ///
    /// # Errors
    /// If the layout is unusual, or anything other than a record refers to a bundle.
    pub fn read(file: &impl ReadAt) -> Result<Self, FatError> {
        let info = inspect(file)?;
        if info.machine != Machine::X86_64 {
            return Err(FatError::Machine);
        }
        if !matches!(info.kind, ElfKind::SharedLibrary | ElfKind::Executable) {
            return Err(FatError::Kind);
        }
        let (bundles, records) = (section(&info, file, BUNDLES)?, section(&info, file, RECORDS)?);
        if records.size % RECORD as u64 != 0 {
            return Err(FatError::Records { size: records.size });
        }
        let (code, table) = (addresses(bundles), addresses(records));
        if [bundles, records].into_iter().any(|section| !is_alone(&info, file, section)) {
            return Err(FatError::Shared);
        }
        if info.names_any(file, code.clone()) != Some(false) {
            return Err(FatError::Named);
        }
        let filled = filled(&info, file, &code, &table)?;
        let mut all = Vec::new();
        for address in (table.start..table.end).step_by(RECORD) {
            let bundle = record(&info, file, address, &filled)?;
            let inside = bundle.checked_sub(code.start).filter(|at| *at < bundles.size);
            let bundle = inside.ok_or(FatError::Outside { address })? + bundles.offset;
            if all.iter().any(|other: &Record| other.bundle == bundle) {
                return Err(FatError::Twice { address });
            }
            all.push(Record { at: records.offset + (address - table.start), bundle });
        }
        let section = bundles.offset..bundles.file_end();
        Ok(Self { length: info.file_len, section, records: all })
    }

    /// Returns the file range from each bundle to the next.
    pub fn bundles(&self) -> Vec<Range<u64>> {
        let end = |start: u64| {
            let later = self.records.iter().map(|record| record.bundle).filter(|at| *at > start);
            later.min().unwrap_or(self.section.end)
        };
        self.records.iter().map(|record| record.bundle..end(record.bundle)).collect()
    }
}

fn addresses(section: &Section) -> Range<u64> {
    section.address..section.address.saturating_add(section.size)
}

/// The only section with this name, mapped as in the file.
fn section<'i>(
    info: &'i ElfInfo,
    file: &impl ReadAt,
    name: &'static str,
) -> Result<&'i Section, FatError> {
    const E_SHSTRNDX: u64 = 62;
    let index = read_bytes(file, info.file_len, E_SHSTRNDX, 2, "the ELF header")?;
    let index = usize::from(u16::from_le_bytes([index[0], index[1]]));
    let names = match info.sections.get(index) {
        Some(names) => {
            read_bytes(file, info.file_len, names.offset, names.size, "the names of sections")?
        }
        None => Vec::new(),
    };
    let is_it = |section: &&Section| {
        let start = usize::try_from(section.name).ok().and_then(|at| names.get(at..));
        start.is_some_and(|start| {
            start.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(&[0]))
        })
    };
    let all: Vec<&Section> = info.sections.iter().filter(is_it).collect();
    let [one] = all[..] else { return Err(FatError::Sections { name, count: all.len() }) };
    let mapped = info.offset_of(one.address, one.size) == Some(one.offset);
    if mapped && one.is_allocated() && one.kind == elf::SHT_PROGBITS && one.size > 0 {
        Ok(one)
    } else {
        Err(FatError::Unmapped { name })
    }
}

fn is_alone(info: &ElfInfo, file: &impl ReadAt, section: &Section) -> bool {
    let own = |start: u64, end: u64| start == section.offset && end == section.file_end();
    let mut others = info.claims(file);
    // The section's own claim; an equal second claim belongs to another table.
    if let Some(at) = others.iter().position(|claim| own(claim.start, claim.end)) {
        others.remove(at);
    }
    !others.iter().any(|claim| claim.start < section.file_end() && section.offset < claim.end)
}

/// Rejects relocations of bundles and records, except the records' addresses.
fn filled(
    info: &ElfInfo,
    file: &impl ReadAt,
    code: &Range<u64>,
    table: &Range<u64>,
) -> Result<Vec<Filled>, FatError> {
    const WORD: u64 = 8;
    let (mut own, mut wrong) = (Vec::new(), None);
    let touches =
        |word: u64, range: &Range<u64>| word < range.end && range.start < word.saturating_add(WORD);
    let read = info.each_filled(file, |it| {
        let in_table = touches(it.place, table);
        let is_address = in_table && it.place.wrapping_sub(table.start) % RECORD as u64 == ADDRESS;
        let leads = it.to.is_some_and(|to| code.contains(&to));
        if is_address && it.relative {
            own.push(it);
        } else if in_table || leads || touches(it.place, code) {
            wrong.get_or_insert(it.place);
        }
    });
    read.ok_or(FatError::Unreadable)?;
    match wrong {
        Some(address) => Err(FatError::Relocation { address }),
        None => Ok(own),
    }
}

fn record(
    info: &ElfInfo,
    file: &impl ReadAt,
    address: u64,
    filled: &[Filled],
) -> Result<u64, FatError> {
    let bytes = info.read_at(file, address, RECORD as u64).ok_or(FatError::Unreadable)?;
    let start = [OF_BUNDLE.to_le_bytes(), VERSION.to_le_bytes()].concat();
    if bytes[..start.len()] != start || bytes[NUMBER..] != [0; 8] {
        return Err(FatError::Record { address });
    }
    let fills: Vec<&Filled> = filled.iter().filter(|it| it.place == address + ADDRESS).collect();
    let moves = info.header.as_ref().is_none_or(|header| header.kind != elf::ET_EXEC);
    match (fills[..].first(), fills.len()) {
        (Some(Filled { to: Some(to), .. }), 1) => Ok(*to),
        // A program with a fixed address has the bundle's address in the record.
        (None, _) if !moves => info.word_at(file, address + ADDRESS).ok_or(FatError::Unreadable),
        _ => Err(FatError::Address { address }),
    }
}
