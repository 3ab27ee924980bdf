//! Defined symbols and their versions.

use std::collections::HashMap;

use object::elf;

use super::imports::{NUMBER, Symbol};
use super::info::ElfInfo;
use crate::ReadAt;

/// Symbol that the loader can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Export<'a> {
    /// Name.
    pub name: &'a [u8],
    /// Version; the loader accepts a symbol without one for every version.
    pub version: Option<&'a [u8]>,
}

/// Local symbols and the file itself.
const WITHOUT_VERSION: u16 = elf::VER_NDX_GLOBAL.0;
/// Flag of an old version, found only by its name.
const HIDDEN: u16 = 0x8000;

impl ElfInfo {
    /// Calls `take` with each defined symbol in table order; an unreadable table counts as empty.
    pub fn exports(&self, file: &(impl ReadAt + ?Sized), mut take: impl FnMut(Export<'_>)) {
        let _ = self.each_export(file, &mut take);
    }

    fn each_export(
        &self,
        file: &(impl ReadAt + ?Sized),
        take: &mut dyn FnMut(Export<'_>),
    ) -> Option<()> {
        let strings = self.strings.as_ref()?;
        let count = self.symbol_count(file)?;
        let length = count.saturating_mul(self.format().symbol_size());
        let table = self.read_at(file, self.tag(elf::DT_SYMTAB)?, length)?;
        let numbers = self
            .tag(elf::DT_VERSYM)
            .and_then(|at| self.read_at(file, at, count.saturating_mul(2)))
            .unwrap_or_default();
        let (numbers, versions) = (self.format().halves(&numbers), self.defined_versions());
        for (index, symbol) in self.symbols(&table).iter().enumerate() {
            let Some(name) = strings.get(symbol.name.into()) else { continue };
            if !is_offered(symbol) || <[u8]>::is_empty(name) {
                continue;
            }
            let number = numbers.get(index).copied().unwrap_or(WITHOUT_VERSION);
            let version = versions.get(&(number & NUMBER)).copied();
            let plain = number & NUMBER <= WITHOUT_VERSION && number & HIDDEN == 0;
            match version {
                _ if plain => take(Export { name, version: None }),
                Some(version) => take(Export { name, version: Some(version) }),
                None => {}
            }
        }
        Some(())
    }

    fn defined_versions(&self) -> HashMap<u16, &[u8]> {
        let named = self.definitions.entries.iter().filter_map(|entry| {
            let name = self.string("vda_name", *entry.names.first()?).ok()?;
            Some((*entry.numbers.first()? & NUMBER, name))
        });
        named.collect()
    }
}

fn is_offered(symbol: &Symbol) -> bool {
    symbol.section != elf::SHN_UNDEF
        && symbol.bind != elf::STB_LOCAL
        && (symbol.visibility == elf::STV_DEFAULT || symbol.visibility == elf::STV_PROTECTED)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::elf;

    fn exports(path: &str) -> BTreeSet<String> {
        let file = fs_err::File::open(path).unwrap();
        let mut all = BTreeSet::new();
        elf::inspect(&file).unwrap().exports(&file, |export| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            all.insert(text(export.name) + "@" + &text(export.version.unwrap_or_default()));
        });
        all
    }

    #[test]
    fn c_library_exports_imports_of_test_program() {
        let maps = fs_err::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|word| {
            let name = word.rsplit('/').next().unwrap_or_default();
            word.starts_with('/') && (name.starts_with("libc.so") || name.starts_with("ld-musl"))
        });
        let offered = exports(libc.unwrap());
        let own = fs_err::File::open(std::env::current_exe().unwrap()).unwrap();
        let imports = elf::inspect(&own).unwrap().imports(&own);
        let name = |import: &elf::Import| {
            let version = import.version.as_ref().map(|(version, _)| version.as_str());
            format!("{}@{}", import.name, version.unwrap_or_default())
        };
        let of_libc = imports.iter().filter(|import| {
            !import.weak && import.version.as_ref().is_none_or(|(_, l)| l.starts_with("libc.so"))
        });
        let missing: Vec<String> =
            of_libc.map(name).filter(|name| !offered.contains(name)).collect();
        assert!(offered.len() > 500 && missing.is_empty(), "{missing:?}");
        assert!(!offered.iter().any(|name| name.starts_with('@')));
    }
}
