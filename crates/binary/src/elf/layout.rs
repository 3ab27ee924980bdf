//! Room for a longer string table or, rarely, dynamic section.

use object::elf::{self, ProgramFlags, ProgramType};

use super::builder::{ElfBuilder, TablePlace, round_up};
use super::dynamic::ENTRY_SIZE;
use super::error::ElfError;
use super::header::{SEGMENT_SIZE, Segment};
use super::info::ElfKind;
use super::ranges::Claim;
use super::relocate::Block;
use super::stack::ExecutableStack;
use crate::ReadAt;

/// Limit of old kernels: headers in one page.
pub(super) const MOST_HEADERS: u64 = 73;
const SLACK: u64 = 128;
/// As in GNU ld.
const SPARE_ENTRIES: u64 = 5;
pub(super) const ALIGN: u64 = 16;
/// Padding beyond this is not worth compatibility with old kernels.
pub(super) const MOST_PADDING: u64 = 1 << 20;

pub(super) struct Growth {
    pub added: Vec<u8>,
    /// Whether the entries need a larger dynamic section.
    pub dynamic: bool,
}

pub(super) enum Slot {
    /// A dropped entry, or unused bytes after the table.
    Here,
    /// Bytes after the table, freed by moving these blocks.
    Cleared(Vec<Block>),
    /// The table itself moves to the new segment.
    TableMoves,
}

#[derive(Clone, Copy)]
struct Home {
    index: usize,
    offset: u64,
    address: u64,
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    pub(super) fn grow(&mut self, growth: &Growth) -> Result<(), ElfError> {
        if growth.added.is_empty() && !growth.dynamic {
            return Ok(());
        }
        let claims = self.info.claims(self.file);
        if !growth.dynamic && self.grow_in_place(&growth.added, &claims)? {
            return Ok(());
        }
        if let Some(home) = self.last_load(growth.dynamic) {
            self.steps.push("the last LOAD segment grows".to_owned());
            return self.fill(home, growth, &[], false);
        }
        self.grow_in_new_load(growth, &claims)
    }

    fn grow_in_place(&mut self, added: &[u8], claims: &[Claim]) -> Result<bool, ElfError> {
        let end = self.strings.offset + self.strings.size;
        let strings_end = self.strings.address + self.strings.size;
        let contains =
            |load: &Segment| load.is_load() && load.offset_of(strings_end, 0) == Some(end);
        let Some(index) = self.segments.iter().position(contains) else { return Ok(false) };
        let load = self.segments[index].clone();
        let starts_it = load.offset == self.strings.offset;
        let is_extent_known = !self.sections.is_empty() || starts_it || end == load.file_end();
        if load.allows(elf::PF_X)
            || !is_extent_known
            || !self.is_free(end, load.file_end(), claims)?
        {
            return Ok(false);
        }
        let new_end = end + added.len() as u64;
        if new_end > load.file_end() {
            if self.last_load(load.allows(elf::PF_W)).is_none_or(|home| home.index != index) {
                return Ok(false);
            }
            self.set_load_end(index, new_end);
        }
        self.write(end, added)?;
        self.set_strings(TablePlace {
            size: self.strings.size + added.len() as u64,
            ..self.strings
        });
        self.steps.push("the string table grows where it is".to_owned());
        Ok(true)
    }

    fn is_free(&self, start: u64, end: u64, claims: &[Claim]) -> Result<bool, ElfError> {
        let claimed = claims.iter().any(|claim| claim.start < end && start < claim.end);
        let loads = self
            .segments
            .iter()
            .filter(|load| load.is_load() && load.offset < end && start < load.file_end())
            .count();
        Ok(start == end
            || (!claimed
                && loads == 1
                && (self.overwrites
                    || self.old_bytes(start, end - start)?.iter().all(|&byte| byte == 0))
                && !self.info.points_into(self.file, start, end)))
    }

    fn last_load(&self, writable: bool) -> Option<Home> {
        let loads = || self.segments.iter().enumerate().filter(|(_, segment)| segment.is_load());
        let (index, load) = loads().max_by_key(|(_, load)| load.address)?;
        let is_first = loads().next().is_some_and(|(first, _)| first == index);
        let ends_file = load.file_end() == self.end() && load.file_size == load.memory_size;
        let fits = load.allows(elf::PF_W) == writable && !load.allows(elf::PF_X);
        (ends_file && fits && !is_first).then_some(Home {
            index,
            offset: load.offset,
            address: load.address,
        })
    }

    fn set_load_end(&mut self, index: usize, end: u64) {
        let load = &mut self.segments[index];
        load.file_size = end - load.offset;
        load.memory_size = load.file_size;
    }

    fn grow_in_new_load(&mut self, growth: &Growth, claims: &[Claim]) -> Result<(), ElfError> {
        let slot = match self.free_slot(claims)? {
            Slot::TableMoves if self.free_sections(claims)? => Slot::Here,
            slot => slot,
        };
        let count = self.segments.len() as u64 + 1;
        if count > MOST_HEADERS {
            return Err(ElfError::TooManyHeaders { count });
        }
        let congruent = matches!(slot, Slot::TableMoves).then(|| self.kernel_distance()).flatten();
        let home = self.open_load(growth.dynamic, congruent)?;
        match slot {
            Slot::Here => self.fill(home, growth, &[], false),
            Slot::Cleared(blocks) => self.fill(home, growth, &blocks, false),
            Slot::TableMoves => self.fill(home, growth, &[], true),
        }
    }

    /// Makes the stack not executable, in the file's own header or a new one.
    pub(super) fn clear_executable_stack(&mut self, old: ExecutableStack) -> Result<(), ElfError> {
        if let Some(offset) = self.info.trampoline(self.file)? {
            return Err(ElfError::Trampoline { offset });
        }
        match old {
            ExecutableStack::Flag => {
                for segment in &mut self.segments {
                    *segment = segment.without_executable_stack();
                }
                self.steps.push("GNU_STACK rwx → rw-".to_owned());
            }
            ExecutableStack::NoHeader => {
                self.add_stack_header()?;
                self.steps.push("a new GNU_STACK header rw-".to_owned());
            }
        }
        self.steps.push("no trampoline of a nested function is in the file".to_owned());
        Ok(())
    }

    fn add_stack_header(&mut self) -> Result<(), ElfError> {
        let claims = self.info.claims(self.file);
        let is_free = match self.free_slot(&claims)? {
            Slot::Here => true,
            // Moved blocks need a LOAD segment, and with it a second slot.
            Slot::Cleared(_) => false,
            Slot::TableMoves => self.free_sections(&claims)?,
        };
        let count = self.segments.len() as u64 + if is_free { 1 } else { 2 };
        if count > MOST_HEADERS {
            return Err(ElfError::TooManyHeaders { count });
        }
        if is_free {
            self.segments.push(Segment::plain_stack());
            return Ok(());
        }
        let home = self.open_load(false, self.kernel_distance())?;
        self.segments.push(Segment::plain_stack());
        self.fill(home, &Growth { added: Vec::new(), dynamic: false }, &[], true)
    }

    pub(super) fn free_slot(&mut self, claims: &[Claim]) -> Result<Slot, ElfError> {
        if let Some(step) = self.drop_entry(elf::PT_NULL) {
            self.steps.push(step);
            return Ok(Slot::Here);
        }
        let table_end = self.table_at + self.segments.len() as u64 * SEGMENT_SIZE;
        let in_code = |load: &Segment| {
            load.is_load()
                && load.allows(elf::PF_X)
                && load.offset <= table_end
                && table_end < load.file_end()
        };
        let is_extent_known = !self.sections.is_empty() || !self.segments.iter().any(in_code);
        if is_extent_known
            && self.is_mapped(table_end)
            && self.is_free(table_end, table_end + SEGMENT_SIZE, claims)?
        {
            self.steps.push("the program header table grows into the gap after it".to_owned());
            return Ok(Slot::Here);
        }
        let in_library =
            self.info.kind == ElfKind::SharedLibrary && self.info.interpreter.is_none();
        let dropped = if in_library { self.drop_entry(elf::PT_PHDR) } else { None };
        if let Some(step) = dropped.or_else(|| self.drop_doubled_note()) {
            self.steps.push(step);
            return Ok(Slot::Here);
        }
        if self.is_mapped(table_end)
            && let Some(blocks) = self.blocks_to_move(table_end, claims)?
        {
            return Ok(Slot::Cleared(blocks));
        }
        Ok(Slot::TableMoves)
    }

    /// Moves a section header table that follows the program headers, as in files of Go's linker:
    /// GNU strip writes the program headers behind the file header again.
    fn free_sections(&mut self, claims: &[Claim]) -> Result<bool, ElfError> {
        let old = self.info.section_table();
        let start = self.table_at + self.segments.len() as u64 * SEGMENT_SIZE;
        let end = start + SEGMENT_SIZE;
        let is_table = |claim: &Claim| (claim.start, claim.end) == (old.start, old.end);
        let (tables, others): (Vec<_>, Vec<_>) = claims.iter().cloned().partition(is_table);
        let follows = tables.len() == 1 && start <= old.start && old.start < end;
        let (gap_end, after) = (old.start.max(start), old.end.clamp(start, end));
        let overlaps = |claim: &Claim| claim.start < old.end && old.start < claim.end;
        if !follows
            || others.iter().any(overlaps)
            || !self.is_mapped(start)
            || !self.is_free(start, gap_end, &others)?
            || !self.is_free(after, end, &others)?
            || self.info.points_into(self.file, start, end.max(old.end))
        {
            return Ok(false);
        }
        self.sections_at = round_up(self.end(), 8)?;
        self.pad_to(self.sections_at + (old.end - old.start))?;
        self.steps.push("the section header table behind it moves to the end".to_owned());
        self.steps.push("the program header table grows into its place".to_owned());
        Ok(true)
    }

    fn is_mapped(&self, end: u64) -> bool {
        let covers = |load: &Segment| {
            load.is_load() && load.offset <= self.table_at && end + SEGMENT_SIZE <= load.file_end()
        };
        self.segments.iter().any(covers)
    }

    fn drop_entry(&mut self, kind: ProgramType) -> Option<String> {
        let index = self.segments.iter().position(|segment| segment.kind == kind)?;
        self.segments.remove(index);
        let name = if kind == elf::PT_NULL { "PT_NULL" } else { "PT_PHDR" };
        Some(format!("the {name} entry makes room for another"))
    }

    /// Loaders and kernels prefer `PT_GNU_PROPERTY`.
    fn drop_doubled_note(&mut self) -> Option<String> {
        let property = self.info.segment(elf::PT_GNU_PROPERTY)?;
        let is_copy = |segment: &Segment| {
            segment.kind == elf::PT_NOTE
                && segment.offset == property.offset
                && segment.file_size == property.file_size
        };
        let index = self.segments.iter().position(is_copy)?;
        self.segments.remove(index);
        Some("the PT_NOTE entry that PT_GNU_PROPERTY doubles makes room for another".to_owned())
    }

    /// Distance that kernels before 5.18 require (address of the table: first LOAD plus `e_phoff`).
    fn kernel_distance(&self) -> Option<u64> {
        self.info.interpreter.as_ref()?;
        let first = self.info.loads().next()?;
        let distance = first.address.wrapping_sub(first.offset);
        let segments_at = self.info.header.as_ref()?.segments_at;
        let table = self
            .info
            .loads()
            .find(|load| load.offset <= segments_at && segments_at < load.file_end())?;
        (table.address.wrapping_sub(table.offset) == distance).then_some(distance)
    }

    fn open_load(&mut self, writable: bool, distance: Option<u64>) -> Result<Home, ElfError> {
        let page = self.info.machine.page();
        let mut offset = round_up(self.end(), ALIGN)?;
        let next = self.next_page()?;
        let mut address = next
            .checked_add(offset % page)
            .ok_or(ElfError::Header { field: "p_vaddr", value: next })?;
        if let Some(distance) = distance {
            offset = offset.max(next.wrapping_sub(distance));
            address = offset.wrapping_add(distance);
            let padding = offset - self.end();
            if padding > MOST_PADDING {
                return Err(ElfError::OldKernel { padding });
            }
        }
        self.pad_to(offset)?;
        let flags = ProgramFlags(elf::PF_R.0 | if writable { elf::PF_W.0 } else { 0 });
        let load = Segment {
            kind: elf::PT_LOAD,
            flags,
            offset,
            address,
            physical: address,
            file_size: 0,
            memory_size: 0,
            align: page,
        };
        let index = self.segments.iter().rposition(Segment::is_load).map_or(0, |last| last + 1);
        self.segments.insert(index, load);
        self.steps.push(format!("a new LOAD segment at address {address:#x}"));
        Ok(Home { index, offset, address })
    }

    fn fill(
        &mut self,
        home: Home,
        growth: &Growth,
        moved: &[Block],
        table: bool,
    ) -> Result<(), ElfError> {
        let is_new = self.segments[home.index].file_size == 0;
        if is_new && (table || !moved.is_empty()) {
            // LLVM's strip treats the first header at an offset as the parent of others.
            self.pad_to(home.offset + ALIGN)?;
        }
        if table {
            self.table_at = self.end();
            self.pad_to(self.table_at + self.segments.len() as u64 * SEGMENT_SIZE)?;
            self.steps.push("the program header table moves to the new segment".to_owned());
        }
        if growth.dynamic {
            let size = (self.entries.len() as u64 + 1 + SPARE_ENTRIES) * ENTRY_SIZE;
            let place = self.append(home, &vec![0; usize::try_from(size).unwrap_or(usize::MAX)])?;
            self.set_dynamic(place);
            self.steps.push("the dynamic section moves there".to_owned());
        }
        let mut strings_move = !growth.added.is_empty();
        // Nearby blocks reuse bytes of others, so those move first.
        let (nearby, away): (Vec<_>, Vec<_>) =
            moved.iter().partition(|block| block.nearby.is_some());
        for block in away.into_iter().chain(nearby) {
            strings_move |= block.is_strings;
            self.relocate(block, |builder, bytes| builder.append(home, bytes))?;
        }
        let alone = is_new && self.end() == home.offset;
        if strings_move {
            self.move_strings(home, &growth.added)?;
        }
        if strings_move && is_new && (alone || !self.sections.is_empty()) {
            self.pad_to(self.end() + SLACK)?;
        }
        self.set_load_end(home.index, self.end());
        Ok(())
    }

    fn move_strings(&mut self, home: Home, added: &[u8]) -> Result<(), ElfError> {
        let old = self.info.strings.as_ref().map_or(&[][..], |strings| &strings.bytes);
        // The old table can have many megabytes; copy it only once.
        self.reserve(old.len() + added.len() + usize::try_from(ALIGN + SLACK).unwrap_or_default());
        let place = self.append(home, old)?;
        self.write(self.end(), added)?;
        self.set_strings(TablePlace { size: place.size + added.len() as u64, ..place });
        self.steps.push("the string table moves there".to_owned());
        Ok(())
    }

    fn append(&mut self, home: Home, bytes: &[u8]) -> Result<TablePlace, ElfError> {
        let offset = round_up(self.end(), ALIGN)?;
        self.pad_to(offset)?;
        self.write(offset, bytes)?;
        Ok(TablePlace {
            offset,
            address: home.address + (offset - home.offset),
            size: bytes.len() as u64,
        })
    }
}
