//! Device code in programs and libraries of hosts: where it is, and the file without it.
//!
//! What is relied on, by clang's code generation for HIP and by what HIP's runtime reads (`ROCm/rocm-systems`:
//! `projects/clr/hipamd`, `StatCO::digestFatBinary`; `shared/kpack`, `python/rocm_kpack/elf/kpack_transform.py`):
//!
//! - The section `.hip_fatbin` has offload bundles, one for each unit that was compiled, with zeros between.
//! - `.hipFatBinSegment` has a record of 24 bytes for each of them: four bytes of magic number (`HIPF`), a version (1),
//!   the bundle's address, and eight bytes that are zero. In what loads anywhere, loaders fill the address.
//! - With the magic number `HIPK` the address is that of a marker which tells where archives of code are, and the last
//!   eight bytes are the number of the bundle: archives have code by binary, number and target.
//!
//! So the marker is put where each bundle began, and the rest of the bundle is made zeros. No address changes
//! then, no relocation, no header and no length. (The build's own tools add a segment for the marker, and cut the
//! pages of the bundles out of the file.) Only names tell these two sections: this is the one place that asks for them.

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

/// Bytes of a record.
const RECORD: usize = 24;
/// Where the bundle's address stands in a record.
const ADDRESS: u64 = 8;
/// Where its number does.
const NUMBER: usize = 16;
/// The magic number of records of bundles, `HIPF`.
const OF_BUNDLE: u32 = 0x4849_5046;
/// That of records of markers, `HIPK`.
const OF_MARKER: u32 = 0x4b50_4948;
/// The version of both.
const VERSION: u32 = 1;

/// A program or a library with device code, of which it is known what leads to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FatElf {
    length: u64,
    /// The bundles, by place in the file.
    section: Range<u64>,
    records: Vec<Record>,
}

/// A record of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    /// Where it is in the file.
    at: u64,
    /// Where its bundle is.
    bundle: u64,
}

impl FatElf {
    /// Finds the bundles of a program or a library.
    ///
    /// # Errors
    /// When something about them is not as compilers make it, or anything but their records leads to them.
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

    /// Where each bundle can be, from its first byte to where the next begins, by their numbers.
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

/// The one section of this name, with bytes that are in memory as they are in the file.
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

/// Whether no table and no other section has bytes of a section.
fn is_alone(info: &ElfInfo, file: &impl ReadAt, section: &Section) -> bool {
    let own = |start: u64, end: u64| start == section.offset && end == section.file_end();
    let mut others = info.claims(file);
    // A claim of the section itself is there once; a second one is another's.
    if let Some(at) = others.iter().position(|claim| own(claim.start, claim.end)) {
        others.remove(at);
    }
    !others.iter().any(|claim| claim.start < section.file_end() && section.offset < claim.end)
}

/// The words of records that loaders fill; what they fill elsewhere has nothing to do with bundles.
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

/// The address of the bundle that the record at `address` is of.
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
        // A program for one place has the address in the record.
        (None, _) if !moves => info.word_at(file, address + ADDRESS).ok_or(FatError::Unreadable),
        _ => Err(FatError::Address { address }),
    }
}
