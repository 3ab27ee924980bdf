//! Whether anything that loaders follow points at bytes that look unused: zeros between tables
//! may be a variable's.

use std::ops::Range;

use object::elf::{self, DynamicTag, Rel64, Rela64, Sym64};
use object::endian::{LittleEndian as LE, U64};
use object::pod;

use super::header::records;
use super::info::ElfInfo;
use crate::ReadAt;

/// How much of a table is read at a time, in bytes; a multiple of every record's size.
const WINDOW: u64 = 24 * 4096;
/// Bytes that a relocation changes; those of GPU hosts change no more.
const WORD: u64 = 8;

/// Entries whose values are numbers or places in the string table, and those of tables that claim
/// their bytes themselves.
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

/// A word that loaders fill (gABI, "Relocation").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filled {
    /// Its address.
    pub place: u64,
    /// The address that it leads to; nothing where a symbol tells.
    pub to: Option<u64>,
    /// Where the file is loaded is added, and nothing else.
    pub relative: bool,
}

/// Addresses that are about to be written over.
struct Targets(Vec<Range<u64>>);

impl Targets {
    fn touch(&self, address: u64, len: u64) -> bool {
        let end = address.saturating_add(len.max(1));
        self.0.iter().any(|target| target.start < end && address < target.end)
    }
}

impl ElfInfo {
    /// Whether a symbol, a relocation or a dynamic entry refers to the bytes of the file from
    /// `start` to `end`. A table that cannot be read refers to everything.
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

    /// Whether a symbol or a dynamic entry leads to these addresses; nothing when a table cannot be read.
    pub(super) fn names_any(
        &self,
        file: &(impl ReadAt + ?Sized),
        addresses: Range<u64>,
    ) -> Option<bool> {
        let targets = Targets(vec![addresses]);
        let entries = self.dynamic.iter().flat_map(|dynamic| &dynamic.entries);
        let mut pointing = entries.filter(|entry| !NO_ADDRESS.contains(&entry.tag));
        Some(
            pointing.any(|entry| targets.touch(entry.value, 1))
                || self.symbols_refer_to(file, &targets)?,
        )
    }

    /// Shows every word that loaders fill; nothing when a table cannot be read.
    pub(super) fn each_filled(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut see: impl FnMut(Filled),
    ) -> Option<()> {
        let mut with_addend = |it: &Rela64<LE>| {
            let addend = it.r_addend.get(LE).cast_unsigned();
            let relative = it.r_type(LE, false) == elf::R_X86_64_RELATIVE;
            let to = (it.r_sym(LE, false) == 0).then_some(addend);
            see(Filled { place: it.r_offset.get(LE), to, relative });
            false
        };
        let [plt, rela, rel] = self.relocation_tables();
        self.any_record(file, rela.0, rela.1, &mut with_addend)?;
        if self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, &mut with_addend)?;
        }
        let mut in_place = |it: &Rel64<LE>| {
            let place = it.r_offset.get(LE);
            see(Filled { place, to: self.word_at(file, place), relative: false });
            false
        };
        self.any_record(file, rel.0, rel.1, &mut in_place)?;
        if !self.plt_has_addends() {
            self.any_record(file, plt.0, plt.1, &mut in_place)?;
        }
        self.any_relative_word(file, |place, to| {
            see(Filled { place, to, relative: true });
            false
        })?;
        Some(())
    }

    fn symbols_refer_to(&self, file: &(impl ReadAt + ?Sized), targets: &Targets) -> Option<bool> {
        let Some(address) = self.tag(elf::DT_SYMTAB) else { return Some(false) };
        let Some(count) = self.symbol_count(file) else { return Some(false) };
        let refers = |symbol: &Sym64<LE>| {
            let section = symbol.st_shndx.get(LE);
            let is_here = section != elf::SHN_UNDEF && section != elf::SHN_ABS;
            let is_place = is_here && symbol.st_type() != elf::STT_TLS;
            is_place && targets.touch(symbol.st_value.get(LE), symbol.st_size.get(LE))
        };
        self.any_record(file, address, count.checked_mul(size_of::<Sym64<LE>>() as u64)?, refers)
    }

    fn relocations_refer_to(
        &self,
        file: &(impl ReadAt + ?Sized),
        targets: &Targets,
    ) -> Option<bool> {
        let addends = |relocation: &Rela64<LE>| {
            let addend = relocation.r_addend.get(LE).cast_unsigned();
            targets.touch(relocation.r_offset.get(LE), WORD)
                // The first symbol has no value: what is relative to the file has the addend alone.
                || (relocation.r_sym(LE, false) == 0 && targets.touch(addend, 1))
        };
        let in_place = |relocation: &Rel64<LE>| {
            let at = relocation.r_offset.get(LE);
            targets.touch(at, WORD) || self.word_points(file, targets, at)
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

    /// The highest number of a symbol in any relocation, 0 when none has one; `None` when a table
    /// cannot be read.
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

    /// Addresses and sizes of `DT_JMPREL`, `DT_RELA` and `DT_REL`; zeros for those that are not there.
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

    /// `DT_RELR` (gABI, "Relative Relocations"): an address, then bit maps of the words behind it. Each word is
    /// given with its place; without it where it has no bytes in the file.
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
                // The map can reach over the end of the LOAD.
                refers(place, word.map(|word| word.get(LE)).or_else(|| self.word_at(file, place)))
            })
        };
        self.any_record(file, at, size, entry)
    }

    /// The word at `address`, when it has bytes in the file.
    pub(super) fn word_at(&self, file: &(impl ReadAt + ?Sized), address: u64) -> Option<u64> {
        let bytes = self.read_at(file, address, WORD)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Whether the word at `address` is an address that is about to be written over.
    fn word_points(&self, file: &(impl ReadAt + ?Sized), targets: &Targets, address: u64) -> bool {
        self.word_at(file, address).is_some_and(|word| targets.touch(word, 1))
    }

    /// Whether any record of the table is one that `refers`; `None` when it has no bytes in the file.
    fn any_record<T: pod::Pod>(
        &self,
        file: &(impl ReadAt + ?Sized),
        address: u64,
        size: u64,
        mut refers: impl FnMut(&T) -> bool,
    ) -> Option<bool> {
        let mut done = 0;
        while done < size {
            let len = WINDOW.min(size - done);
            let bytes = self.read_at(file, address.checked_add(done)?, len)?;
            if records::<T>(&bytes).iter().any(&mut refers) {
                return Some(true);
            }
            done += len;
        }
        Some(false)
    }
}
