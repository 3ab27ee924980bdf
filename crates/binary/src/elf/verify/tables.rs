//! Comparison of the tables of the dynamic section.

use object::elf::{self, DynamicTag};

use super::Comparison;
use crate::ReadAt;
use crate::elf::info::ElfInfo;
use crate::elf::ranges::Range;
use crate::elf::violation::{Violation, check};

/// Offset and size of `vn_file` in a version need (gABI supplement of Solaris and GNU).
const VN_FILE: (usize, usize) = (4, 4);

/// Tags with the address of a table that edits move.
pub(super) const ADDRESSES: [DynamicTag; 7] = [
    elf::DT_STRTAB,
    elf::DT_SYMTAB,
    elf::DT_HASH,
    elf::DT_GNU_HASH,
    elf::DT_VERSYM,
    elf::DT_VERNEED,
    elf::DT_VERDEF,
];

const MINE: [DynamicTag; 13] = [
    elf::DT_RPATH,
    elf::DT_RUNPATH,
    elf::DT_SONAME,
    elf::DT_NEEDED,
    elf::DT_STRTAB,
    elf::DT_STRSZ,
    elf::DT_RELACOUNT,
    elf::DT_HASH,
    elf::DT_GNU_HASH,
    elf::DT_SYMTAB,
    elf::DT_VERSYM,
    elf::DT_VERNEED,
    elf::DT_VERDEF,
];

/// Returns whether edits change an entry: a name, or the place of a table.
pub(super) fn is_edited(tag: DynamicTag) -> bool {
    MINE.contains(&tag)
}

impl Comparison<'_> {
    /// Checks I9 and I15: symbol names stay valid, because old strings keep their offsets.
    pub(super) fn check_strings(&self, violations: &mut Vec<Violation>) {
        let (Some(old), Some(new)) = (&self.old.strings, &self.new.strings) else { return };
        check(violations, "I9", new.bytes.starts_with(&old.bytes), || {
            "the old strings are not at the same offsets".to_owned()
        });
        let names = |info: &ElfInfo| -> Vec<u64> {
            let tables = info.needs.entries.iter().chain(&info.definitions.entries);
            tables.flat_map(|entry| entry.names.iter().copied()).collect()
        };
        check(violations, "I9", names(self.old) == names(self.new), || {
            "a version has another name".to_owned()
        });
    }

    /// Checks I15: hash tables, symbols and their versions are unchanged.
    pub(super) fn check_tables(&self, violations: &mut Vec<Violation>) {
        self.check_tables_but(&[], violations);
    }

    pub(super) fn check_tables_but(&self, without: &[DynamicTag], violations: &mut Vec<Violation>) {
        for (old, new) in self.pairs().into_iter().filter(|(old, _)| !without.contains(&old.tag)) {
            let len = old.size.unwrap_or(1);
            let places = self
                .old
                .offset_of(old.address, len)
                .zip(self.new.offset_of(new.address, new.size.unwrap_or(1)));
            let Some((from, to)) = places else { continue };
            let is_equal = old.size == new.size
                && self.unchanged(old.address, len).into_iter().all(|part| {
                    let inside = part.start - old.address;
                    self.is_same(from + inside, to + inside, part.end - part.start)
                });
            check(violations, "I15", is_equal, || format!("{} has other bytes", old.name));
        }
    }

    /// Checks I15: version needs are unchanged except for file names.
    pub(super) fn check_version_needs(&self, violations: &mut Vec<Violation>) {
        let bytes = |info: &ElfInfo, file: &dyn ReadAt| {
            let address = info.tag(elf::DT_VERNEED)?;
            let mut bytes = info.read_at(file, address, info.needs.size)?;
            for need in &info.needs.entries {
                let offset = usize::try_from(need.at).ok()? + VN_FILE.0;
                bytes.get_mut(offset..offset + VN_FILE.1)?.fill(0);
            }
            Some(bytes)
        };
        // Loaders check hashes, flags, versions and links.
        let is_equal = bytes(self.old, self.old_file) == bytes(self.new, self.new_file);
        check(violations, "I15", is_equal, || {
            "DT_VERNEED changed in more than file names".to_owned()
        });
    }

    pub(super) fn moved_tables(&self) -> u64 {
        let pairs = self.pairs();
        let moved = pairs.iter().filter(|(old, new)| old.address != new.address);
        moved.filter_map(|(old, _)| old.size).sum()
    }

    fn pairs(&self) -> Vec<(Range, Range)> {
        let fixed =
            [elf::DT_HASH, elf::DT_GNU_HASH, elf::DT_SYMTAB, elf::DT_VERSYM, elf::DT_VERDEF];
        let (old, new) = (self.old.ranges(self.old_file), self.new.ranges(self.new_file));
        let pair =
            |old: Range| Some((old.clone(), new.iter().find(|new| new.tag == old.tag)?.clone()));
        old.into_iter().filter(|range| fixed.contains(&range.tag)).filter_map(pair).collect()
    }

    /// Checks I18: initialization code and all other dynamic entries are unchanged.
    pub(super) fn check_rest(&self, violations: &mut Vec<Violation>) {
        self.check_other_segments(violations);
        let entries = |info: &ElfInfo| {
            let entries = info.dynamic.iter().flat_map(|dynamic| dynamic.entries.clone());
            entries.filter(|entry| !MINE.contains(&entry.tag)).collect::<Vec<_>>()
        };
        check(violations, "I18", entries(self.old) == entries(self.new), || {
            "an unrelated dynamic entry changed".to_owned()
        });
        let tags = |info: &ElfInfo| {
            MINE[7..].iter().map(|&tag| info.entries_of(tag).count()).collect::<Vec<_>>()
        };
        check(violations, "I15", tags(self.old) == tags(self.new), || {
            "a symbol table is missing".to_owned()
        });
    }
}
