//! Comparison of two edits of one file, neither of which is an edit of the other.
//!
//! Editors move tables and their strings to different places, and number sections anew: tables are
//! compared by meaning, everything else by address, from both sides.

use object::elf::{self, DynamicTag, Sym64};
use object::endian::LittleEndian as LE;

use super::names::{name_of, needed, versioned};
use super::{Comparison, unreadable};
use crate::ReadAt;
use crate::elf::format::records;
use crate::elf::header::{Section, Segment, read_bytes};
use crate::elf::info::{ElfInfo, inspect};
use crate::elf::violation::{Violation, check};

/// Verifies that two files are the same program or library except for their search paths.
///
/// # Errors
/// All differences; the numbers are those of the invariants of edits.
pub fn alike(one: &impl ReadAt, other: &impl ReadAt) -> Result<(), Vec<Violation>> {
    let read = |file: &dyn ReadAt| inspect(file).map_err(|error| vec![unreadable(&error)]);
    let (first, second) = (read(one)?, read(other)?);
    let ways: [(&ElfInfo, &dyn ReadAt, &ElfInfo, &dyn ReadAt); 2] =
        [(&first, one, &second, other), (&second, other, &first, one)];
    let mut violations = Vec::new();
    for (old, old_file, new, new_file) in ways {
        let comparison = Comparison { old, new, old_file, new_file, plan: None, removed: None };
        comparison.check_alike(&mut violations);
    }
    // The second way repeats symmetric differences.
    violations.dedup_by(|a, b| a.invariant == b.invariant);
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

impl Comparison<'_> {
    fn check_alike(&self, violations: &mut Vec<Violation>) {
        let kinds = [self.old, self.new].map(ElfInfo::kind);
        check(violations, "I8", kinds[0] == kinds[1] && kinds[0].is_editable(), || {
            format!("the files are {:?} and {:?}", kinds[0], kinds[1])
        });
        check(violations, "I8", self.old.sections.iter().any(Section::is_allocated), || {
            "without sections the ends of tables are unknown".to_owned()
        });
        if !violations.is_empty() {
            return;
        }
        self.check_header(violations);
        self.check_equal_names(violations);
        self.check_equal_entries(violations);
        self.check_equal_segments(violations);
        self.check_equal_notes(violations);
        self.check_equal_symbols(violations);
        self.check_tables_but(&[elf::DT_SYMTAB], violations);
        self.check_version_needs(violations);
        self.check_equal_sections(violations);
    }

    fn check_equal_names(&self, violations: &mut Vec<Violation>) {
        let names = |info| (name_of(info, elf::DT_SONAME).map(<[u8]>::to_vec), needed(info));
        let pair = (names(self.old), names(self.new));
        check(violations, "I11", pair.0 == pair.1, || "DT_SONAME or DT_NEEDED differs".to_owned());
        let loaders = (&self.old.interpreter, &self.new.interpreter);
        check(violations, "I13", loaders.0 == loaders.1, || "the loader's name differs".to_owned());
        let versions = |info: &ElfInfo| -> Option<Vec<Vec<u8>>> {
            let strings = info.strings.as_ref()?;
            let tables = info.needs.entries.iter().chain(&info.definitions.entries);
            tables.flat_map(|it| &it.names).map(|at| Some(strings.get(*at)?.to_vec())).collect()
        };
        let files = versioned(self.old) == versioned(self.new);
        check(violations, "I9", files && versions(self.old) == versions(self.new), || {
            "a version has another name".to_owned()
        });
    }

    /// Entries without those of the tables that editors move, in any order.
    fn check_equal_entries(&self, violations: &mut Vec<Violation>) {
        let is_compared = |tag: DynamicTag| tag != elf::DT_NULL && !super::tables::is_edited(tag);
        let entries = |info: &ElfInfo| {
            let entries = info.dynamic.iter().flat_map(|dynamic| &dynamic.entries);
            let compared = entries.filter(|entry| is_compared(entry.tag));
            let mut entries: Vec<_> = compared.map(|entry| (entry.tag.0, entry.value)).collect();
            entries.sort_unstable();
            entries
        };
        check(violations, "I18", entries(self.old) == entries(self.new), || {
            "a dynamic entry differs".to_owned()
        });
    }

    fn check_equal_segments(&self, violations: &mut Vec<Violation>) {
        let kinds = [elf::PT_TLS, elf::PT_GNU_RELRO, elf::PT_GNU_STACK, elf::PT_GNU_EH_FRAME];
        let part = |it: &Segment| (it.flags.0, it.address, it.file_size, it.memory_size);
        for kind in kinds {
            let parts = |info: &ElfInfo| info.segment(kind).map(part);
            let pair = (parts(self.old), parts(self.new));
            check(violations, "I18", pair.0 == pair.1, || {
                format!("the program header of type {:#x} differs", kind.0)
            });
        }
    }

    /// Notes by their bytes: editors move their sections, and divide their program header.
    fn check_equal_notes(&self, violations: &mut Vec<Violation>) {
        let notes = |info: &ElfInfo, file: &dyn ReadAt| {
            let sections = info.sections.iter();
            let notes = sections.filter(|it| it.kind == elf::SHT_NOTE && it.is_allocated());
            let bytes =
                |it: &Section| read_bytes(file, info.file_len, it.offset, it.size, "a note").ok();
            let mut notes: Vec<_> = notes.map(bytes).collect();
            notes.sort();
            notes
        };
        let is_equal = notes(self.old, self.old_file) == notes(self.new, self.new_file);
        check(violations, "I13", is_equal, || "a note differs".to_owned());
    }

    /// Symbols by name: their strings can be elsewhere, and the section of a defined one has
    /// another number.
    fn check_equal_symbols(&self, violations: &mut Vec<Violation>) {
        let (old, new) = (symbols(self.old, self.old_file), symbols(self.new, self.new_file));
        check(violations, "I15", old.is_some() && old == new, || {
            "a dynamic symbol differs".to_owned()
        });
    }

    /// Code and data by address; a section without bytes in the file needs its memory.
    fn check_equal_sections(&self, violations: &mut Vec<Violation>) {
        for section in self.old.sections.iter().filter(|it| it.is_allocated() && it.size > 0) {
            let thread_local = section.flags & elf::SHF_TLS.0 != 0 && !section.has_bytes();
            let (old, new) = (flags_at(self.old, section), flags_at(self.new, section));
            let moved = self.may_move(section);
            check(violations, "I7", thread_local || moved || old == new, || {
                format!("address {:#x} has other permissions", section.address)
            });
        }
        self.check_fixed_sections(violations);
    }

    fn may_move(&self, section: &Section) -> bool {
        let tables = [
            elf::SHT_DYNAMIC,
            elf::SHT_STRTAB,
            elf::SHT_NOTE,
            elf::SHT_DYNSYM,
            elf::SHT_HASH,
            elf::SHT_GNU_HASH,
            elf::SHT_GNU_VERSYM,
            elf::SHT_GNU_VERDEF,
            elf::SHT_GNU_VERNEED,
        ];
        let interpreter = self.old.segment(elf::PT_INTERP).map(|segment| segment.address);
        tables.contains(&section.kind) || Some(section.address) == interpreter
    }

    fn check_fixed_sections(&self, violations: &mut Vec<Violation>) {
        let sections = self.old.sections.iter().filter(|it| it.is_allocated() && it.has_bytes());
        for section in sections.filter(|section| !self.may_move(section)) {
            let difference = self.difference_at(section.address, section.size);
            if let Some(detail) = difference.unwrap_or_else(|error| Some(error.to_string())) {
                violations.push(Violation { invariant: "I17", detail });
            }
        }
    }
}

/// Permissions of the LOAD with a section.
fn flags_at(info: &ElfInfo, section: &Section) -> Option<u32> {
    let end = section.address.saturating_add(section.size);
    let mut loads = info.loads();
    let load = loads.find(|load| load.address <= section.address && end <= load.memory_end())?;
    Some(load.flags.0)
}

type SymbolKey = (Vec<u8>, u64, u64, u8, u8, Option<u16>);

fn symbols(info: &ElfInfo, file: &dyn ReadAt) -> Option<Vec<SymbolKey>> {
    let Some(at) = info.tag(elf::DT_SYMTAB) else { return Some(Vec::new()) };
    let strings = info.strings.as_ref()?;
    let size = info.symbol_count(file)?.saturating_mul(info.format().symbol_size());
    let bytes = info.read_at(file, at, size)?;
    let symbol = |symbol: &Sym64<LE>| {
        let section = symbol.st_shndx.get(LE);
        let special = section == elf::SHN_UNDEF || section.0 >= elf::SHN_LORESERVE;
        let name = strings.get(symbol.st_name.get(LE).into())?.to_vec();
        let (value, size) = (symbol.st_value.get(LE), symbol.st_size.get(LE));
        // The address of a moved section changes.
        let value = if symbol.st_type() == elf::STT_SECTION { 0 } else { value };
        let (info, st_other) = (symbol.st_info.0, symbol.st_other.0);
        Some((name, value, size, info, st_other, special.then_some(section.0)))
    };
    records::<Sym64<LE>>(&bytes).iter().map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{Edited, Edits, RpathEdit, edit};

    fn program() -> Vec<u8> {
        std::fs::read("/bin/ls").unwrap()
    }

    fn with_rpath(file: &Vec<u8>, directory: &str) -> Vec<u8> {
        let edits = Edits::rpath(RpathEdit::Set(vec![directory.to_owned()]));
        let plan = edit(file, &edits).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut Edited::new(file, &plan).reader(), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn two_edits_of_one_program_are_alike_and_neither_is_an_edit_of_the_other() {
        let file = program();
        let one = with_rpath(&file, "$ORIGIN/../lib");
        let other = with_rpath(&file, &format!("$ORIGIN/{}", "x".repeat(5000)));
        assert_eq!(alike(&one, &other), Ok(()));
        assert!(crate::elf::compare(&one, &other).is_err());
    }

    #[test]
    fn a_changed_byte_of_code_or_of_a_symbol_is_a_difference() {
        let file = program();
        let one = with_rpath(&file, "$ORIGIN/../lib");
        let info = inspect(&one).unwrap();
        for kind in [elf::SHT_PROGBITS, elf::SHT_DYNSYM] {
            let interpreter = info.segment(elf::PT_INTERP).map(|segment| segment.address);
            let mut sections = info.sections.iter();
            let section = sections
                .find(|it| it.kind == kind && it.is_allocated() && Some(it.address) != interpreter);
            let mut changed = one.clone();
            // The second symbol's value: the first is empty.
            let at = usize::try_from(section.unwrap().offset).unwrap() + 33;
            changed[at] ^= 1;
            assert!(alike(&one, &changed).is_err(), "{kind:?}");
            assert!(alike(&changed, &one).is_err(), "{kind:?}");
        }
    }
}
