use object::elf;

use super::pages::Pages;
use super::{FatElf, FatError, section_names};
use crate::ReadAt;
use crate::elf::builder::{ElfBuilder, round_up};
use crate::elf::edit_plan::Overlay;
use crate::elf::header::{SECTION_SIZE, Section, Segment};
use base::names::offload::MARKER;

const E_SHOFF: u64 = 40;
const E_SHNUM: u64 = 60;
const MOST_SECTIONS: usize = 0xff00;

pub(super) fn written<R: ReadAt>(
    fat: &FatElf,
    builder: &mut ElfBuilder<'_, R>,
    pages: &Pages,
) -> Result<Overlay, FatError> {
    let (names_at, mut bytes) = section_names(&fat.info, builder.file)?;
    let mut sections = changed(fat, builder, pages);
    let names = sections.get_mut(names_at).filter(|names| !names.is_allocated());
    let names = names.ok_or(FatError::Names)?;
    let offset = pages.moved(end(fat, builder.file, names_at));
    let name = u32::try_from(bytes.len()).map_err(|_| FatError::Names)?;
    bytes.extend_from_slice(MARKER.as_bytes());
    bytes.push(0);
    (names.offset, names.size) = (offset, bytes.len() as u64);
    let table = round_up(offset + bytes.len() as u64, 8)?;
    bytes.resize(usize::try_from(table - offset).map_err(|_| FatError::Names)?, 0);
    sections.push(marker(fat, pages, name));
    if sections.len() >= MOST_SECTIONS {
        return Err(FatError::Names);
    }
    bytes.extend(sections.iter().flat_map(Section::to_bytes));
    builder.write(E_SHOFF, &table.to_le_bytes())?;
    builder.write(E_SHNUM, &(sections.len() as u64).to_le_bytes()[..2])?;
    Ok(Overlay { offset, bytes })
}

fn changed<R: ReadAt>(fat: &FatElf, builder: &ElfBuilder<'_, R>, pages: &Pages) -> Vec<Section> {
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

pub(super) fn hole_alignment(old: u64, address: u64) -> u64 {
    old.min(1 << address.trailing_zeros().min(63))
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

fn end(fat: &FatElf, file: &impl ReadAt, names_at: usize) -> u64 {
    let (info, names) = (&fat.info, &fat.info.sections[names_at]);
    let table = info.header.as_ref().map_or(info.file_len, |header| header.sections_at);
    let table_end = table.saturating_add(info.sections.len() as u64 * SECTION_SIZE);
    let start = table.min(names.offset);
    let is_own = |from: u64, to: u64| {
        [(table, table_end), (names.offset, names.file_end())].contains(&(from, to))
    };
    let claims = info.claims(file).into_iter().filter(|claim| !is_own(claim.start, claim.end));
    let loads = info.loads().map(Segment::file_end);
    let used = claims.map(|claim| claim.end).chain(loads).max().unwrap_or(0);
    let ends = table_end.max(names.file_end()) == info.file_len;
    if ends && used <= start { start } else { info.file_len }
}
