use object::elf;

use super::tables::ADDRESSES;
use super::{Comparison, RemovedSection};
use crate::ReadAt;
use crate::elf::header::{Section, read_bytes};
use crate::elf::info::ElfInfo;
use crate::elf::violation::{Violation, check};

/// Kinds of sections that an edit can move: tables of the dynamic section, and notes. The dynamic
/// section itself never moves.
const MOVABLE: [elf::SectionType; 8] = [
    elf::SHT_STRTAB,
    elf::SHT_NOTE,
    elf::SHT_HASH,
    elf::SHT_GNU_HASH,
    elf::SHT_DYNSYM,
    elf::SHT_GNU_VERSYM,
    elf::SHT_GNU_VERNEED,
    elf::SHT_GNU_VERDEF,
];

impl Comparison<'_> {
    /// Checks I17: there is one more section. The others keep their headers, except that sections can
    /// move and string tables outside of memory can grow. Those that moved or are not in memory keep
    /// their bytes; bytes at unchanged addresses are compared with the segments.
    pub(super) fn check_sections(&self, removed: &RemovedSection, violations: &mut Vec<Violation>) {
        let count = self.new.sections.len();
        check(violations, "I17", count == self.old.sections.len() + 1, || {
            format!("{count} sections, expected {}", self.old.sections.len() + 1)
        });
        let pairs = self.old.sections.iter().zip(&self.new.sections).enumerate();
        for (index, (old, new)) in pairs.filter(|(index, _)| *index != removed.section) {
            check(violations, "I17", self.has_same_header(old, new), || {
                format!("the header of section {index} changed")
            });
            check(violations, "I17", self.has_same_place(old, new), || {
                format!("the offset of section {index} does not match its address")
            });
            check(violations, "I17", self.has_same_bytes(old, new), || {
                format!("section {index} has other bytes")
            });
        }
    }

    /// Checks I18: the dynamic section changes only in addresses of movable tables; and I9: the dynamic
    /// string table keeps its size.
    pub(super) fn check_dynamic_entries(&self, violations: &mut Vec<Violation>) {
        let without_addresses = |info: &ElfInfo, file: &dyn ReadAt| {
            let segment = info.segment(elf::PT_DYNAMIC)?;
            let part = "the dynamic section";
            let mut bytes =
                read_bytes(file, info.file_len, segment.offset, segment.file_size, part).ok()?;
            for entry in bytes.chunks_exact_mut(16) {
                if ADDRESSES.iter().any(|tag| entry[..8] == tag.0.to_le_bytes()) {
                    entry[8..].fill(0);
                }
            }
            Some(bytes)
        };
        let old = without_addresses(self.old, self.old_file);
        let new = without_addresses(self.new, self.new_file);
        // Without both, nothing was compared.
        let is_equal = old.zip(new).is_some_and(|(old, new)| old == new);
        check(violations, "I18", is_equal, || "the dynamic section changed".to_owned());
        let size = |info: &ElfInfo| info.strings.as_ref().map(|strings| strings.bytes.len());
        check(violations, "I9", size(self.old) == size(self.new), || {
            "the dynamic string table has another size".to_owned()
        });
    }

    fn has_same_header(&self, old: &Section, new: &Section) -> bool {
        let kept_fields =
            |it: &Section| (it.name, it.kind, it.flags, it.link, it.info, it.align, it.entry_size);
        let interpreter = self.old.segment(elf::PT_INTERP).map(|segment| segment.address);
        let movable =
            old.is_allocated() && (MOVABLE.contains(&old.kind) || Some(old.address) == interpreter);
        let is_string_table = !old.is_allocated() && old.kind == elf::SHT_STRTAB;
        kept_fields(old) == kept_fields(new)
            && (old.address == new.address || movable)
            && (old.size == new.size || (is_string_table && old.size < new.size))
    }

    fn has_same_place(&self, old: &Section, new: &Section) -> bool {
        let mapped = |info: &ElfInfo, it: &Section| {
            !it.has_bytes() || info.offset_of(it.address, it.size) == Some(it.offset)
        };
        let is_moved_null = old.kind == elf::SHT_NULL && old.offset != new.offset;
        !is_moved_null && (!old.is_allocated() || mapped(self.new, new) || !mapped(self.old, old))
    }

    fn has_same_bytes(&self, old: &Section, new: &Section) -> bool {
        if !old.has_bytes() || (old.is_allocated() && old.address == new.address) {
            return true;
        }
        // Symbols have indices of sections, which change; `check_symbols` compares them.
        if !old.is_allocated() {
            return old.is_symtab() || self.is_same(old.offset, new.offset, old.size);
        }
        self.unchanged(old.address, old.size).into_iter().all(|part| {
            let inside = part.start - old.address;
            let (old_offset, new_offset) =
                (old.offset.checked_add(inside), new.offset.checked_add(inside));
            old_offset.zip(new_offset).is_some_and(|(old_offset, new_offset)| {
                self.is_same(old_offset, new_offset, part.end - part.start)
            })
        })
    }
}
