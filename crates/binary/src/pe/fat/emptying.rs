use object::endian::{LittleEndian as LE, U16, U32};
use object::pe::{self, ImageSectionHeader, SectionFlags};

use super::headers::{Headers, addresses, padded, place};
use super::moves::Moves;
use super::{FatPe, checksum};
use crate::ReadAt;
use crate::fat::{Emptied, Emptying, FatError, RECORD_SIZE, check_rest, not_zero};
use crate::overlay::Overlay;
use crate::pe::image::MOST_SECTIONS;
use base::names::offload::PE_MARKER;

/// Size of a symbol, for debuggers.
const SYMBOL: u64 = 18;

/// Flags of the marker's section, and of the linkers' sections for constants.
pub(super) fn marker_flags() -> SectionFlags {
    SectionFlags(pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0)
}

/// Flags of a section that has only zeros, like `.bss`.
pub(super) fn flags_of_zeros(old: SectionFlags) -> SectionFlags {
    let without = old.0 & !pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0;
    SectionFlags(without | pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0)
}

pub(super) fn word(value: u64) -> Result<u32, FatError> {
    u32::try_from(value).map_err(|_| FatError::Names)
}

impl FatPe {
    /// Plans to replace the bundles by `marker`, and to take them out of the file. `lengths` are by
    /// number.
    pub fn emptying(
        &self,
        file: &impl ReadAt,
        lengths: &[u64],
        marker: &[u8],
    ) -> Result<Emptying, FatError> {
        check_rest(file, place(self.bundles_entry()), self.bundles(), lengths)?;
        let moves = self.moves(file, marker.len() as u64)?;
        let headers = self.new_headers(&moves, marker.len() as u64)?.to_bytes();
        let mut overlays = vec![Overlay { offset: 0, bytes: headers }];
        for change in self.changes(file, &moves)? {
            overlays.push(Overlay { offset: moves.moved(change.offset), ..change });
        }
        overlays.push(Overlay { offset: moves.marker.start, bytes: marker.to_vec() });
        let lengths = (self.headers.len, moves.moved(self.headers.len));
        let mut plan = Emptying::new(moves.parts(), overlays, lengths);
        if self.headers.optional.check_sum.get(LE) != 0 {
            let field = self.headers.checksum_at();
            let sum = checksum::of(&Emptied::new(file, &plan), field)?;
            plan.amend(field, &sum.to_le_bytes());
        }
        Ok(plan)
    }

    fn moves(&self, file: &impl ReadAt, marker: u64) -> Result<Moves, FatError> {
        let end = self.headers.sections_end();
        self.check_behind(file, end)?;
        let (headers, new_headers) = (self.headers.bytes.len() as u64, self.size_of_headers()?);
        let gone = place(self.bundles_entry());
        let mut moves = Moves { headers, new_headers, gone, end, marker: 0..0 };
        let align = self.headers.file_alignment();
        let start = moves.sections_end().next_multiple_of(align);
        moves.marker = start..(start + marker).next_multiple_of(align);
        word(moves.moved(self.headers.len))?;
        Ok(moves)
    }

    /// Size of the headers with another section, which are larger only if these have no room.
    fn size_of_headers(&self) -> Result<u64, FatError> {
        let (headers, start) = (&self.headers, self.headers.table_end());
        let end = start + size_of::<ImageSectionHeader>();
        let rest = &headers.bytes[start..end.min(headers.bytes.len())];
        let count = headers.entries.len();
        if count >= usize::from(MOST_SECTIONS) {
            return Err(FatError::Count { count });
        }
        // Tables of old binders follow the section table.
        if rest.iter().any(|byte| *byte != 0) {
            return Err(FatError::Names);
        }
        let old = headers.bytes.len() as u64;
        let more = (end as u64).saturating_sub(old).next_multiple_of(headers.file_alignment());
        let first = headers.entries.iter().map(|entry| addresses(entry).start).min();
        if first.is_some_and(|first| old + more > first) {
            return Err(FatError::Names);
        }
        Ok(old + more)
    }

    /// Refuses bytes behind the sections, except symbols for debuggers, which have a pointer.
    fn check_behind(&self, file: &impl ReadAt, end: u64) -> Result<(), FatError> {
        let (header, len) = (&self.headers.file, self.headers.len);
        let refused = || FatError::Behind { at: end, size: len - end };
        let symbols = u64::from(header.pointer_to_symbol_table.get(LE));
        let strings = symbols + SYMBOL * u64::from(header.number_of_symbols.get(LE));
        let (mut from, mut to) = (end, end);
        if symbols >= end && strings + 4 <= len {
            let mut size = [0; 4];
            file.read_exact_at(strings, &mut size).map_err(FatError::Read)?;
            // The size includes its own field.
            (from, to) = (symbols, strings + u64::from(u32::from_le_bytes(size)).max(4));
        }
        if to > len {
            return Err(refused());
        }
        for padding in [end..from, to..len] {
            if not_zero(file, padding)?.is_some() {
                return Err(refused());
            }
        }
        Ok(())
    }

    fn new_headers(&self, moves: &Moves, marker: u64) -> Result<Headers, FatError> {
        let (old, mut new) = (&self.headers, self.headers.clone());
        for entry in &mut new.entries {
            for pointer in pointers(entry) {
                pointer.set(LE, word(moved(moves, pointer.get(LE)))?);
            }
        }
        let memory = addresses(self.bundles_entry());
        let bundles = &mut new.entries[self.section];
        bundles.virtual_size.set(LE, word(memory.end - memory.start)?);
        bundles.size_of_raw_data.set(LE, 0);
        bundles.pointer_to_raw_data.set(LE, 0);
        bundles.characteristics.set(LE, flags_of_zeros(bundles.characteristics.get(LE)));
        let address = old.memory_end();
        let zero = U32::new(LE, 0);
        new.entries.push(ImageSectionHeader {
            name: padded(PE_MARKER),
            virtual_size: U32::new(LE, word(marker)?),
            virtual_address: U32::new(LE, word(address)?),
            size_of_raw_data: U32::new(LE, word(moves.marker.end - moves.marker.start)?),
            pointer_to_raw_data: U32::new(LE, word(moves.marker.start)?),
            pointer_to_relocations: zero,
            pointer_to_linenumbers: zero,
            number_of_relocations: U16::new(LE, 0),
            number_of_linenumbers: U16::new(LE, 0),
            characteristics: U32::new(LE, marker_flags()),
        });
        let count = u16::try_from(new.entries.len()).map_err(|_| FatError::Names)?;
        new.file.number_of_sections.set(LE, count);
        let symbols = moved(moves, old.file.pointer_to_symbol_table.get(LE));
        new.file.pointer_to_symbol_table.set(LE, word(symbols)?);
        let optional = &mut new.optional;
        let (initialized, zeros) = self.sizes_of_data(moves);
        optional.size_of_initialized_data.set(LE, initialized);
        optional.size_of_uninitialized_data.set(LE, zeros);
        optional.size_of_headers.set(LE, word(moves.new_headers)?);
        let image = (address + marker).next_multiple_of(optional.section_alignment.get(LE).into());
        optional.size_of_image.set(LE, word(image)?);
        Ok(new)
    }

    /// `SizeOfInitializedData` and `SizeOfUninitializedData`, which no loader reads.
    pub(super) fn sizes_of_data(&self, moves: &Moves) -> (u32, u32) {
        let optional = &self.headers.optional;
        let size = |range: &std::ops::Range<u64>| u32::try_from(range.end - range.start);
        let size = |range| size(range).unwrap_or(u32::MAX);
        let initialized = optional.size_of_initialized_data.get(LE);
        let initialized = initialized.saturating_sub(size(&moves.gone));
        let zeros = optional.size_of_uninitialized_data.get(LE);
        (initialized.saturating_add(size(&moves.marker)), zeros.saturating_add(size(&moves.gone)))
    }

    /// Bytes of the sections that differ, by offset in the old file.
    pub(super) fn changes(
        &self,
        file: &impl ReadAt,
        moves: &Moves,
    ) -> Result<Vec<Overlay>, FatError> {
        let (memory, table) = (addresses(self.table_entry()), place(self.table_entry()));
        let (base, marker) = (self.headers.optional.image_base.get(LE), self.headers.memory_end());
        let mut changes = Vec::new();
        for record in &self.records.list {
            let offset = table.start + (record.address - memory.start);
            let mut old = [0; RECORD_SIZE];
            file.read_exact_at(offset, &mut old).map_err(FatError::Read)?;
            let bytes = self.records.redirected(record, &old, base, marker);
            changes.push(Overlay { offset, bytes });
        }
        for data in &self.debug {
            let to = word(moved(moves, data.points_to))?;
            changes.push(Overlay { offset: data.at, bytes: to.to_le_bytes().to_vec() });
        }
        changes.sort_by_key(|change| change.offset);
        Ok(changes)
    }
}

/// Offsets in a section header.
pub(super) fn pointers(entry: &mut ImageSectionHeader) -> [&mut U32<LE>; 3] {
    [
        &mut entry.pointer_to_raw_data,
        &mut entry.pointer_to_relocations,
        &mut entry.pointer_to_linenumbers,
    ]
}

/// Returns the new offset; 0 stands for a table that the file lacks, and stays.
pub(super) fn moved(moves: &Moves, pointer: u32) -> u64 {
    if pointer == 0 { 0 } else { moves.moved(pointer.into()) }
}
