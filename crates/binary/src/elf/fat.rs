//! Device code in host binaries.
//!
//! Sources: clang's code generation and HIP's runtime (`ROCm/rocm-systems`: `projects/clr/hipamd`,
//! `StatCO::digestFatBinary`; `shared/kpack`, `python/rocm_kpack/elf/kpack_transform.py`,
//! `python/rocm_kpack/tools/verify_artifacts.py`).
//!
//! - `.hip_fatbin` contains offload bundles, separated by zeros: one per compilation unit, or one
//!   for all units (`-fgpu-rdc`).
//! - `.hipFatBinSegment` contains a record of 24 bytes per unit: magic number `HIPF` (four bytes),
//!   version 1, address of the bundle, eight zero bytes. In position-independent files, loaders
//!   fill in the address, which can be that of a dynamic symbol (`-fgpu-rdc`).
//! - In files whose code is in archives, records have the magic number `HIPK`. Their address points
//!   to a marker that names the archives, and their last eight bytes are the index of the bundle.
//!   The section `.rocm_kpack_ref` contains the marker, and `.hip_fatbin` has no bytes in the file.
//!
//! rockpack writes the marker at the end of a page. The pages after it have memory, but no bytes in
//! the file. If bytes follow the bundles, they get a LOAD of their own at their old addresses.

use std::ops::Range;

use object::elf;

use super::error::ElfError;
use super::facts::ElfFacts;
use super::header::{Section, read_bytes};
use super::info::{ElfInfo, ElfKind, inspect};
use crate::{Machine, ReadAt};
use base::names::offload::{BUNDLES, MARKER, RECORDS};
use references::References;

mod emptied;
mod emptying;
mod error;
mod pages;
mod proof;
mod references;
mod tail;

pub use emptied::{Emptied, Emptying};
pub use error::FatError;
pub use proof::prove;

/// Size of a record in bytes.
const RECORD_SIZE: usize = 24;
/// Offset of the address in a record.
const ADDRESS_OFFSET: u64 = 8;
/// Offset of the index in a record.
const INDEX_OFFSET: usize = 16;
/// `HIPF`, in records of bundles.
const BUNDLE_MAGIC: u32 = 0x4849_5046;
/// `HIPK`, in records of markers.
const MARKER_MAGIC: u32 = 0x4b50_4948;
const VERSION: u32 = 1;

/// File with device code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FatElf {
    info: ElfInfo,
    section: usize,
    bundles: Vec<u64>,
    records: Vec<Record>,
    symbols: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    address: u64,
    bundle: usize,
    addend: Option<u64>,
}

impl FatElf {
    /// Reads the bundles with their records and all references to them.
    ///
    /// # Errors
    /// If the layout is unusual, or anything but a record refers to a bundle.
    pub fn read(file: &impl ReadAt) -> Result<Self, FatError> {
        let info = inspect(file)?;
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
        if [bundles, records].into_iter().any(|section| !is_alone(&info, file, section)) {
            return Err(FatError::Shared);
        }
        if info.names_any(code.clone()) {
            return Err(FatError::Named);
        }
        let references = References::read(&info, file, &code, &table)?;
        let (mut bundles, mut records) = (Vec::new(), Vec::new());
        for address in (table.start..table.end).step_by(RECORD_SIZE) {
            let (target, addend) = record(&info, file, address, &references)?;
            if !code.contains(&target) {
                return Err(FatError::Outside { address });
            }
            let index = bundles.iter().position(|bundle| *bundle == target);
            let bundle = index.unwrap_or_else(|| {
                bundles.push(target);
                bundles.len() - 1
            });
            records.push(Record { address, bundle, addend });
        }
        let symbols = references.symbols_of(&bundles)?;
        Ok(Self { section: index, bundles, records, symbols, info })
    }

    /// Returns the facts of the file.
    pub fn facts(&self) -> Result<ElfFacts, ElfError> {
        self.info.facts()
    }

    /// Returns the file ranges of the bundles, in the order of their indices. Each ends at the next
    /// bundle in the file, or at the end of the section.
    pub fn bundles(&self) -> Vec<Range<u64>> {
        let end = |start: u64| {
            let later = self.bundles.iter().filter(|at| **at > start);
            later.min().map_or(self.section().file_end(), |at| self.offset(*at))
        };
        self.bundles.iter().map(|at| self.offset(*at)..end(*at)).collect()
    }

    fn offset(&self, address: u64) -> u64 {
        let section = self.section();
        section.offset + (address - section.address)
    }

    fn section(&self) -> &Section {
        &self.info.sections[self.section]
    }

    /// Returns the record of a bundle, changed to point to the marker.
    fn marker_record(&self, record: &Record, old: &[u8], marker: u64) -> Vec<u8> {
        let bundle = self.bundles[record.bundle].to_le_bytes();
        let mut new = old.to_vec();
        new[..4].copy_from_slice(&MARKER_MAGIC.to_le_bytes());
        // In files with relocations, the place of the address can be zero: loaders fill it in.
        if new[8..INDEX_OFFSET] == bundle {
            new[8..INDEX_OFFSET].copy_from_slice(&marker.to_le_bytes());
        }
        new[INDEX_OFFSET..].copy_from_slice(&(record.bundle as u64).to_le_bytes());
        new
    }
}

fn addresses(section: &Section) -> Range<u64> {
    section.address..section.address.saturating_add(section.size)
}

/// Returns index and bytes of the section with the names of sections.
fn section_names(
    info: &ElfInfo,
    file: &(impl ReadAt + ?Sized),
) -> Result<(usize, Vec<u8>), FatError> {
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

/// Returns whether the device code of a file is in `.kpack` archives; false for unreadable files.
pub fn refers_to_archives(file: &(impl ReadAt + ?Sized)) -> bool {
    inspect(file).is_ok_and(|info| section(&info, file, MARKER).is_ok())
}

fn section(
    info: &ElfInfo,
    file: &(impl ReadAt + ?Sized),
    name: &'static str,
) -> Result<usize, FatError> {
    let (_, names) = section_names(info, file)?;
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

fn is_alone(info: &ElfInfo, file: &impl ReadAt, section: &Section) -> bool {
    let is_whole_section =
        |start: u64, end: u64| start == section.offset && end == section.file_end();
    let mut claims = info.claims(file);
    // Ignores the claim of the section itself. A second equal claim is of another table, and counts.
    if let Some(at) = claims.iter().position(|claim| is_whole_section(claim.start, claim.end)) {
        claims.remove(at);
    }
    !claims.iter().any(|claim| claim.start < section.file_end() && section.offset < claim.end)
}

fn record(
    info: &ElfInfo,
    file: &impl ReadAt,
    address: u64,
    references: &References,
) -> Result<(u64, Option<u64>), FatError> {
    let bytes = info.read_at(file, address, RECORD_SIZE as u64).ok_or(FatError::Unreadable)?;
    let start = [BUNDLE_MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat();
    if bytes[..start.len()] != start || bytes[INDEX_OFFSET..] != [0; 8] {
        return Err(FatError::Record { address });
    }
    let is_relocatable = info.header.as_ref().is_none_or(|header| header.kind != elf::ET_EXEC);
    match references.target_at(address + ADDRESS_OFFSET)? {
        Some(reference) => Ok(reference),
        // A program with a fixed address has the bundle's address in the record.
        None if !is_relocatable => {
            let target =
                info.word_at(file, address + ADDRESS_OFFSET).ok_or(FatError::Unreadable)?;
            Ok((target, None))
        }
        None => Err(FatError::Address { address }),
    }
}
