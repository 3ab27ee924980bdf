//! Room for another program header: blocks after the table move away, and references to them
//! follow.

use object::elf;

use super::builder::{ElfBuilder, TablePlace, round_up};
use super::error::ElfError;
use super::header::SEGMENT_SIZE;
use super::ranges::Claim;
use crate::ReadAt;

/// Range of overlapping claims, which move together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub start: u64,
    pub end: u64,
    pub movable: bool,
    /// Whether it is the dynamic string table, which `move_strings` moves.
    pub is_strings: bool,
    /// New offset after the program headers, for the build ID.
    pub nearby: Option<u64>,
}

/// Merges overlapping claims, which are sorted by start.
fn blocks(claims: &[Claim]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for claim in claims {
        match blocks.last_mut() {
            Some(block) if claim.start < block.end => {
                block.end = block.end.max(claim.end);
                block.movable &= claim.movable;
            }
            _ => blocks.push(Block {
                start: claim.start,
                end: claim.end,
                movable: claim.movable,
                is_strings: false,
                nearby: None,
            }),
        }
    }
    blocks
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    /// Returns the blocks to move for another program header at `from`; `None` if a block cannot
    /// move, or if other bytes may be in use.
    pub(super) fn blocks_to_move(
        &self,
        from: u64,
        claims: &[Claim],
    ) -> Result<Option<Vec<Block>>, ElfError> {
        let new_end = from + SEGMENT_SIZE;
        let following: Vec<Block> = blocks(claims)
            .into_iter()
            .filter(|block| block.end > from)
            .map(|block| self.classify(block))
            .collect();
        let mut count = following.iter().take_while(|block| block.start < new_end).count();
        if !following[..count].iter().all(|block| block.movable && block.start >= from)
            || !self.are_gaps_zero(from, new_end, &following[..count])?
            || self.info.points_into(self.file, from, new_end)
        {
            return Ok(None);
        }
        let Some(id) = self.build_id_block(&following[..count])? else {
            return Ok(Some(following[..count].to_vec()));
        };
        let nearby = round_up(new_end, 8)?;
        let nearby_end = nearby + (following[id].end - following[id].start);
        while following.get(count).is_some_and(|next| next.movable && next.start < nearby_end) {
            count += 1;
        }
        let mut moved = following[..count].to_vec();
        let has_room = following.get(count).is_none_or(|next| next.start >= nearby_end);
        if has_room
            && self.are_gaps_zero(from, nearby_end, &moved)?
            && self.shares_load(from, nearby_end)
            && !self.info.points_into(self.file, new_end, nearby_end)
        {
            moved[id].nearby = Some(nearby);
        }
        Ok(Some(moved))
    }

    /// Finds the block of the dynamic strings. A block with only a part of them cannot move, because
    /// the strings move separately.
    fn classify(&self, mut block: Block) -> Block {
        let strings = self.strings;
        block.is_strings = block.start == strings.offset;
        block.movable &= block.is_strings
            || strings.offset + strings.size <= block.start
            || block.end <= strings.offset;
        block
    }

    /// Returns whether the bytes between the blocks are zeros: others may be in use although no
    /// header has them.
    fn are_gaps_zero(&self, from: u64, to: u64, blocks: &[Block]) -> Result<bool, ElfError> {
        if self.overwrites {
            return Ok(true);
        }
        let starts = blocks.iter().map(|block| block.start).chain([to]);
        let ends = [from].into_iter().chain(blocks.iter().map(|block| block.end));
        for (end, start) in ends.zip(starts) {
            if end < start.min(to)
                && self.old_bytes(end, start.min(to) - end)?.iter().any(|&byte| byte != 0)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn shares_load(&self, from: u64, to: u64) -> bool {
        self.segments
            .iter()
            .any(|load| load.is_load() && load.offset <= from && to <= load.file_end())
    }

    /// Returns the index of the block with the build ID. It stays in the first page, because core
    /// dumps contain only that page of a mapped file, and debuggers read the build ID there to find
    /// debug information.
    fn build_id_block(&self, blocks: &[Block]) -> Result<Option<usize>, ElfError> {
        for (index, block) in blocks.iter().enumerate() {
            let bytes = self.old_bytes(block.start, block.end - block.start)?;
            if bytes.chunks(4).zip(bytes.chunks(4).skip(2)).zip(bytes.chunks(4).skip(3)).any(
                |((name_size, kind), name)| {
                    name_size == 4u32.to_le_bytes()
                        && kind == elf::NT_GNU_BUILD_ID.0.to_le_bytes()
                        && name == b"GNU\0"
                },
            ) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Moves a block, except the string table, and updates the references to it.
    pub(super) fn relocate(
        &mut self,
        block: &Block,
        append: impl FnOnce(&mut Self, &[u8]) -> Result<TablePlace, ElfError>,
    ) -> Result<(), ElfError> {
        if block.is_strings {
            return Ok(());
        }
        let bytes = self.old_bytes(block.start, block.end - block.start)?;
        let load = self
            .info
            .loads()
            .find(|load| load.offset <= block.start && block.end <= load.file_end());
        let distance = load.map(|load| load.address.wrapping_sub(load.offset));
        let distance = distance.ok_or(ElfError::Unloaded { offset: block.start })?;
        let place = match block.nearby {
            Some(offset) => {
                self.write(offset, &bytes)?;
                TablePlace {
                    offset,
                    address: offset.wrapping_add(distance),
                    size: bytes.len() as u64,
                }
            }
            None => append(self, &bytes)?,
        };
        self.steps.push(format!(
            "the {} bytes at {:#x} move to {:#x}",
            bytes.len(),
            block.start,
            place.offset
        ));
        self.update_references(block, block.start.wrapping_add(distance), place);
        Ok(())
    }

    fn update_references(&mut self, block: &Block, address: u64, place: TablePlace) {
        let moved = |offset: u64| block.start <= offset && offset < block.end;
        let kinds = [elf::PT_INTERP, elf::PT_NOTE, elf::PT_GNU_PROPERTY];
        for segment in self
            .segments
            .iter_mut()
            .filter(|segment| kinds.contains(&segment.kind) && moved(segment.offset))
        {
            let inside = segment.offset - block.start;
            segment.offset = place.offset + inside;
            (segment.address, segment.physical) = (place.address + inside, place.address + inside);
        }
        for section in self.sections.iter_mut().filter(|section| {
            section.is_allocated() && section.has_bytes() && moved(section.offset)
        }) {
            let inside = section.offset - block.start;
            (section.offset, section.address) = (place.offset + inside, place.address + inside);
        }
        let tables = [
            elf::DT_HASH,
            elf::DT_GNU_HASH,
            elf::DT_SYMTAB,
            elf::DT_VERSYM,
            elf::DT_VERNEED,
            elf::DT_VERDEF,
        ];
        for entry in self.entries.iter_mut().filter(|entry| tables.contains(&entry.tag)) {
            if let Some(inside) =
                entry.value.checked_sub(address).filter(|inside| *inside < place.size)
            {
                entry.value = place.address + inside;
            }
        }
    }
}
