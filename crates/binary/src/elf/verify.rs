//! Checks an edited file against the old one: from a fresh reading of both, by what loaders read.

use std::collections::HashSet;

use super::edit_plan::EditPlan;
use super::error::ElfError;
use super::header::read_bytes;
use super::info::{ElfInfo, inspect};
use super::invariants::violations;
use super::layout::MOST_PADDING;
use super::violation::{Violation, check};
use crate::ReadAt;

mod contents;
mod names;
mod segments;
mod tables;

/// How much an edit may add besides strings and what had to move, in bytes: padding to the largest
/// pages on both sides of it.
const PADDING: u64 = 3 * 0x1_0000;

/// Checks that `new`, which `plan` makes of `old`, has every edit and keeps every invariant
/// that `old` keeps. Bytes that `plan` leaves alone are taken to be those of `old`.
///
/// # Errors
/// All that is broken.
pub fn verify(old: &impl ReadAt, new: &impl ReadAt, plan: &EditPlan) -> Result<(), Vec<Violation>> {
    prove(old, new, Some(plan))
}

/// Checks that `new` is `old` with another rpath, SONAME or NEEDED and nothing else, whatever made
/// it: every byte is compared that loaders, symbols and relocations refer to. What [`verify`]
/// finds right is right here too.
///
/// # Errors
/// All that is broken.
pub fn compare(old: &impl ReadAt, new: &impl ReadAt) -> Result<(), Vec<Violation>> {
    prove(old, new, None)
}

fn prove(
    old: &dyn ReadAt,
    new: &dyn ReadAt,
    plan: Option<&EditPlan>,
) -> Result<(), Vec<Violation>> {
    let read = |file: &dyn ReadAt| inspect(file).map_err(|error| vec![unreadable(&error)]);
    let both = Both { old: &read(old)?, new: &read(new)?, before: old, after: new, plan };
    let mut found = violations(both.new, new);
    let inherited: HashSet<_> = violations(both.old, old).into_iter().collect();
    found.retain(|violation| !inherited.contains(violation));
    both.check_header(&mut found);
    both.check_names(&mut found);
    both.check_growth(&mut found);
    both.check_loads(&mut found);
    both.check_strings(&mut found);
    both.check_notes(&mut found);
    both.check_tables(&mut found);
    both.check_version_needs(&mut found);
    both.check_rest(&mut found);
    both.check_contents(&mut found);
    if let Some(plan) = plan {
        both.check_edits(plan.edits(), &mut found);
        both.check_repeat(plan.edits(), &mut found);
        both.check_lengths(plan, &mut found);
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// What `file` breaks of the invariants by itself: an edit keeps it, and it is worth a warning.
///
/// # Errors
/// As [`inspect`].
pub fn inherited(file: &(impl ReadAt + ?Sized)) -> Result<Vec<Violation>, ElfError> {
    Ok(violations(&inspect(file)?, file))
}

fn unreadable(error: &ElfError) -> Violation {
    Violation { invariant: "I8", detail: error.to_string() }
}

/// Fields of the file header that say nothing about where its tables are and how long (gABI,
/// "ELF Header"): their names, places and sizes.
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

/// The old file and the new one.
struct Both<'a> {
    old: &'a ElfInfo,
    new: &'a ElfInfo,
    before: &'a dyn ReadAt,
    after: &'a dyn ReadAt,
    /// What makes the new file of the old one, where that is known.
    plan: Option<&'a EditPlan>,
}

impl Both<'_> {
    /// I17: the file header says what it said, but where its tables are and how long.
    fn check_header(&self, found: &mut Vec<Violation>) {
        let header = |info: &ElfInfo, file: &dyn ReadAt| {
            read_bytes(file, info.file_len, 0, 64, "the ELF header").unwrap_or_default()
        };
        let (old, new) = (header(self.old, self.before), header(self.new, self.after));
        for (name, at, size) in KEPT_FIELDS {
            let kept = old.get(at..at + size) == new.get(at..at + size);
            check(found, "I17", kept, || format!("{name} of the file header changed"));
        }
    }

    /// I12: what an edit adds is new strings, a copy of the old ones and of what had to move.
    fn check_growth(&self, found: &mut Vec<Violation>) {
        let strings = self.new.strings.as_ref().map_or(0, |strings| strings.bytes.len() as u64);
        let table_at = |info: &ElfInfo| info.header.as_ref().map(|header| header.segments_at);
        let table_moved = table_at(self.old) != table_at(self.new);
        let padding = PADDING + if table_moved { MOST_PADDING } else { 0 };
        let (old, new) = (self.old.file_len, self.new.file_len);
        let enough = old.saturating_add(strings).saturating_add(self.moved_tables() + padding);
        check(found, "I12", new <= enough, || {
            format!("it grew from {old} to {new} bytes, and {enough} are enough")
        });
    }

    /// I17: the files are as long as planned.
    fn check_lengths(&self, plan: &EditPlan, found: &mut Vec<Violation>) {
        let right = self.new.file_len == plan.new_len() && self.old.file_len == plan.old_len();
        check(found, "I17", right, || "the files are not as long as planned".to_owned());
    }
}
