//! Preconditions of edits: readers must agree on the file.

use object::elf::{self, DynamicTag, Sym64};
use object::endian::LittleEndian as LE;

use super::error::ElfError;
use super::format::records;
use super::header::SEGMENT_SIZE;
use super::info::ElfInfo;
use crate::ReadAt;

/// Tags allowed at most once.
const SINGLE_ENTRIES: [(DynamicTag, &str); 21] = [
    (elf::DT_STRTAB, "count of DT_STRTAB entries"),
    (elf::DT_STRSZ, "count of DT_STRSZ entries"),
    (elf::DT_SYMTAB, "count of DT_SYMTAB entries"),
    (elf::DT_HASH, "count of DT_HASH entries"),
    (elf::DT_GNU_HASH, "count of DT_GNU_HASH entries"),
    (elf::DT_RELA, "count of DT_RELA entries"),
    (elf::DT_RELASZ, "count of DT_RELASZ entries"),
    (elf::DT_REL, "count of DT_REL entries"),
    (elf::DT_RELSZ, "count of DT_RELSZ entries"),
    (elf::DT_RELR, "count of DT_RELR entries"),
    (elf::DT_RELRSZ, "count of DT_RELRSZ entries"),
    (elf::DT_JMPREL, "count of DT_JMPREL entries"),
    (elf::DT_PLTRELSZ, "count of DT_PLTRELSZ entries"),
    (elf::DT_VERSYM, "count of DT_VERSYM entries"),
    (elf::DT_VERNEED, "count of DT_VERNEED entries"),
    (elf::DT_VERDEF, "count of DT_VERDEF entries"),
    (elf::DT_INIT, "count of DT_INIT entries"),
    (elf::DT_FINI, "count of DT_FINI entries"),
    (elf::DT_INIT_ARRAY, "count of DT_INIT_ARRAY entries"),
    (elf::DT_FINI_ARRAY, "count of DT_FINI_ARRAY entries"),
    (elf::DT_PREINIT_ARRAY, "count of DT_PREINIT_ARRAY entries"),
];

const NAMES: [(DynamicTag, &str); 5] = [
    (elf::DT_AUXILIARY, "DT_AUXILIARY"),
    (elf::DT_FILTER, "DT_FILTER"),
    (elf::DT_CONFIG, "DT_CONFIG"),
    (elf::DT_DEPAUDIT, "DT_DEPAUDIT"),
    (elf::DT_AUDIT, "DT_AUDIT"),
];

impl ElfInfo {
    pub(super) fn check_what_edits_rely_on(
        &self,
        file: &(impl ReadAt + ?Sized),
    ) -> Result<(), ElfError> {
        self.check_single_segments()?;
        self.check_load_order()?;
        self.check_dynamic_place()?;
        self.check_single_entries()?;
        let symbols = self.symbols_in_use(file)?;
        self.check_tables(file, symbols)?;
        self.check_names(file, symbols)
    }

    /// Rejects two segments of a kind, of which kernel and loader choose different ones.
    fn check_single_segments(&self) -> Result<(), ElfError> {
        let kinds = [
            (elf::PT_DYNAMIC, "count of PT_DYNAMIC entries"),
            (elf::PT_INTERP, "count of PT_INTERP entries"),
        ];
        for (kind, field) in kinds {
            let count = self.segments.iter().filter(|segment| segment.kind == kind).count();
            if count > 1 {
                return Err(ElfError::Header { field, value: count as u64 });
            }
        }
        Ok(())
    }

    /// The visible bytes of overlapping LOADs depend on the loader.
    fn check_load_order(&self) -> Result<(), ElfError> {
        let mut loads: Vec<_> = self.loads().filter(|load| load.memory_size > 0).collect();
        loads.sort_by_key(|load| load.address);
        let over = loads.windows(2).find(|pair| pair[1].address < pair[0].memory_end());
        match over {
            Some(pair) => Err(ElfError::Header {
                field: "p_vaddr of a LOAD over another one",
                value: pair[1].address,
            }),
            None => Ok(()),
        }
    }

    /// Loaders find the dynamic section by address, editors by offset.
    fn check_dynamic_place(&self) -> Result<(), ElfError> {
        match self.segment(elf::PT_DYNAMIC) {
            Some(it) if self.offset_of(it.address, it.file_size) != Some(it.offset) => {
                Err(ElfError::Header { field: "p_vaddr of PT_DYNAMIC", value: it.address })
            }
            _ => Ok(()),
        }
    }

    /// Rejects duplicates, of which loaders use one.
    fn check_single_entries(&self) -> Result<(), ElfError> {
        for (tag, field) in SINGLE_ENTRIES {
            let count = self.entries_of(tag).count();
            if count > 1 {
                return Err(ElfError::Dynamic { field, value: count as u64 });
            }
        }
        Ok(())
    }

    fn symbols_in_use(&self, file: &(impl ReadAt + ?Sized)) -> Result<u64, ElfError> {
        let by_hash = self.symbol_count(file).unwrap_or(0);
        let most = self.highest_symbol(file).ok_or(ElfError::Dynamic {
            field: "place of a relocation table",
            value: self.tag(elf::DT_RELA).or(self.tag(elf::DT_JMPREL)).unwrap_or(0),
        })?;
        Ok(by_hash.max(if most > 0 { u64::from(most) + 1 } else { 0 }))
    }

    fn check_tables(&self, file: &(impl ReadAt + ?Sized), symbols: u64) -> Result<(), ElfError> {
        if let Some(address) = self.tag(elf::DT_GNU_HASH)
            && self.gnu_hash(file).is_none()
        {
            return Err(ElfError::NotFileBacked { field: "the end of DT_GNU_HASH", address });
        }
        let mut places = self.header_places();
        for range in self.ranges(file) {
            let size = match range.tag {
                elf::DT_SYMTAB => symbols.saturating_mul(size_of::<Sym64<LE>>() as u64).max(1),
                _ => range.size.unwrap_or(1),
            };
            if size == 0 {
                continue;
            }
            let start = self.offset_of(range.address, size);
            let not_backed = ElfError::NotFileBacked { field: range.name, address: range.address };
            let start = start.ok_or(not_backed)?;
            // Some linkers write one table of all relocations; DT_JMPREL is part of it.
            if range.tag != elf::DT_JMPREL {
                places.push((start, start + size, range.name));
            }
        }
        places.sort_unstable();
        match places.windows(2).find(|pair| pair[1].0 < pair[0].1) {
            Some(pair) => Err(ElfError::Overlap { one: pair[0].2, other: pair[1].2 }),
            None => Ok(()),
        }
    }

    fn header_places(&self) -> Vec<(u64, u64, &'static str)> {
        let mut places = vec![(0, 64, "the file header")];
        if let Some(header) = &self.header {
            let size = header.segment_count.saturating_mul(SEGMENT_SIZE);
            let end = header.segments_at.saturating_add(size);
            places.push((header.segments_at, end, "the program header table"));
        }
        let dynamic = self.segment(elf::PT_DYNAMIC);
        places.extend(dynamic.map(|it| (it.offset, it.file_end(), "the dynamic section")));
        places
    }

    /// Rejects names beyond `DT_STRSZ`, which would be lost if the string table moved.
    fn check_names(&self, file: &(impl ReadAt + ?Sized), symbols: u64) -> Result<(), ElfError> {
        self.facts()?;
        for entry in &self.definitions.entries {
            entry.names.iter().try_for_each(|&at| self.string("vda_name", at).map(drop))?;
        }
        for (tag, field) in NAMES {
            self.entries_of(tag).try_for_each(|at| self.string(field, at).map(drop))?;
        }
        let strings = self.strings.as_ref().map_or(0, |strings| strings.bytes.len() as u64);
        // Mandatory in the gABI; the sizes of related tables depend on it.
        let address = self
            .tag(elf::DT_SYMTAB)
            .ok_or(ElfError::Dynamic { field: "count of DT_SYMTAB entries", value: 0 })?;
        let size = symbols.saturating_mul(size_of::<Sym64<LE>>() as u64);
        let table = self
            .read_at(file, address, size)
            .ok_or(ElfError::NotFileBacked { field: "DT_SYMTAB", address })?;
        let names = records::<Sym64<LE>>(&table).iter().map(|it| u64::from(it.st_name.get(LE)));
        match names.max().filter(|name| *name >= strings) {
            Some(value) => Err(ElfError::Dynamic { field: "st_name", value }),
            None => Ok(()),
        }
    }
}
