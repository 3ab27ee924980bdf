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
const WINDOW: u64 = SIZE * 4096;
/// Offset of `st_value`.
const VALUE: u64 = 8;

impl ElfInfo {
    pub(super) fn each_static_symbol(
        &self,
        file: &(impl ReadAt + ?Sized),
        mut see: impl FnMut(u64, &Sym64<LE>),
    ) -> Result<(), ElfError> {
        for table in self.sections.iter().filter(|section| section.is_static_symbols()) {
            let (mut offset, end) = (table.offset, table.file_end());
            while offset < end {
                let size = WINDOW.min(end - offset);
                let bytes = read_bytes(file, self.file_len, offset, size, "the symbol table")?;
                for (index, symbol) in records::<Sym64<LE>>(&bytes).iter().enumerate() {
                    see(offset + index as u64 * SIZE, symbol);
                }
                offset += size;
            }
        }
        Ok(())
    }

    /// Returns the section that `symbol` names, or is in.
    pub(super) fn home_of(&self, symbol: &Sym64<LE>) -> Option<usize> {
        let index = usize::from(symbol.st_shndx.get(LE).0);
        let section = self.sections.get(index)?;
        let inside = symbol.st_value.get(LE).checked_sub(section.address);
        let is_it = symbol.st_type() == elf::STT_SECTION;
        (is_it || inside.is_some_and(|inside| inside <= section.size)).then_some(index)
    }

    fn check_symbols_alone(&self, file: &(impl ReadAt + ?Sized)) -> Result<(), ElfError> {
        let claims = self.claims(file);
        for table in self.sections.iter().filter(|section| section.is_static_symbols()) {
            let overlaps = claims
                .iter()
                .filter(|claim| claim.start < table.file_end() && table.offset < claim.end);
            if overlaps.count() > 1 {
                return Err(ElfError::Overlap { one: ".symtab", other: "another table" });
            }
        }
        Ok(())
    }
}

impl Section {
    pub(super) fn is_static_symbols(&self) -> bool {
        self.kind == elf::SHT_SYMTAB
            && !self.is_allocated()
            && self.has_bytes()
            && self.entry_size == SIZE
    }
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    /// Moves the symbols of moved sections, as `__abi_tag` of a note.
    pub(super) fn write_symbols(&mut self) -> Result<(), ElfError> {
        let pairs = self.sections.iter().zip(&self.info.sections);
        let distances: Vec<u64> =
            pairs.map(|(new, old)| new.address.wrapping_sub(old.address)).collect();
        if distances.iter().all(|distance| *distance == 0) {
            return Ok(());
        }
        let mut changes = Vec::new();
        self.info.each_static_symbol(self.file, |at, symbol| {
            let home = self.info.home_of(symbol).map(|index| distances[index]);
            if let Some(distance) = home.filter(|distance| *distance != 0) {
                changes.push((at + VALUE, symbol.st_value.get(LE).wrapping_add(distance)));
            }
        })?;
        if !changes.is_empty() {
            self.info.check_symbols_alone(self.file)?;
        }
        changes.into_iter().try_for_each(|(at, value)| self.write(at, &value.to_le_bytes()))
    }
}
