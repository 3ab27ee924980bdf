//! Imported symbols and their versions.
//!
//! Undefined symbols precede others in the table: `DT_GNU_HASH` contains the index of the first
//! defined symbol, `DT_HASH` the total. An unreadable table counts as empty.

use std::collections::HashMap;

use object::Endianness;
use object::elf::{self, GnuHashHeader, Sym32, Sym64, SymbolBind, SymbolSection, SymbolVisibility};
use object::pod;
use object::read::elf::Sym;

use super::info::ElfInfo;
use crate::ReadAt;

/// Symbol that the loader must find elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Name.
    pub name: String,
    /// Version (`GLIBC_2.17`) and library of the version; `None` for an unversioned symbol.
    pub version: Option<(String, String)>,
    /// Whether the symbol is optional.
    pub weak: bool,
}

/// Without the hidden flag.
pub(super) const NUMBER: u16 = 0x7fff;

pub(super) struct Symbol {
    pub name: u32,
    pub section: SymbolSection,
    pub bind: SymbolBind,
    pub visibility: SymbolVisibility,
}

impl Symbol {
    fn from_raw<S: Sym<Endian = Endianness>>(raw: &S, endian: Endianness) -> Self {
        Self {
            name: raw.st_name(endian),
            section: raw.st_shndx(endian),
            bind: raw.st_bind(),
            visibility: raw.st_visibility(),
        }
    }
}

impl ElfInfo {
    pub(super) fn symbols(&self, table: &[u8]) -> Vec<Symbol> {
        let format = self.format();
        format.map_records::<Sym64<Endianness>, Sym32<Endianness>, _>(
            table,
            Symbol::from_raw,
            Symbol::from_raw,
        )
    }

    /// Returns the imported symbols in table order.
    pub fn imports(&self, file: &(impl ReadAt + ?Sized)) -> Vec<Import> {
        self.read_imports(file).unwrap_or_default()
    }

    fn read_imports(&self, file: &(impl ReadAt + ?Sized)) -> Option<Vec<Import>> {
        let strings = self.strings.as_ref()?;
        let count = self.front_count(file)?;
        let table = self.read_at(
            file,
            self.tag(elf::DT_SYMTAB)?,
            count.saturating_mul(self.format().symbol_size()),
        )?;
        let numbers = self
            .tag(elf::DT_VERSYM)
            .and_then(|at| self.read_at(file, at, count.saturating_mul(2)))
            .unwrap_or_default();
        let (numbers, versions) = (self.format().halves(&numbers), self.version_names());
        let undefined = self
            .symbols(&table)
            .into_iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.section == elf::SHN_UNDEF);
        let imports = undefined.filter_map(|(index, symbol)| {
            let name = strings.get(symbol.name.into()).filter(|name| !<[u8]>::is_empty(name))?;
            let number = numbers.get(index).map(|number| number & NUMBER);
            let version = number.and_then(|number| versions.get(&number).cloned());
            let weak = symbol.bind == elf::STB_WEAK;
            Some(Import { name: String::from_utf8_lossy(name).into_owned(), version, weak })
        });
        Some(imports.collect())
    }

    fn version_names(&self) -> HashMap<u16, (String, String)> {
        let text =
            |at| self.string("vna_name", at).map(|name| String::from_utf8_lossy(name).into_owned());
        let mut names = HashMap::new();
        for need in &self.needs.entries {
            for (name, number) in need.names.iter().zip(&need.numbers) {
                if let (Ok(version), Ok(library)) = (text(*name), text(need.file)) {
                    names.insert(number & NUMBER, (version, library));
                }
            }
        }
        names
    }

    fn front_count(&self, file: &(impl ReadAt + ?Sized)) -> Option<u64> {
        let base = || {
            let bytes = self.read_at(
                file,
                self.tag(elf::DT_GNU_HASH)?,
                size_of::<GnuHashHeader<Endianness>>() as u64,
            )?;
            let (header, _) = pod::from_bytes::<GnuHashHeader<Endianness>>(&bytes).ok()?;
            Some(header.symbol_base.get(self.format().endian).into())
        };
        // Linkers write 1 for an empty hash table, regardless of undefined symbols.
        base().filter(|base| *base > 1).or_else(|| self.symbol_count(file))
    }
}

#[cfg(test)]
mod tests {
    use crate::elf;

    #[test]
    fn test_program_imports_versioned_symbols_of_libc() {
        let file = fs_err::File::open(std::env::current_exe().unwrap()).unwrap();
        let info = elf::inspect(&file).unwrap();
        let imports = info.imports(&file);
        let (version, library) =
            imports.iter().find(|i| i.name == "malloc").unwrap().version.clone().unwrap();
        assert!(
            version.starts_with("GLIBC_2.") && library.starts_with("libc.so"),
            "{version} of {library}"
        );
        let facts = info.facts().unwrap();
        let needed = facts
            .versions
            .iter()
            .flat_map(|need| need.versions.iter().map(|v| (v.clone(), need.library.clone())));
        let without: Vec<_> = needed
            .filter(|need| !imports.iter().any(|i| i.version.as_ref() == Some(need)))
            .collect();
        assert!(
            without.iter().all(|(version, _)| version == "GLIBC_ABI_DT_RELR"),
            "no symbol bears {without:?}"
        );
        assert!(imports.iter().all(|import| !import.name.is_empty()));
    }
}
