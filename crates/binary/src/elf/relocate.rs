use object::elf;

use super::builder::{ElfBuilder, TablePlace, round_up};
use super::error::ElfError;
use super::header::SEGMENT_SIZE;
use super::ranges::Claim;
use crate::ReadAt;

/// Claims that overlap, moved together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub start: u64,
    pub end: u64,
    pub movable: bool,
    /// Dynamic string table, moved separately.
    pub is_strings: bool,
    /// New offset in the same segment.
    pub nearby: Option<u64>,
}

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
    /// Returns the blocks to move, or `None` if one is not movable.
    pub(super) fn clear(
        &mut self,
        from: u64,
        claims: &[Claim],
    ) -> Result<Option<Vec<Block>>, ElfError> {
        let new_end = from + SEGMENT_SIZE;
        let behind: Vec<Block> = blocks(claims)
            .into_iter()
            .filter(|block| block.end > from)
            .map(|block| self.marked(block))
            .collect();
        let mut count = behind.iter().take_while(|block| block.start < new_end).count();
        if !behind[..count].iter().all(|block| block.movable && block.start >= from)
            || !self.are_gaps_zero(from, new_end, &behind[..count])?
            || self.info.points_into(self.file, from, new_end)
        {
            return Ok(None);
        }
        let Some(id) = self.build_id(&behind[..count])? else {
            return Ok(Some(behind[..count].to_vec()));
        };
        let nearby = round_up(new_end, 8)?;
        let need = nearby + (behind[id].end - behind[id].start);
        while behind.get(count).is_some_and(|next| next.movable && next.start < need) {
            count += 1;
        }
        let mut moved = behind[..count].to_vec();
        let fits = behind.get(count).is_none_or(|next| next.start >= need);
        if fits
            && self.are_gaps_zero(from, need, &moved)?
            && self.shares_load(from, need)
            && !self.info.points_into(self.file, new_end, need)
        {
            moved[id].nearby = Some(nearby);
        }
        Ok(Some(moved))
    }

    fn marked(&self, mut block: Block) -> Block {
        let strings = self.strings;
        block.is_strings = block.start == strings.offset;
        block.movable &= block.is_strings
            || strings.offset + strings.size <= block.start
            || block.end <= strings.offset;
        block
    }

    /// Other bytes than zeros may be in use without a header.
    fn are_gaps_zero(&self, from: u64, to: u64, blocks: &[Block]) -> Result<bool, ElfError> {
        if self.overwrites {
            return Ok(true);
        }
        let starts = blocks.iter().map(|block| block.start).chain([to]);
        let ends = [from].into_iter().chain(blocks.iter().map(|block| block.end));
        for (end, start) in ends.zip(starts) {
            if end < start.min(to)
                && self.old(end, start.min(to) - end)?.iter().any(|&byte| byte != 0)
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

    /// Returns the block to keep nearby: core dumps contain only the first page of a mapped file,
    /// and tools find debug information by its build ID.
    fn build_id(&self, blocks: &[Block]) -> Result<Option<usize>, ElfError> {
        for (index, block) in blocks.iter().enumerate() {
            let bytes = self.old(block.start, block.end - block.start)?;
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

    pub(super) fn relocate(
        &mut self,
        block: &Block,
        append: impl FnOnce(&mut Self, &[u8]) -> Result<TablePlace, ElfError>,
    ) -> Result<(), ElfError> {
        if block.is_strings {
            return Ok(());
        }
        let bytes = self.old(block.start, block.end - block.start)?;
        let old = self
            .info
            .loads()
            .find(|load| load.offset <= block.start && block.end <= load.file_end());
        let distance = old.map(|load| load.address.wrapping_sub(load.offset));
        let distance =
            distance.ok_or(ElfError::Header { field: "p_offset", value: block.start })?;
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
        self.follow(block, block.start.wrapping_add(distance), place);
        Ok(())
    }

    fn follow(&mut self, block: &Block, address: u64, place: TablePlace) {
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
