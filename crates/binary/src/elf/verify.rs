//! Verification of edits: the invariants of docs/elf.md.

use std::collections::HashSet;
use std::ops::Range;

use super::edit_plan::EditPlan;
use super::edits::Edits;
use super::error::ElfError;
use super::header::read_bytes;
use super::info::{ElfInfo, inspect};
use super::invariants::violations_of;
use super::layout::MOST_PADDING;
use super::violation::{Violation, check};
use crate::ReadAt;

mod alike;
mod contents;
mod names;
mod sections;
mod segments;
mod symbols;
mod tables;

pub use alike::alike;

/// Limit of padding. Alignment to the largest page (64 KiB) needs less than one page before and one
/// after a new segment; the third page is for small additions, such as a moved program header table,
/// spare dynamic entries and the alignment of each table.
const PADDING: u64 = 3 * 0x1_0000;

/// Verifies that `new`, made from `old` according to `plan`, has every edit and keeps the
/// invariants. Bytes that keep their offset are compared only where the plan writes: `Edited` copies
/// the others.
///
/// # Errors
/// All violations.
pub fn verify(old: &impl ReadAt, new: &impl ReadAt, plan: &EditPlan) -> Result<(), Vec<Violation>> {
    verify_all(old, new, Some(plan), None)
}

/// Verifies that `new`, made by any tool, differs from `old` only in rpath, SONAME, NEEDED and
/// a cleared executable stack: compares every byte that loaders, symbols or relocations refer to.
/// Accepts every file that [`verify`] accepts.
///
/// # Errors
/// All violations.
pub fn compare(old: &impl ReadAt, new: &impl ReadAt) -> Result<(), Vec<Violation>> {
    verify_all(old, new, None, None)
}

/// Section whose bytes were removed, by its index in the old file, and the address ranges whose bytes
/// changed with it.
pub(super) struct RemovedSection {
    pub section: usize,
    pub addresses: Range<u64>,
    pub changed: Vec<Range<u64>>,
}

impl RemovedSection {
    fn ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.changed.iter().chain([&self.addresses])
    }
}

pub(super) fn verify_removal(
    old: &dyn ReadAt,
    new: &dyn ReadAt,
    removed: &RemovedSection,
) -> Result<(), Vec<Violation>> {
    verify_all(old, new, None, Some(removed))
}

fn verify_all(
    old: &dyn ReadAt,
    new: &dyn ReadAt,
    plan: Option<&EditPlan>,
    removed: Option<&RemovedSection>,
) -> Result<(), Vec<Violation>> {
    let read = |file: &dyn ReadAt| inspect(file).map_err(|error| vec![unreadable(&error)]);
    let comparison = Comparison {
        old: &read(old)?,
        new: &read(new)?,
        old_file: old,
        new_file: new,
        plan,
        removed,
    };
    let mut violations = violations_of(comparison.new, new);
    let of_old: HashSet<_> = violations_of(comparison.old, old).into_iter().collect();
    // Violations of the old file are not faults of the edit.
    violations.retain(|violation| !of_old.contains(violation));
    comparison.check_header(&mut violations);
    comparison.check_names(&mut violations);
    comparison.check_growth(&mut violations);
    if let Some(removed) = removed {
        comparison.check_edits(&Edits::default(), &mut violations);
        comparison.check_divided_loads(removed, &mut violations);
        comparison.check_sections(removed, &mut violations);
        comparison.check_dynamic_entries(&mut violations);
    } else {
        comparison.check_loads(&mut violations);
    }
    comparison.check_strings(&mut violations);
    comparison.check_notes(&mut violations);
    comparison.check_tables(&mut violations);
    comparison.check_version_needs(&mut violations);
    comparison.check_rest(&mut violations);
    comparison.check_contents(&mut violations);
    // Other tools may remove or reorder the symbols of `.symtab`, which loaders do not read.
    if plan.is_some() || removed.is_some() {
        comparison.check_symbols(&mut violations);
    }
    if let Some(plan) = plan {
        comparison.check_edits(plan.edits(), &mut violations);
        comparison.check_repeat(plan.edits(), &mut violations);
        comparison.check_lengths(plan, &mut violations);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Returns the violations that a file has before any edit; [`verify`] and [`compare`] do not report
/// them.
pub fn inherited_violations(file: &(impl ReadAt + ?Sized)) -> Result<Vec<Violation>, ElfError> {
    Ok(violations_of(&inspect(file)?, file))
}

fn unreadable(error: &ElfError) -> Violation {
    Violation { invariant: "I8", detail: error.to_string() }
}

/// Name, offset and size (gABI, "ELF Header").
const KEPT_FIELDS: [(&str, usize, usize); 8] = [
    ("e_ident", 0, 16),
    ("e_type", 16, 2),
    ("e_machine", 18, 2),
    ("e_version", 20, 4),
    ("e_entry", 24, 8),
    ("e_flags", 48, 4),
    ("e_ehsize and e_phentsize", 52, 4),
    ("e_shentsize", 58, 2),
];

struct Comparison<'a> {
    old: &'a ElfInfo,
    new: &'a ElfInfo,
    old_file: &'a dyn ReadAt,
    new_file: &'a dyn ReadAt,
    plan: Option<&'a EditPlan>,
    removed: Option<&'a RemovedSection>,
}

impl Comparison<'_> {
    /// Checks I17: the file header keeps all fields but the position and size of tables, and the
    /// index of the section names.
    fn check_header(&self, violations: &mut Vec<Violation>) {
        let header = |info: &ElfInfo, file: &dyn ReadAt| {
            read_bytes(file, info.file_len, 0, 64, "the ELF header")
        };
        let headers = (header(self.old, self.old_file), header(self.new, self.new_file));
        let (old, new) = match headers {
            (Ok(old), Ok(new)) => (old, new),
            (Err(error), _) | (_, Err(error)) => return violations.push(unreadable(&error)),
        };
        for (name, at, size) in KEPT_FIELDS {
            let is_unchanged = old.get(at..at + size) == new.get(at..at + size);
            check(violations, "I17", is_unchanged, || format!("{name} of the file header changed"));
        }
    }

    /// Checks I12: the file grows only by strings and moved tables.
    fn check_growth(&self, violations: &mut Vec<Violation>) {
        let strings = self.new.strings.as_ref().map_or(0, |strings| strings.bytes.len() as u64);
        let table_at = |info: &ElfInfo| info.header.as_ref().map(|header| header.segments_at);
        let table_moved = table_at(self.old) != table_at(self.new);
        let sections = self.new.section_table();
        let sections_moved = self.old.section_table().start != sections.start;
        let padding = PADDING
            + if table_moved { MOST_PADDING } else { 0 }
            + if sections_moved { sections.end - sections.start } else { 0 };
        let (old, new) = (self.old.file_len, self.new.file_len);
        let limit = old.saturating_add(strings).saturating_add(self.moved_tables() + padding);
        check(violations, "I12", new <= limit, || {
            format!("the file grew from {old} to {new} bytes; at most {limit} are expected")
        });
    }

    fn check_lengths(&self, plan: &EditPlan, violations: &mut Vec<Violation>) {
        let lengths = (self.old.file_len, self.new.file_len);
        let planned = (plan.old_len(), plan.new_len());
        check(violations, "I17", lengths == planned, || {
            let ((old, new), (planned_old, planned_new)) = (lengths, planned);
            format!(
                "the files have {old} and {new} bytes, but the plan is from {planned_old} to \
                 {planned_new} bytes"
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::elf::forward::forwarding_library;
    use crate::elf::stub::StubMachine;

    /// File that refuses reads of its start after `reads_left` of them.
    struct Failing {
        bytes: Vec<u8>,
        reads_left: AtomicUsize,
    }

    impl ReadAt for Failing {
        fn len(&self) -> io::Result<u64> {
            ReadAt::len(&self.bytes)
        }

        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
            let less = |reads: usize| reads.checked_sub(1);
            if offset == 0
                && self.reads_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
            {
                return Err(io::Error::other("unreadable"));
            }
            self.bytes.read_exact_at(offset, buf)
        }
    }

    #[test]
    fn an_unreadable_header_is_a_violation() {
        let library = forwarding_library(StubMachine::X86_64, "libx.so", "libc.so.6", "$ORIGIN");
        let file = |reads| Failing {
            bytes: library.clone().unwrap(),
            reads_left: AtomicUsize::new(reads),
        };
        let counted = file(usize::MAX);
        inspect(&counted).unwrap();
        let reads = usize::MAX - counted.reads_left.load(Ordering::Relaxed);
        let (old, new) = (file(reads), file(reads));
        let comparison = Comparison {
            old: &inspect(&old).unwrap(),
            new: &inspect(&new).unwrap(),
            old_file: &old,
            new_file: &new,
            plan: None,
            removed: None,
        };
        let mut violations = Vec::new();
        comparison.check_header(&mut violations);
        assert_eq!(violations.iter().map(|it| it.invariant).collect::<Vec<_>>(), ["I8"]);
    }
}
