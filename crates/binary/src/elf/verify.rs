//! Verification of edits.

use std::collections::HashSet;
use std::ops::Range;

use super::edit_plan::EditPlan;
use super::edits::Edits;
use super::error::ElfError;
use super::header::read_bytes;
use super::info::{ElfInfo, inspect};
use super::invariants::violations;
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

/// Bytes of padding to the largest pages on both sides.
const PADDING: u64 = 3 * 0x1_0000;

/// Verifies that `new`, by `plan` from `old`, has every edit and keeps the invariants. Other bytes
/// are assumed unchanged.
///
/// # Errors
/// All violations.
pub fn verify(old: &impl ReadAt, new: &impl ReadAt, plan: &EditPlan) -> Result<(), Vec<Violation>> {
    prove(old, new, Some(plan), None)
}

/// Verifies that `new` is `old` except for rpath, SONAME and NEEDED, by any tool: compares every
/// byte that loaders, symbols or relocations refer to. Accepts every file that [`verify`] accepts.
///
/// # Errors
/// All violations.
pub fn compare(old: &impl ReadAt, new: &impl ReadAt) -> Result<(), Vec<Violation>> {
    prove(old, new, None, None)
}

pub(super) struct Freed {
    pub section: usize,
    pub addresses: Range<u64>,
    pub changed: Vec<Range<u64>>,
}

impl Freed {
    fn free(&self) -> impl Iterator<Item = &Range<u64>> {
        self.changed.iter().chain([&self.addresses])
    }
}

pub(super) fn verify_freed(
    old: &dyn ReadAt,
    new: &dyn ReadAt,
    freed: &Freed,
) -> Result<(), Vec<Violation>> {
    prove(old, new, None, Some(freed))
}

fn prove(
    old: &dyn ReadAt,
    new: &dyn ReadAt,
    plan: Option<&EditPlan>,
    freed: Option<&Freed>,
) -> Result<(), Vec<Violation>> {
    let read = |file: &dyn ReadAt| inspect(file).map_err(|error| vec![unreadable(&error)]);
    let comparison =
        Both { old: &read(old)?, new: &read(new)?, before: old, after: new, plan, freed };
    let mut failures = violations(comparison.new, new);
    let inherited: HashSet<_> = violations(comparison.old, old).into_iter().collect();
    failures.retain(|violation| !inherited.contains(violation));
    comparison.check_header(&mut failures);
    comparison.check_names(&mut failures);
    comparison.check_growth(&mut failures);
    if let Some(freed) = freed {
        comparison.check_edits(&Edits::default(), &mut failures);
        comparison.check_divided_loads(freed, &mut failures);
        comparison.check_sections(freed, &mut failures);
        comparison.check_dynamic_entries(&mut failures);
    } else {
        comparison.check_loads(&mut failures);
    }
    comparison.check_strings(&mut failures);
    comparison.check_notes(&mut failures);
    comparison.check_tables(&mut failures);
    comparison.check_version_needs(&mut failures);
    comparison.check_rest(&mut failures);
    comparison.check_contents(&mut failures);
    if plan.is_some() || freed.is_some() {
        comparison.check_symbols(&mut failures);
    }
    if let Some(plan) = plan {
        comparison.check_edits(plan.edits(), &mut failures);
        comparison.check_repeat(plan.edits(), &mut failures);
        comparison.check_lengths(plan, &mut failures);
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// Returns the violations of `file` itself, which edits keep.
pub fn inherited(file: &(impl ReadAt + ?Sized)) -> Result<Vec<Violation>, ElfError> {
    Ok(violations(&inspect(file)?, file))
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

struct Both<'a> {
    old: &'a ElfInfo,
    new: &'a ElfInfo,
    before: &'a dyn ReadAt,
    after: &'a dyn ReadAt,
    plan: Option<&'a EditPlan>,
    freed: Option<&'a Freed>,
}

impl Both<'_> {
    /// Checks I17: the file header changes only in position and size of tables.
    fn check_header(&self, found: &mut Vec<Violation>) {
        let header = |info: &ElfInfo, file: &dyn ReadAt| {
            read_bytes(file, info.file_len, 0, 64, "the ELF header").unwrap_or_default()
        };
        let (old, new) = (header(self.old, self.before), header(self.new, self.after));
        for (name, at, size) in KEPT_FIELDS {
            let is_unchanged = old.get(at..at + size) == new.get(at..at + size);
            check(found, "I17", is_unchanged, || format!("{name} of the file header changed"));
        }
    }

    /// Checks I12: the file grows only by strings and moved tables.
    fn check_growth(&self, found: &mut Vec<Violation>) {
        let strings = self.new.strings.as_ref().map_or(0, |strings| strings.bytes.len() as u64);
        let table_at = |info: &ElfInfo| info.header.as_ref().map(|header| header.segments_at);
        let table_moved = table_at(self.old) != table_at(self.new);
        let sections = self.new.section_table();
        let sections_moved = self.old.section_table().start != sections.start;
        let padding = PADDING
            + if table_moved { MOST_PADDING } else { 0 }
            + if sections_moved { sections.end - sections.start } else { 0 };
        let (old, new) = (self.old.file_len, self.new.file_len);
        let enough = old.saturating_add(strings).saturating_add(self.moved_tables() + padding);
        check(found, "I12", new <= enough, || {
            format!("it grew from {old} to {new} bytes; {enough} bytes are enough")
        });
    }

    fn check_lengths(&self, plan: &EditPlan, found: &mut Vec<Violation>) {
        let right = self.new.file_len == plan.new_len() && self.old.file_len == plan.old_len();
        check(found, "I17", right, || "the length of a file differs from the plan".to_owned());
    }
}
