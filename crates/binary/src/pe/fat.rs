//! Device code in PE files.
//!
//! - Names of sections have at most eight bytes: `.hip_fat` has the bundles, `.hipFatB` the
//!   records, `.kpackrf` the marker.
//! - The pointer of a record has a base relocation, unless the file has a fixed address. The word
//!   in the file is the address at the preferred base.
//! - Sections have one place in memory and another in the file. `.hip_fat` keeps its addresses, as
//!   the loader demands that sections follow each other, and becomes one of zeros like `.bss`. The
//!   marker's section is behind all others, in memory and in the file.
//!
//! Offsets are in the headers, the section table and the debug directory. Other tables have
//! addresses relative to the base, which stay.

use std::mem::offset_of;
use std::ops::Range;

use object::endian::LittleEndian as LE;
use object::pe::{self, ImageOptionalHeader64, ImageSectionHeader};

use super::error::PeError;
use super::facts::{PeFacts, PeKind, facts};
use super::image::Image;
use crate::fat::{FatError, RECORD_SIZE, Records, check_record};
use crate::{Machine, ReadAt};
use base::names::offload::{PE_BUNDLES, PE_MARKER, PE_RECORDS};
use headers::{Headers, addresses, name, place};
use tables::DebugData;

mod checksum;
mod emptying;
mod headers;
mod moves;
mod proof;
mod references;
mod tables;

/// Pages of memory, which the loader maps from the file.
const PAGE: u32 = 4096;

/// File with device code.
#[derive(Debug, Clone)]
pub(crate) struct FatPe {
    headers: Headers,
    /// Index of the bundles' section.
    section: usize,
    /// Index of the records' section.
    table: usize,
    records: Records,
    debug: Vec<DebugData>,
    needs: Vec<String>,
}

impl FatPe {
    /// Finds the bundles; `None` without a PE signature.
    pub fn read(file: &impl ReadAt) -> Result<Option<Self>, FatError> {
        let Some(image) = Image::read(file)? else { return Ok(None) };
        let PeFacts { kind, imports, delayed, .. } = facts(file)?.ok_or(FatError::Format)?;
        if image.machine != Machine::X86_64 {
            return Err(FatError::Machine);
        }
        if kind == PeKind::Native {
            return Err(FatError::Kind);
        }
        let headers = Headers::read(&image)?;
        check_layout(&headers)?;
        let section = whole_section(&headers, PE_BUNDLES)?;
        let table = whole_section(&headers, PE_RECORDS)?;
        let (bundles, records) =
            (addresses(&headers.entries[section]), addresses(&headers.entries[table]));
        let size = records.end - records.start;
        if size % RECORD_SIZE as u64 != 0 {
            return Err(FatError::Records { size });
        }
        tables::check(&image, [&bundles, &records])?;
        let debug = tables::debug_data(&image, &place(&headers.entries[section]))?;
        let records = read_records(&image, &headers, &bundles, &records)?;
        let needs = [imports, delayed].concat();
        Ok(Some(Self { headers, section, table, records, debug, needs }))
    }

    pub fn needs(&self) -> &[String] {
        &self.needs
    }

    /// File range from each bundle to the next, by number.
    pub fn bundles(&self) -> Vec<Range<u64>> {
        let (memory, file) = (addresses(self.bundles_entry()), place(self.bundles_entry()));
        self.records.ranges(|address| file.start + (address - memory.start), file.end)
    }

    fn bundles_entry(&self) -> &ImageSectionHeader {
        &self.headers.entries[self.section]
    }

    fn table_entry(&self) -> &ImageSectionHeader {
        &self.headers.entries[self.table]
    }
}

/// Returns whether the code of a file is in archives.
pub(crate) fn has_marker(file: &(impl ReadAt + ?Sized)) -> bool {
    let Ok(Some(image)) = Image::read(file) else { return false };
    Headers::read(&image).is_ok_and(|headers| !headers.sections_named(PE_MARKER).is_empty())
}

/// Index of the section with this name, which must be in the file as it is in memory.
fn whole_section(headers: &Headers, name: &'static str) -> Result<usize, FatError> {
    let matching = headers.sections_named(name);
    let [index] = matching[..] else {
        return Err(FatError::Sections { name, count: matching.len() });
    };
    let entry = &headers.entries[index];
    let (memory, file) = (addresses(entry), place(entry));
    let size = memory.end - memory.start;
    if size == 0 || size > file.end - file.start {
        return Err(FatError::Unmapped { name });
    }
    // Those behind it stay aligned if it leaves.
    if (file.end - file.start) % headers.file_alignment() != 0 {
        return Err(FatError::Layout { name: name.to_owned() });
    }
    Ok(index)
}

/// Refuses a layout in which sections cannot move.
fn check_layout(headers: &Headers) -> Result<(), FatError> {
    let optional = &headers.optional;
    let (file, memory) = (optional.file_alignment.get(LE), optional.section_alignment.get(LE));
    let image = optional.size_of_image.get(LE);
    let fields = [
        (
            "FileAlignment",
            offset_of!(ImageOptionalHeader64, file_alignment),
            file,
            file.is_power_of_two(),
        ),
        (
            "SectionAlignment",
            offset_of!(ImageOptionalHeader64, section_alignment),
            memory,
            memory.is_power_of_two() && memory >= file.max(PAGE),
        ),
        (
            "SizeOfImage",
            offset_of!(ImageOptionalHeader64, size_of_image),
            image,
            u64::from(image) == headers.memory_end(),
        ),
    ];
    for (field, inside, value, is_usual) in fields {
        if !is_usual {
            let offset = (headers.optional_at + inside) as u64;
            return Err(PeError::Field { field, offset, value: value.into() }.into());
        }
    }
    let aligned = |entry: &ImageSectionHeader| {
        let at = place(entry);
        addresses(entry).start.is_multiple_of(memory.into())
            && (at.is_empty() || at.start.is_multiple_of(file.into()))
            && (at.is_empty() || at.start >= headers.bytes.len() as u64)
    };
    let odd = headers.entries.iter().find(|entry| !aligned(entry));
    let odd = odd.or_else(|| overlapping(&headers.entries, addresses));
    match odd.or_else(|| overlapping(&headers.entries, place)) {
        Some(entry) => Err(FatError::Layout { name: name(entry) }),
        None => Ok(()),
    }
}

/// Returns a section that begins inside of another one.
fn overlapping(
    entries: &[ImageSectionHeader],
    range: impl Fn(&ImageSectionHeader) -> Range<u64>,
) -> Option<&ImageSectionHeader> {
    let mut all: Vec<_> = entries.iter().map(|entry| (range(entry), entry)).collect();
    all.retain(|(range, _)| !range.is_empty());
    all.sort_by_key(|(range, _)| range.start);
    let pair = all.windows(2).find(|pair| pair[1].0.start < pair[0].0.end)?;
    Some(pair[1].1)
}

fn read_records<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    headers: &Headers,
    code: &Range<u64>,
    table: &Range<u64>,
) -> Result<Records, FatError> {
    let pointers = references::pointers(image, headers, code, table)?;
    // A program at a fixed address has no relocations.
    let moves = image.flags.0 & pe::IMAGE_FILE_RELOCS_STRIPPED.0 == 0;
    let base = headers.optional.image_base.get(LE);
    let bytes = references::memory(image, headers, table.start, table.end - table.start)?;
    let mut records = Records::default();
    for (address, record) in
        (table.start..).step_by(RECORD_SIZE).zip(bytes.chunks_exact(RECORD_SIZE))
    {
        check_record(record, address)?;
        let mut stored = [0; 8];
        stored.copy_from_slice(&record[8..16]);
        let target = match pointers.get(&(address + 8)) {
            Some(target) => *target,
            None if moves => return Err(FatError::Address { address }),
            None => u64::from_le_bytes(stored).wrapping_sub(base),
        };
        if !code.contains(&target) {
            return Err(FatError::Outside { address, section: PE_BUNDLES });
        }
        records.add(address, target, None);
    }
    Ok(records)
}
