use std::collections::BTreeMap;

use object::elf::{self, DynamicTag};

use super::dynamic::{DynamicEntry, ENTRY_SIZE};
use super::error::ElfError;
use super::header::{SECTION_SIZE, SEGMENT_SIZE, Section, Segment, read_bytes};
use super::info::ElfInfo;
use crate::ReadAt;
use crate::overlay::Overlay;

const E_PHOFF: u64 = 32;
const E_SHOFF: u64 = 40;
const E_PHNUM: u64 = 56;

#[derive(Debug, Clone, Copy)]
pub(super) struct TablePlace {
    pub offset: u64,
    pub address: u64,
    pub size: u64,
}

pub(super) struct ElfBuilder<'a, R: ?Sized> {
    pub file: &'a R,
    pub info: &'a ElfInfo,
    pub segments: Vec<Segment>,
    pub sections: Vec<Section>,
    pub table_at: u64,
    pub sections_at: u64,
    pub entries: Vec<DynamicEntry>,
    pub dynamic: TablePlace,
    pub strings: TablePlace,
    pub steps: Vec<String>,
    /// Whether bytes without a section or reference are free, not only zeros.
    pub overwrites: bool,
    writes: BTreeMap<u64, Vec<u8>>,
    tail: Vec<u8>,
}

pub(super) fn round_up(value: u64, align: u64) -> Result<u64, ElfError> {
    value.checked_next_multiple_of(align.max(1)).ok_or(ElfError::Header { field: "p_vaddr", value })
}

impl<'a, R: ReadAt + ?Sized> ElfBuilder<'a, R> {
    pub(super) fn new(
        file: &'a R,
        info: &'a ElfInfo,
        table_at: u64,
        dynamic: TablePlace,
        strings: TablePlace,
    ) -> Self {
        Self {
            file,
            info,
            segments: info.segments.clone(),
            sections: info.sections.clone(),
            table_at,
            sections_at: info.header.as_ref().map_or(0, |header| header.sections_at),
            entries: Vec::new(),
            dynamic,
            strings,
            steps: Vec::new(),
            overwrites: false,
            writes: BTreeMap::new(),
            tail: Vec::new(),
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.info.file_len + self.tail.len() as u64
    }

    pub(super) fn old_bytes(&self, offset: u64, len: u64) -> Result<Vec<u8>, ElfError> {
        read_bytes(self.file, self.info.file_len, offset, len, "the bytes to move")
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ElfError> {
        let index = |value: u64| {
            usize::try_from(value).map_err(|_| ElfError::Header { field: "file offset", value })
        };
        let inside = index(self.info.file_len.saturating_sub(offset).min(bytes.len() as u64))?;
        let (head, rest) = bytes.split_at(inside);
        if !head.is_empty() {
            self.writes.insert(offset, head.to_vec());
        }
        if !rest.is_empty() {
            let start = index(offset + inside as u64 - self.info.file_len)?;
            self.tail.resize(self.tail.len().max(start), 0);
            let (over, behind) = rest.split_at(rest.len().min(self.tail.len() - start));
            self.tail[start..start + over.len()].copy_from_slice(over);
            self.tail.extend_from_slice(behind);
        }
        Ok(())
    }

    pub(super) fn reserve(&mut self, bytes: usize) {
        self.tail.reserve_exact(bytes);
    }

    pub(super) fn pad_to(&mut self, offset: u64) -> Result<(), ElfError> {
        let len = usize::try_from(offset.saturating_sub(self.info.file_len))
            .map_err(|_| ElfError::Header { field: "file offset", value: offset })?;
        self.tail.resize(self.tail.len().max(len), 0);
        Ok(())
    }

    pub(super) fn set_entry(&mut self, tag: DynamicTag, value: u64) {
        self.entries
            .iter_mut()
            .filter(|entry| entry.tag == tag)
            .for_each(|entry| entry.value = value);
    }

    pub(super) fn set_strings(&mut self, place: TablePlace) {
        let old = self.strings.address;
        self.strings = place;
        self.set_entry(elf::DT_STRTAB, place.address);
        self.set_entry(elf::DT_STRSZ, place.size);
        self.set_section(elf::SHT_STRTAB, old, place);
    }

    pub(super) fn set_dynamic(&mut self, place: TablePlace) {
        let old = self.dynamic.address;
        self.dynamic = place;
        for segment in self.segments.iter_mut().filter(|segment| segment.kind == elf::PT_DYNAMIC) {
            (segment.offset, segment.address, segment.physical) =
                (place.offset, place.address, place.address);
            (segment.file_size, segment.memory_size) = (place.size, place.size);
        }
        self.set_section(elf::SHT_DYNAMIC, old, place);
    }

    fn set_section(&mut self, kind: elf::SectionType, address: u64, place: TablePlace) {
        let is_match = |section: &&mut Section| {
            section.kind == kind && section.is_allocated() && section.address == address
        };
        for section in self.sections.iter_mut().filter(is_match) {
            (section.address, section.offset, section.size) =
                (place.address, place.offset, place.size);
        }
    }

    pub(super) fn next_page(&self) -> Result<u64, ElfError> {
        let highest =
            self.segments.iter().filter(|segment| segment.is_load()).map(Segment::memory_end).max();
        round_up(highest.unwrap_or(0), self.info.machine.page())
    }

    pub(super) fn finish(mut self) -> Result<(Vec<Overlay>, u64, Vec<String>), ElfError> {
        self.write_dynamic()?;
        self.write_segments()?;
        self.write_symbols()?;
        self.write_sections()?;
        let end = self.end();
        let mut overlays = self.overlays()?;
        if !self.tail.is_empty() {
            overlays.push(Overlay { offset: self.info.file_len, bytes: self.tail });
        }
        Ok((overlays, end, self.steps))
    }

    pub(super) fn overlays(&mut self) -> Result<Vec<Overlay>, ElfError> {
        let mut joined: Vec<Overlay> = Vec::new();
        for (offset, bytes) in std::mem::take(&mut self.writes) {
            let next = Overlay { offset, bytes };
            let apart = match joined.last_mut() {
                Some(last) => last.join(next),
                None => Some(next),
            };
            joined.extend(apart);
        }
        let changed = joined.into_iter().map(|it| it.without_equal_ends(self.file));
        changed.filter_map(Result::transpose).collect()
    }

    /// Overwrites all former slots: slots of removed entries become `DT_NULL`.
    pub(super) fn write_dynamic(&mut self) -> Result<(), ElfError> {
        let mut bytes: Vec<u8> = self.entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        let used = self.info.dynamic.as_ref().map_or(0, |dynamic| dynamic.entries.len() as u64 + 1)
            * ENTRY_SIZE;
        let size = used.max(bytes.len() as u64 + ENTRY_SIZE).min(self.dynamic.size);
        bytes.resize(
            usize::try_from(size)
                .map_err(|_| ElfError::Dynamic { field: "p_filesz", value: size })?,
            0,
        );
        self.write(self.dynamic.offset, &bytes)
    }

    fn write_segments(&mut self) -> Result<(), ElfError> {
        if self.segments == self.info.segments
            && self.info.header.as_ref().is_some_and(|header| header.segments_at == self.table_at)
        {
            return Ok(());
        }
        self.update_own_header();
        self.write_table(|offset| offset)
    }

    pub(super) fn write_table(&mut self, moved: impl Fn(u64) -> u64) -> Result<(), ElfError> {
        let in_place =
            |segment: &Segment| Segment { offset: moved(segment.offset), ..segment.clone() };
        let bytes: Vec<u8> = self.segments.iter().flat_map(|it| in_place(it).to_bytes()).collect();
        self.write(self.table_at, &bytes)?;
        let count = self.segments.len();
        let narrow =
            u16::try_from(count).map_err(|_| ElfError::TooManyHeaders { count: count as u64 })?;
        self.write(E_PHOFF, &moved(self.table_at).to_le_bytes())?;
        self.write(E_PHNUM, &narrow.to_le_bytes())
    }

    /// Keeps spare room that `PT_PHDR` covered before.
    pub(super) fn update_own_header(&mut self) {
        let size = self.segments.len() as u64 * SEGMENT_SIZE;
        let offset = self.table_at;
        let contains =
            |load: &&Segment| load.is_load() && load.offset <= offset && offset < load.file_end();
        let Some(address) =
            self.segments.iter().find(contains).map(|load| load.address + (offset - load.offset))
        else {
            return;
        };
        for segment in self.segments.iter_mut().filter(|segment| segment.kind == elf::PT_PHDR) {
            let size = if segment.offset == offset { size.max(segment.file_size) } else { size };
            (segment.offset, segment.address, segment.physical) = (offset, address, address);
            (segment.file_size, segment.memory_size) = (size, size);
        }
    }

    fn write_sections(&mut self) -> Result<(), ElfError> {
        let old = self.info.section_table();
        let moves = self.sections_at != old.start;
        if moves {
            let size = usize::try_from(old.end - old.start)
                .map_err(|_| ElfError::Header { field: "e_shnum", value: old.end - old.start })?;
            // Zeros are room for the next edit; the program header table already uses the first.
            let table_end = self.table_at + self.segments.len() as u64 * SEGMENT_SIZE;
            let overlap = usize::try_from(table_end.saturating_sub(old.start)).unwrap_or(size);
            self.write(old.start.max(table_end), &vec![0; size.saturating_sub(overlap)])?;
            self.write(E_SHOFF, &self.sections_at.to_le_bytes())?;
        }
        let pairs = self.sections.iter().zip(&self.info.sections).enumerate();
        let writes: Vec<_> = pairs
            .filter(|(_, (new, old))| moves || new != old)
            .map(|(index, (new, _))| {
                (self.sections_at + index as u64 * SECTION_SIZE, new.to_bytes())
            })
            .collect();
        writes.into_iter().try_for_each(|(at, bytes)| self.write(at, &bytes))
    }
}
