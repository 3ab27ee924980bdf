//! References to bytes that look unused: zeros may belong to a variable.

use std::ops::Range;

use object::elf::{self, DynamicTag, Rel64, Rela64, Sym64};
use object::endian::{LittleEndian as LE, U64};
use object::pod;

use super::format::records;
use super::info::ElfInfo;
use crate::ReadAt;

/// A multiple of every record size.
const WINDOW: u64 = 24 * 4096;
/// Maximum size of a relocated word on supported hosts.
const WORD: u64 = 8;
const ADDEND: u64 = 16;

/// Numbers, string offsets, and tables claimed separately.
const NO_ADDRESS: [DynamicTag; 26] = [
    elf::DT_NEEDED,
    elf::DT_SONAME,
    elf::DT_RPATH,
    elf::DT_RUNPATH,
    elf::DT_STRTAB,
    elf::DT_STRSZ,
    elf::DT_SYMTAB,
    elf::DT_SYMENT,
    elf::DT_RELASZ,
    elf::DT_RELAENT,
    elf::DT_RELSZ,
    elf::DT_RELENT,
    elf::DT_RELRSZ,
    elf::DT_RELRENT,
    elf::DT_PLTRELSZ,
    elf::DT_PLTREL,
    elf::DT_INIT_ARRAYSZ,
    elf::DT_FINI_ARRAYSZ,
    elf::DT_PREINIT_ARRAYSZ,
    elf::DT_FLAGS,
    elf::DT_FLAGS_1,
    elf::DT_RELACOUNT,
    elf::DT_RELCOUNT,
    elf::DT_VERDEFNUM,
    elf::DT_VERNEEDNUM,
    elf::DT_DEBUG,
];

/// Word that the loader fills in (gABI, "Relocation").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filled {
    pub place: u64,
    /// `None` if it depends on a symbol.
    pub to: Option<u64>,
    /// Whether the loader adds only the base address.
    pub relative: bool,
    pub symbol: u32,
    pub whole: bool,
    pub addend: Option<u64>,
}

struct Targets(Vec<Range<u64>>);

impl Targets {
    fn touch(&self, address: u64, len: u64) -> bool {
        let end = address.saturating_add(len.max(1));
        self.0.iter().any(|target| target.start < end && address < target.end)
    }
}

impl ElfInfo {
    /// True if anything refers to the file range, or a table is unreadable.
    pub(super) fn points_into(&self, file: &(impl ReadAt + ?Sized), start: u64, end: u64) -> bool {
        let loads = self.loads().filter(|load| load.offset < end && start < load.file_end());
        let addresses = loads.map(|load| {
            let address = |offset: u64| load.address.saturating_add(offset - load.offset);
            address(start.max(load.offset))..address(end.min(load.file_end()))
        });
        let targets = Targets(addresses.collect());
        !targets.0.is_empty() && self.refers_to(file, &targets).unwrap_or(true)
    }

    fn refers_to(&self, file: &(impl ReadAt + ?Sized), targets: &Targets) -> Option<bool> {
        let tables = [
            elf::DT_HASH,
            elf::DT_GNU_HASH,
            elf::DT_VERSYM,
            elf::DT_VERNEED,
            elf::DT_VERDEF,
            elf::DT_REL,
            elf::DT_RELA,
        ];
        let entries = self.dynamic.iter().flat_map(|dynamic| &dynamic.entries);
        let mut pointing = entries
            .filter(|entry| !NO_ADDRESS.contains(&entry.tag) && !tables.contains(&entry.tag));
        Some(
            pointing.any(|entry| targets.touch(entry.value, 1))
                || self.symbols_refer_to(file, targets)?
                || self.relocations_refer_to(file, targets)?,
        )
    }

    pub(super) fn names_any(&self, addresses: Range<u64>) -> bool {
        let targets = Targets(vec![addresses]);
        let entries = self.dynamic.iter().flat_map(|dynamic| &dynamic.entries);
        let mut pointing = entries.filter(|entry| !NO_ADDRESS.contains(&entry.tag));
        pointing.any(|entry| targets.touch(entry.value, 1))
    }

    pub(super) fn each_filled(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut see: impl FnMut(Filled),
    ) -> Option<()> {
        let mut with_addend = |at: u64, it: &Rela64<LE>| {
            let addend = it.r_addend.get(LE).cast_unsigned();
            let (kind, symbol) = (it.r_type(LE, false), it.r_sym(LE, false));
            see(Filled {
                place: it.r_offset.get(LE),
                to: (symbol == 0).then_some(addend),
                relative: kind == elf::R_X86_64_RELATIVE,
                symbol,
                whole: kind == elf::R_X86_64_64 && addend == 0,
                addend: Some(at.wrapping_add(ADDEND)),
            });
            false
        };
        let [plt, rela, rel] = self.relocation_tables();
        self.any_placed(file, rela.0, rela.1, &mut with_addend)?;
        if self.plt_has_addends() {
            self.any_placed(file, plt.0, plt.1, &mut with_addend)?;
        }
        let mut in_place = |it: &Rel64<LE>| {
            let (place, symbol) = (it.r_offset.get(LE), it.r_sym(LE));
            let target = self.word_at(file, place);
            see(Filled { place, to: target, relative: false, symbol, whole: false, addend: None });
            false
        };
        self.any_record(file, rel.0, rel.1, &mut in_place)?;
        if !self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, &mut in_place)?;
        }
        self.any_relative_word(file, |place, to| {
            see(Filled { place, to, relative: true, symbol: 0, whole: false, addend: None });
            false
        })?;
        Some(())
    }

    pub(super) fn each_symbol(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut see: impl FnMut(u64, &Sym64<LE>),
    ) -> Option<()> {
        let Some(address) = self.tag(elf::DT_SYMTAB) else { return Some(()) };
        let Some(count) = self.symbol_count(file) else { return Some(()) };
        let size = count.checked_mul(size_of::<Sym64<LE>>() as u64)?;
        self.any_placed(file, address, size, |at, symbol| {
            see(at, symbol);
            false
        })?;
        Some(())
    }

    fn symbols_refer_to(&self, file: &(impl ReadAt + ?Sized), targets: &Targets) -> Option<bool> {
        let mut refers = false;
        self.each_symbol(file, |_, symbol| {
            let place = place_of(symbol);
            refers |= place.is_some_and(|at| targets.touch(at, symbol.st_size.get(LE)));
        })?;
        Some(refers)
    }

    fn relocations_refer_to(
        &self,
        file: &(impl ReadAt + ?Sized),
        targets: &Targets,
    ) -> Option<bool> {
        let addends = |relocation: &Rela64<LE>| {
            let addend = relocation.r_addend.get(LE).cast_unsigned();
            targets.touch(relocation.r_offset.get(LE), WORD)
                // Symbol 0 has no value: the target of a relative relocation is its addend.
                || (relocation.r_sym(LE, false) == 0 && targets.touch(addend, 1))
        };
        let in_place = |relocation: &Rel64<LE>| {
            let address = relocation.r_offset.get(LE);
            targets.touch(address, WORD) || self.word_points(file, targets, address)
        };
        let [plt, rela, rel] = self.relocation_tables();
        let by_plt = if self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, addends)?
        } else {
            self.any_record(file, plt.0, plt.1, in_place)?
        };
        Some(
            by_plt
                || self.any_record(file, rela.0, rela.1, addends)?
                || self.any_record(file, rel.0, rel.1, in_place)?
                || self.relative_words_refer_to(file, targets)?,
        )
    }

    /// Highest index or 0; `None` if a table is unreadable.
    pub(super) fn highest_symbol(&self, file: &(impl ReadAt + ?Sized)) -> Option<u32> {
        let mut highest = 0;
        let mut see = |symbol: u32| {
            highest = symbol.max(highest);
            false
        };
        let mut with_addends = |it: &Rela64<LE>| see(it.r_sym(LE, false));
        let [plt, rela, rel] = self.relocation_tables();
        self.any_record(file, rela.0, rela.1, &mut with_addends)?;
        if self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, &mut with_addends)?;
        }
        let mut in_place = |it: &Rel64<LE>| see(it.r_sym(LE));
        self.any_record(file, rel.0, rel.1, &mut in_place)?;
        if !self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, &mut in_place)?;
        }
        Some(highest)
    }

    /// `DT_JMPREL`, `DT_RELA` and `DT_REL`.
    fn relocation_tables(&self) -> [(u64, u64); 3] {
        let tables = [
            (elf::DT_JMPREL, elf::DT_PLTRELSZ),
            (elf::DT_RELA, elf::DT_RELASZ),
            (elf::DT_REL, elf::DT_RELSZ),
        ];
        tables.map(|(at, size)| self.tag(at).zip(self.tag(size)).unwrap_or_default())
    }

    fn plt_has_addends(&self) -> bool {
        self.tag(elf::DT_PLTREL).is_none_or(|kind| kind == elf::DT_RELA.0.cast_unsigned())
    }

    fn relative_words_refer_to(
        &self,
        file: &(impl ReadAt + ?Sized),
        targets: &Targets,
    ) -> Option<bool> {
        self.any_relative_word(file, |place, word| {
            targets.touch(place, WORD) || word.is_some_and(|word| targets.touch(word, 1))
        })
    }

    /// Decodes `DT_RELR` (gABI, "Relative Relocations"): an address, then bitmaps of later words.
    fn any_relative_word(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut refers: impl FnMut(u64, Option<u64>) -> bool,
    ) -> Option<bool> {
        let Some((at, size)) = self.tag(elf::DT_RELR).zip(self.tag(elf::DT_RELRSZ)) else {
            return Some(false);
        };
        let mut next = 0u64;
        let entry = |entry: &U64<LE>| {
            let entry = entry.get(LE);
            if entry & 1 == 0 {
                next = entry.wrapping_add(WORD);
                return refers(entry, self.word_at(file, entry));
            }
            let start = next;
            next = next.wrapping_add(63 * WORD);
            let words = self.read_at(file, start, 63 * WORD).unwrap_or_default();
            (0..63u64).filter(|bit| entry >> (bit + 1) & 1 == 1).any(|bit| {
                let place = start.wrapping_add(bit * WORD);
                let word = records::<U64<LE>>(&words).get(usize::try_from(bit).unwrap_or(63));
                // The bitmap can extend beyond the end of the LOAD.
                refers(place, word.map(|word| word.get(LE)).or_else(|| self.word_at(file, place)))
            })
        };
        self.any_record(file, at, size, entry)
    }

    pub(super) fn word_at(&self, file: &(impl ReadAt + ?Sized), address: u64) -> Option<u64> {
        let bytes = self.read_at(file, address, WORD)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    fn word_points(&self, file: &(impl ReadAt + ?Sized), targets: &Targets, address: u64) -> bool {
        self.word_at(file, address).is_some_and(|word| targets.touch(word, 1))
    }

    fn any_record<T: pod::Pod>(
        &self,
        file: &(impl ReadAt + ?Sized),
        address: u64,
        size: u64,
        mut refers: impl FnMut(&T) -> bool,
    ) -> Option<bool> {
        self.any_placed(file, address, size, |_, record| refers(record))
    }

    fn any_placed<T: pod::Pod>(
        &self,
        file: &(impl ReadAt + ?Sized),
        address: u64,
        size: u64,
        mut refers: impl FnMut(u64, &T) -> bool,
    ) -> Option<bool> {
        let mut offset = 0;
        while offset < size {
            let len = WINDOW.min(size - offset);
            let start = address.checked_add(offset)?;
            let bytes = self.read_at(file, start, len)?;
            let mut placed = records::<T>(&bytes).iter().enumerate();
            if placed.any(|(at, record)| refers(start + (at * size_of::<T>()) as u64, record)) {
                return Some(true);
            }
            offset += len;
        }
        Some(false)
    }
}

pub(super) fn place_of(symbol: &Sym64<LE>) -> Option<u64> {
    let section = symbol.st_shndx.get(LE);
    let is_here = section != elf::SHN_UNDEF && section != elf::SHN_ABS;
    (is_here && symbol.st_type() != elf::STT_TLS).then(|| symbol.st_value.get(LE))
}
