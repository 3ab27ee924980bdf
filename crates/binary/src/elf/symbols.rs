//! Symbols of `.symtab`: debuggers and strippers read them, loaders do not.

use object::elf::{self, Sym64};
use object::endian::LittleEndian as LE;

use super::builder::ElfBuilder;
use super::error::ElfError;
use super::format::records;
use super::header::{Section, read_bytes};
use super::info::ElfInfo;
use crate::ReadAt;

const SIZE: u64 = size_of::<Sym64<LE>>() as u64;
/// Bytes read at once; whole symbols.
const WINDOW: u64 = SIZE * 4096;
/// Offset of `st_value`.
const VALUE_AT: u64 = 8;

impl ElfInfo {
    pub(super) fn each_symtab_symbol(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut visit: impl FnMut(u64, &Sym64<LE>),
    ) -> Result<(), ElfError> {
        for table in self.sections.iter().filter(|section| section.is_symtab()) {
            let (mut offset, end) = (table.offset, table.file_end());
            while offset < end {
                let size = WINDOW.min(end - offset);
                let bytes = read_bytes(file, self.file_len, offset, size, "the symbol table")?;
                for (index, symbol) in records::<Sym64<LE>>(&bytes).iter().enumerate() {
                    visit(offset + index as u64 * SIZE, symbol);
                }
                offset += size;
            }
        }
        Ok(())
    }

    /// Returns the index of the symbol's section (`st_shndx`). `None` if the value is no address in
    /// that section (a TLS symbol has an offset), except for a section symbol. The end address counts
    /// too, because linkers put symbols such as `__end` there.
    pub(super) fn section_of(&self, symbol: &Sym64<LE>) -> Option<usize> {
        let index = usize::from(symbol.st_shndx.get(LE).0);
        let section = self.sections.get(index)?;
        let inside = symbol.st_value.get(LE).checked_sub(section.address);
        let is_section_symbol = symbol.st_type() == elf::STT_SECTION;
        (is_section_symbol || inside.is_some_and(|inside| inside <= section.size)).then_some(index)
    }

    /// Fails if a symbol table overlaps other data, which writing symbol values in place would
    /// damage.
    fn check_symtab_overlap(&self, file: &(impl ReadAt + ?Sized)) -> Result<(), ElfError> {
        for table in self.sections.iter().filter(|section| section.is_symtab()) {
            if self.is_shared(file, table) {
                return Err(ElfError::Overlap { one: ".symtab", other: "other data" });
            }
        }
        Ok(())
    }
}

impl Section {
    pub(super) fn is_symtab(&self) -> bool {
        self.kind == elf::SHT_SYMTAB
            && !self.is_allocated()
            && self.has_bytes()
            && self.entry_size == SIZE
    }
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    /// Corrects the addresses of symbols in moved sections, such as `__abi_tag` in a note.
    pub(super) fn write_symbols(&mut self) -> Result<(), ElfError> {
        let pairs = self.sections.iter().zip(&self.info.sections);
        let distances: Vec<u64> =
            pairs.map(|(new, old)| new.address.wrapping_sub(old.address)).collect();
        if distances.iter().all(|distance| *distance == 0) {
            return Ok(());
        }
        let mut changes = Vec::new();
        self.info.each_symtab_symbol(self.file, |at, symbol| {
            let distance = self.info.section_of(symbol).map(|index| distances[index]);
            if let Some(distance) = distance.filter(|distance| *distance != 0) {
                changes.push((at + VALUE_AT, symbol.st_value.get(LE).wrapping_add(distance)));
            }
        })?;
        if !changes.is_empty() {
            self.info.check_symtab_overlap(self.file)?;
        }
        changes.into_iter().try_for_each(|(at, value)| self.write(at, &value.to_le_bytes()))
    }
}
