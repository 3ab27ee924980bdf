//! End of a file without its device code: section names with one for the marker, and the section
//! header table.

use object::elf;

use super::pages::Pages;
use super::{FatElf, claims_without, names};
use crate::ReadAt;
use crate::elf::builder::{ElfBuilder, round_up};
use crate::elf::header::{SECTION_SIZE, Section, Segment};
use crate::fat::FatError;
use crate::overlay::Overlay;
use base::names::offload::MARKER;

/// Offsets in the ELF header.
const E_SHOFF: u64 = 40;
const E_SHNUM: u64 = 60;
/// Larger counts are not in `e_shnum`, but in the first section header (gABI, "Section Header
/// Table").
const MOST_SECTIONS: usize = elf::SHN_LORESERVE as usize;

/// Returns the new names and section headers, and points the ELF header to them.
pub(super) fn write_tail<R: ReadAt>(
    fat: &FatElf,
    builder: &mut ElfBuilder<'_, R>,
    pages: &Pages,
) -> Result<Overlay, FatError> {
    let (names_index, mut bytes) = names(&fat.info, builder.file)?;
    let mut sections = shifted_sections(fat, builder, pages);
    let names_section = sections.get_mut(names_index).filter(|section| !section.is_allocated());
    let names_section = names_section.ok_or(FatError::Names)?;
    let offset = pages.moved(tail_offset(fat, builder.file, names_index));
    let marker_name = u32::try_from(bytes.len()).map_err(|_| FatError::Names)?;
    bytes.extend_from_slice(MARKER.as_bytes());
    bytes.push(0);
    (names_section.offset, names_section.size) = (offset, bytes.len() as u64);
    let table = round_up(offset + bytes.len() as u64, 8)?;
    bytes.resize(usize::try_from(table - offset).map_err(|_| FatError::Names)?, 0);
    sections.push(marker(fat, pages, marker_name));
    if sections.len() >= MOST_SECTIONS {
        return Err(FatError::Names);
    }
    bytes.extend(sections.iter().flat_map(Section::to_bytes));
    builder.write(E_SHOFF, &table.to_le_bytes())?;
    builder.write(E_SHNUM, &(sections.len() as u64).to_le_bytes()[..2])?;
    Ok(Overlay { offset, bytes })
}

/// Returns the section headers of the new file, before the marker's: the code's section has the
/// addresses of the hole and no bytes.
fn shifted_sections<R: ReadAt>(
    fat: &FatElf,
    builder: &ElfBuilder<'_, R>,
    pages: &Pages,
) -> Vec<Section> {
    let mut sections = builder.sections.clone();
    for section in &mut sections {
        section.offset = pages.moved(section.offset);
    }
    let bundles = &mut sections[fat.section];
    bundles.kind = elf::SHT_NOBITS;
    bundles.offset = pages.moved(fat.offset(pages.hole.start));
    (bundles.address, bundles.size) = (pages.hole.start, pages.hole.end - pages.hole.start);
    bundles.align = hole_alignment(bundles.align, pages.hole.start);
    sections
}

/// Returns the alignment of the hole: it begins after the section did, at an address that can be
/// aligned less.
pub(super) fn hole_alignment(section: u64, address: u64) -> u64 {
    section.min(1 << address.trailing_zeros().min(63))
}

fn marker(fat: &FatElf, pages: &Pages, name: u32) -> Section {
    Section {
        name,
        kind: elf::SHT_PROGBITS,
        flags: elf::SHF_ALLOC.0,
        address: pages.marker.start,
        offset: pages.moved(fat.offset(pages.marker.start)),
        size: pages.marker.end - pages.marker.start,
        link: 0,
        info: 0,
        align: 1,
        entry_size: 0,
    }
}

/// Returns the offset for the new names: that of the old names and table if these are the last
/// bytes and nothing else uses them, otherwise the file's end.
fn tail_offset(fat: &FatElf, file: &impl ReadAt, names_index: usize) -> u64 {
    let (info, names) = (&fat.info, &fat.info.sections[names_index]);
    let table = info.header.as_ref().map_or(info.file_len, |header| header.sections_at);
    let table_end = table.saturating_add(info.sections.len() as u64 * SECTION_SIZE);
    let start = table.min(names.offset);
    let moved = [(table, table_end), (names.offset, names.file_end())];
    let claims = claims_without(info, file, &moved);
    let loads = info.loads().map(Segment::file_end);
    let used = claims.iter().map(|claim| claim.end).chain(loads).max().unwrap_or(0);
    let is_last = table_end.max(names.file_end()) == info.file_len;
    if is_last && used <= start { start } else { info.file_len }
}
