use std::ops::Range;

use super::pages::Pages;
use super::{FatElf, tail};
use crate::ReadAt;
use crate::elf::builder::{ElfBuilder, TablePlace, round_up};
use crate::elf::error::ElfError;
use crate::elf::header::{SEGMENT_SIZE, Segment};
use crate::elf::layout::{ALIGN, MOST_HEADERS, Slot};
use crate::elf::relocate::Block;
use crate::fat::{Emptying, FatError, Part, RECORD_SIZE, check_rest};

const SYMBOL: u64 = 24;
const SYMBOL_SECTION: u64 = 6;

impl FatElf {
    /// Plans to replace the bundles by `marker`, and to take their pages out of the file. `lengths`
    /// are by number.
    pub fn emptying(
        &self,
        file: &impl ReadAt,
        lengths: &[u64],
        marker: &[u8],
    ) -> Result<Emptying, FatError> {
        let section = self.section();
        check_rest(file, section.offset..section.file_end(), self.bundles(), lengths)?;
        let (pages, work) = self.work(file, marker)?;
        work.plan(&pages)
    }

    fn work<'w, R: ReadAt>(
        &'w self,
        file: &'w R,
        marker: &'w [u8],
    ) -> Result<(Pages, Work<'w, R>), FatError> {
        let builder = || -> Result<_, FatError> {
            let (table_at, dynamic, strings) = self.info.editable()?;
            self.info.check_what_edits_rely_on(file)?;
            let (dynamic_at, strings_at) = (dynamic.place(), strings.place());
            let mut builder = ElfBuilder::new(file, &self.info, table_at, dynamic_at, strings_at);
            builder.entries.clone_from(&dynamic.entries);
            // The file has headers of its sections. Former editors leave copies of moved tables.
            builder.overwrites = true;
            Ok(Work { fat: self, builder, blocks: Vec::new(), marker })
        };
        let (length, mut work) = (marker.len() as u64, builder()?);
        let pages = Pages::plan(self, 0, length)?;
        if !pages.divides {
            return Ok((pages, work));
        }
        if let Some(blocks) = work.free_slot()? {
            let pages = Pages::plan(self, blocks, length)?;
            if pages.divides {
                return Ok((pages, work));
            }
        }
        Ok((Pages::unchanged(self, length)?, builder()?))
    }
}

/// Blocks with their new offsets.
type Moves = Vec<(Block, u64)>;

struct Work<'w, R> {
    fat: &'w FatElf,
    builder: ElfBuilder<'w, R>,
    blocks: Vec<Block>,
    marker: &'w [u8],
}

impl<R: ReadAt> Work<'_, R> {
    /// Returns the bytes that move into the place of the bundles. `None` without room: strippers
    /// break files whose table does not follow the file header.
    fn free_slot(&mut self) -> Result<Option<u64>, ElfError> {
        let claims = self.fat.info.claims(self.builder.file);
        match self.builder.free_slot(&claims)? {
            Slot::Here => {}
            Slot::Cleared(blocks) => self.blocks = blocks,
            Slot::TableMoves => return Ok(None),
        }
        if self.builder.segments.len() as u64 >= MOST_HEADERS {
            return Ok(None);
        }
        let mut bytes = 0;
        for block in self.blocks.iter().filter(|block| block.nearby.is_none()) {
            bytes = round_up(bytes, ALIGN)? + (block.end - block.start);
        }
        Ok(Some(bytes))
    }

    fn plan(mut self, pages: &Pages) -> Result<Emptying, FatError> {
        let (content, moves) = self.retained_content(pages)?;
        let section = self.fat.section();
        // Bytes of bundles that share a page with others become zeros.
        let cleared = pages.gone.end.max(section.offset + content.len() as u64)..section.file_end();
        self.clear(&moves)?;
        self.redirect(pages)?;
        self.redirect_symbols(pages, content, &moves)?;
        self.builder.write_dynamic()?;
        self.builder.write_symbols()?;
        self.divide(pages);
        self.builder.update_own_header();
        self.builder.write_table(|offset| pages.moved(offset))?;
        let tail = tail::write_tail(self.fat, &mut self.builder, pages)?;
        let mut overlays = self.builder.overlays()?;
        for overlay in &mut overlays {
            overlay.offset = pages.moved(overlay.offset);
        }
        let lengths = (self.fat.info.file_len, tail.end());
        let old = |old: u64| Part { new: pages.moved(old), old: Some(old) };
        let zeros = |new| Part { new, old: None };
        let parts = vec![
            old(0),
            old(pages.gone.end),
            zeros(pages.moved(cleared.start)),
            old(cleared.end),
            zeros(tail.offset),
        ];
        overlays.push(tail);
        Ok(Emptying::new(parts, overlays, lengths))
    }

    fn retained_content(&mut self, pages: &Pages) -> Result<(Vec<u8>, Moves), FatError> {
        let (offset, address) = (self.fat.section().offset, self.fat.section().address);
        let mut content = Vec::new();
        let (nearby, away): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.blocks).into_iter().partition(|block| block.nearby.is_some());
        let mut moves = Vec::new();
        for block in away.into_iter().chain(nearby) {
            let mut append = |bytes: &[u8]| {
                let position = round_up(content.len() as u64, ALIGN)?;
                content.resize(length(position), 0);
                content.extend_from_slice(bytes);
                let (offset, address) = (offset + position, address + position);
                Ok(TablePlace { offset, address, size: bytes.len() as u64 })
            };
            let mut place = None;
            if block.is_strings {
                let bytes = self.builder.old_bytes(block.start, block.end - block.start)?;
                let new_place = append(&bytes)?;
                let size = self.builder.strings.size;
                self.builder.set_strings(TablePlace { size, ..new_place });
            } else {
                self.builder.relocate(&block, |_, bytes| {
                    let new_place = append(bytes)?;
                    place = Some(new_place.offset);
                    Ok(new_place)
                })?;
            }
            let new = place.or(block.nearby).unwrap_or(block.start);
            moves.push((block, new));
        }
        content.resize(length(pages.marker.end - address), 0);
        let marker = content.len() - self.marker.len();
        content[marker..].copy_from_slice(self.marker);
        Ok((content, moves))
    }

    /// Clears the old bytes of moved blocks, so that a later edit has room for its header.
    fn clear(&mut self, moves: &Moves) -> Result<(), ElfError> {
        let table = self.builder.segments.len() as u64 + 1;
        let table = self.builder.table_at + table * SEGMENT_SIZE;
        let stays = moves.iter().filter(|(block, _)| block.nearby.is_some());
        let stays = stays.map(|(block, new)| *new..new + (block.end - block.start));
        let stays: Vec<Range<u64>> = stays.collect();
        for (block, _) in moves {
            let mut position = block.start.max(table);
            for stay in &stays {
                if position < stay.end && stay.start < block.end {
                    self.builder
                        .write(position, &vec![0; length(stay.start.saturating_sub(position))])?;
                    position = stay.end;
                }
            }
            self.builder.write(position, &vec![0; length(block.end.saturating_sub(position))])?;
        }
        Ok(())
    }

    fn redirect(&mut self, pages: &Pages) -> Result<(), FatError> {
        let (fat, marker) = (self.fat, pages.marker.start);
        for record in &fat.records.list {
            let offset = self.offset_of(record.address, RECORD_SIZE as u64)?;
            let old = self.builder.old_bytes(offset, RECORD_SIZE as u64)?;
            self.builder.write(offset, &fat.records.redirected(record, &old, 0, marker))?;
            if let Some(addend) = record.addend {
                self.builder.write(self.offset_of(addend, 8)?, &marker.to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn redirect_symbols(
        &mut self,
        pages: &Pages,
        mut kept: Vec<u8>,
        moves: &Moves,
    ) -> Result<(), FatError> {
        let number = u16::try_from(self.fat.info.sections.len()).map_err(|_| FatError::Names)?;
        let change = [&number.to_le_bytes()[..], &pages.marker.start.to_le_bytes()].concat();
        let start = self.fat.section().offset;
        for symbol in &self.fat.symbols {
            let offset = self.offset_of(*symbol, SYMBOL)? + SYMBOL_SECTION;
            match moves.iter().find(|(block, _)| block.start <= offset && offset < block.end) {
                None => self.builder.write(offset, &change)?,
                Some((Block { nearby: Some(_), .. }, _)) => return Err(FatError::Shared),
                Some((block, new)) => {
                    let inside = length(new + (offset - block.start) - start);
                    kept[inside..inside + change.len()].copy_from_slice(&change);
                }
            }
        }
        Ok(self.builder.write(start, &kept)?)
    }

    fn divide(&mut self, pages: &Pages) {
        if pages.hole.is_empty() {
            return;
        }
        let section = self.fat.section();
        let (old, end) = (&self.fat.info.segments[pages.load], section.address + section.size);
        let is_it = |segment: &Segment| segment.is_load() && segment.address == old.address;
        let Some(index) = self.builder.segments.iter().position(is_it) else { return };
        let load = &mut self.builder.segments[index];
        load.file_size = pages.hole.start - old.address;
        if !pages.divides {
            return;
        }
        load.memory_size = pages.hole.end - old.address;
        let behind = Segment {
            offset: section.file_end(),
            address: end,
            physical: old.physical.wrapping_add(end - old.address),
            file_size: old.file_end() - section.file_end(),
            memory_size: old.memory_end() - end,
            ..old.clone()
        };
        self.builder.segments.insert(index + 1, behind);
    }

    fn offset_of(&self, address: u64, length: u64) -> Result<u64, FatError> {
        self.fat.info.offset_of(address, length).ok_or(FatError::Unreadable)
    }
}

fn length(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
