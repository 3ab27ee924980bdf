use object::elf::Sym64;
use object::endian::LittleEndian as LE;
use object::pod::bytes_of;

use super::Comparison;
use crate::ReadAt;
use crate::elf::error::ElfError;
use crate::elf::info::ElfInfo;
use crate::elf::violation::{Violation, check};

impl Comparison<'_> {
    /// Checks I17: symbols of `.symtab` keep all fields, and their distance to their section.
    pub(super) fn check_symbols(&self, violations: &mut Vec<Violation>) {
        let read = |info: &ElfInfo, file: &dyn ReadAt| -> Result<Vec<Sym64<LE>>, ElfError> {
            let mut symbols = Vec::new();
            info.each_symtab_symbol(file, |_, symbol| symbols.push(*symbol))?;
            Ok(symbols)
        };
        let tables = (read(self.old, self.old_file), read(self.new, self.new_file));
        let (Ok(old), Ok(new)) = tables else {
            return check(violations, "I17", false, || "the symbol table is unreadable".to_owned());
        };
        let is_equal = old.len() == new.len();
        check(violations, "I17", is_equal, || format!("it has {} symbols", new.len()));
        for (index, (old, new)) in old.iter().zip(&new).enumerate() {
            let mut expected = *old;
            expected.st_value.set(LE, old.st_value.get(LE).wrapping_add(self.distance(old)));
            if bytes_of(&expected) != bytes_of(new) {
                let value = new.st_value.get(LE);
                return check(violations, "I17", false, || {
                    format!("symbol {index} is at {value:#x}")
                });
            }
        }
    }

    fn distance(&self, symbol: &Sym64<LE>) -> u64 {
        let home = self.old.section_of(symbol);
        let home =
            home.filter(|index| self.removed.is_none_or(|removed| removed.section != *index));
        let sections = home
            .and_then(|index| Some((self.old.sections.get(index)?, self.new.sections.get(index)?)));
        sections.map_or(0, |(old, new)| new.address.wrapping_sub(old.address))
    }
}
