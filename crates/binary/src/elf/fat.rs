//! Device code in ELF files.
//!
//! - `.hip_fatbin` has the bundles, `.hipFatBinSegment` the records.
//! - In position-independent files, loaders fill in the records' addresses, which can be that of a
//!   dynamic symbol (`-fgpu-rdc`).
//! - The section `.rocm_kpack_ref` is the marker, and `.hip_fatbin` has no bytes in the file.
//!
//! The marker ends a page. From there on, the LOAD has memory without bytes; the rest becomes a
//! LOAD with the old addresses.

use std::ops::Range;

use object::elf;

use super::error::ElfError;
use super::facts::ElfFacts;
use super::header::{Section, read_bytes};
use super::info::{ElfInfo, ElfKind, inspect};
use crate::fat::{ADDRESS_OFFSET, FatError, RECORD_SIZE, Records, check_record};
use crate::{Machine, ReadAt};
use base::names::offload::{BUNDLES, MARKER, RECORDS};
use references::References;

mod emptying;
mod pages;
mod proof;
mod references;
mod tail;

/// File with device code.
#[derive(Debug, Clone)]
pub(crate) struct FatElf {
    info: ElfInfo,
    section: usize,
    records: Records,
    symbols: Vec<u64>,
}

impl FatElf {
    /// Finds the bundles; `None` for another format.
    pub fn read(file: &impl ReadAt) -> Result<Option<Self>, FatError> {
        let info = match inspect(file) {
            Err(ElfError::NotElf) => return Ok(None),
            info => info?,
        };
        if info.machine != Machine::X86_64 {
            return Err(FatError::Machine);
        }
        if !matches!(info.kind, ElfKind::SharedLibrary | ElfKind::Executable) {
            return Err(FatError::Kind);
        }
        let index = section(&info, file, BUNDLES)?;
        let (bundles, records) =
            (&info.sections[index], &info.sections[section(&info, file, RECORDS)?]);
        if records.size % RECORD_SIZE as u64 != 0 {
            return Err(FatError::Records { size: records.size });
        }
        let (code, table) = (addresses(bundles), addresses(records));
        // Loaders write to RELRO pages and then protect them; linkers put no device code there.
        let is_protected = info
            .segment(elf::PT_GNU_RELRO)
            .is_some_and(|segment| segment.address < code.end && code.start < segment.memory_end());
        if is_protected {
            return Err(FatError::Protected);
        }
        if [bundles, records].into_iter().any(|section| info.is_shared(file, section)) {
            return Err(FatError::Shared);
        }
        if info.names_any(code.clone()) {
            return Err(FatError::Named);
        }
        let references = References::read(&info, file, &code, &table)?;
        let mut records = Records::default();
        for address in (table.start..table.end).step_by(RECORD_SIZE) {
            let (target, addend) = record(&info, file, address, &references)?;
            if !code.contains(&target) {
                return Err(FatError::Outside { address, section: BUNDLES });
            }
            records.add(address, target, addend);
        }
        let symbols = references.symbols_of(&records.bundles)?;
        Ok(Some(Self { section: index, records, symbols, info }))
    }

    /// Returns the facts of the file.
    pub fn facts(&self) -> Result<ElfFacts, ElfError> {
        self.info.facts()
    }

    /// File range from each bundle to the next, by number.
    pub fn bundles(&self) -> Vec<Range<u64>> {
        self.records.ranges(|address| self.offset(address), self.section().file_end())
    }

    fn offset(&self, address: u64) -> u64 {
        let section = self.section();
        section.offset + (address - section.address)
    }

    fn section(&self) -> &Section {
        &self.info.sections[self.section]
    }
}

fn addresses(section: &Section) -> Range<u64> {
    section.address..section.address.saturating_add(section.size)
}

fn names(info: &ElfInfo, file: &(impl ReadAt + ?Sized)) -> Result<(usize, Vec<u8>), FatError> {
    const E_SHSTRNDX: u64 = 62;
    let index = read_bytes(file, info.file_len, E_SHSTRNDX, 2, "the ELF header")?;
    let index = usize::from(u16::from_le_bytes([index[0], index[1]]));
    let names = match info.sections.get(index) {
        Some(names) => {
            read_bytes(file, info.file_len, names.offset, names.size, "the names of sections")?
        }
        None => Vec::new(),
    };
    Ok((index, names))
}

/// Returns whether the code of a file is in archives.
pub(crate) fn has_marker(file: &(impl ReadAt + ?Sized)) -> bool {
    inspect(file).is_ok_and(|info| section(&info, file, MARKER).is_ok())
}

fn section(
    info: &ElfInfo,
    file: &(impl ReadAt + ?Sized),
    name: &'static str,
) -> Result<usize, FatError> {
    let (_, names) = names(info, file)?;
    let is_it = |section: &Section| {
        let start = usize::try_from(section.name).ok().and_then(|at| names.get(at..));
        start.is_some_and(|start| {
            start.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(&[0]))
        })
    };
    let indices = 0..info.sections.len();
    let matching: Vec<usize> = indices.filter(|index| is_it(&info.sections[*index])).collect();
    let [index] = matching[..] else {
        return Err(FatError::Sections { name, count: matching.len() });
    };
    let section = &info.sections[index];
    let mapped = info.offset_of(section.address, section.size) == Some(section.offset);
    if mapped && section.is_allocated() && section.kind == elf::SHT_PROGBITS && section.size > 0 {
        Ok(index)
    } else {
        Err(FatError::Unmapped { name })
    }
}

fn record(
    info: &ElfInfo,
    file: &impl ReadAt,
    address: u64,
    references: &References,
) -> Result<(u64, Option<u64>), FatError> {
    let bytes = info.read_at(file, address, RECORD_SIZE as u64).ok_or(FatError::Unreadable)?;
    check_record(&bytes, address)?;
    let moves = info.header.as_ref().is_none_or(|header| header.kind != elf::ET_EXEC);
    match references.target_at(address + ADDRESS_OFFSET)? {
        Some(reference) => Ok(reference),
        // A program with a fixed address has the bundle's address in the record.
        None if !moves => {
            let target =
                info.word_at(file, address + ADDRESS_OFFSET).ok_or(FatError::Unreadable)?;
            Ok((target, None))
        }
        None => Err(FatError::Address { address }),
    }
}
