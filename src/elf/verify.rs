//! Checks an edited file against the old one: headers only, from a fresh reading of both.

use object::elf::{self, DynamicTag};

use super::edits::RpathEdit;
use super::error::ElfError;
use super::header::{Segment, read_bytes};
use super::info::{ElfInfo, inspect};
use super::invariants::{Violation, check, violations};
use super::plan::{EditPlan, plan_edit};
use super::ranges::Range;
use super::read_at::ReadAt;

/// Checks that `new`, which `plan` makes of `old`, has every edit and keeps every invariant
/// that `old` keeps.
///
/// # Errors
/// All that is broken.
pub fn verify(old: &impl ReadAt, new: &impl ReadAt, plan: &EditPlan) -> Result<(), Vec<Violation>> {
    let read = |file: &dyn ReadAt| inspect(file).map_err(|error| vec![unreadable(&error)]);
    let both = Both { old: &read(old)?, new: &read(new)?, before: old, after: new, plan };
    let mut found = violations(both.new, new);
    let inherited = violations(both.old, old);
    found.retain(|violation| !inherited.contains(violation));
    both.check_header(&mut found);
    both.check_edits(&mut found);
    both.check_repeat(&mut found);
    both.check_growth(&mut found);
    both.check_loads(&mut found);
    both.check_strings(&mut found);
    both.check_notes(&mut found);
    both.check_tables(&mut found);
    both.check_rest(&mut found);
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

/// The string that the last entry of `tag` points to.
fn name_of(info: &ElfInfo, tag: DynamicTag) -> Option<&[u8]> {
    info.string("a name", info.tag(tag)?).ok()
}

/// The libraries needed, then those that versions are needed of.
fn needed(info: &ElfInfo) -> Vec<Vec<u8>> {
    let needed = info.entries_of(elf::DT_NEEDED).map(|at| info.string("DT_NEEDED", at));
    let versions = info.needs.entries.iter().map(|need| info.string("vn_file", need.file));
    needed.chain(versions).map(|name| name.unwrap_or_default().to_vec()).collect()
}

/// The old file and the new one.
struct Both<'a> {
    old: &'a ElfInfo,
    new: &'a ElfInfo,
    before: &'a dyn ReadAt,
    after: &'a dyn ReadAt,
    plan: &'a EditPlan,
}

impl Both<'_> {
    /// I17: the file header says what it said, but where its tables are and how long.
    fn check_header(&self, found: &mut Vec<Violation>) {
        // e_ident to e_entry, e_flags to e_phentsize, e_shentsize (gABI, "ELF Header").
        let kept = |info: &ElfInfo, file: &dyn ReadAt| {
            let header = read_bytes(file, info.file_len, 0, 64, "the ELF header").ok()?;
            Some([&header[..32], &header[48..56], &header[58..60]].concat())
        };
        let same = kept(self.old, self.before) == kept(self.new, self.after);
        check(found, "I17", same, || "the file header has other fields".to_owned());
    }

    /// I11: every edit is there, and what nobody asked for stays.
    fn check_edits(&self, found: &mut Vec<Violation>) {
        let edits = self.plan.edits();
        if edits.rpath == RpathEdit::Keep {
            for (tag, name) in [(elf::DT_RPATH, "DT_RPATH"), (elf::DT_RUNPATH, "DT_RUNPATH")] {
                check(found, "I11", name_of(self.old, tag) == name_of(self.new, tag), || {
                    format!("{name} changed")
                });
            }
        } else {
            let want = edits.final_rpath(self.old).ok().flatten();
            check(found, "I11", name_of(self.new, elf::DT_RPATH) == want.as_deref(), || {
                "DT_RPATH is not what was wanted".to_owned()
            });
            check(found, "I11", self.new.tag(elf::DT_RUNPATH).is_none(), || {
                "a DT_RUNPATH is left".to_owned()
            });
            check(found, "I11", self.new.entries_of(elf::DT_RPATH).count() <= 1, || {
                "DT_RPATH is there twice".to_owned()
            });
        }
        let soname = edits
            .soname
            .as_ref()
            .map(String::as_bytes)
            .or_else(|| name_of(self.old, elf::DT_SONAME));
        check(found, "I11", name_of(self.new, elf::DT_SONAME) == soname, || {
            "DT_SONAME is not what was wanted".to_owned()
        });
        let want: Vec<_> = needed(self.old).iter().map(|name| self.renamed(name)).collect();
        check(found, "I11", needed(self.new) == want, || {
            "DT_NEEDED and the version needs are not what was wanted".to_owned()
        });
    }

    fn renamed(&self, name: &[u8]) -> Vec<u8> {
        let rename = self.plan.edits().needed.iter().rfind(|rename| rename.from.as_bytes() == name);
        rename.map_or_else(|| name.to_vec(), |rename| rename.to.clone().into_bytes())
    }

    /// I12: another run has nothing to do.
    fn check_repeat(&self, found: &mut Vec<Violation>) {
        let again = plan_edit(self.after, self.new, self.plan.edits());
        let renames_back = self
            .plan
            .edits()
            .needed
            .iter()
            .any(|one| self.plan.edits().needed.iter().any(|two| one.to == two.from));
        check(found, "I12", renames_back || again.is_ok_and(|plan| plan.is_noop()), || {
            "a second edit would change it again".to_owned()
        });
    }

    /// I12: what an edit adds is the new strings and one copy each of what had to move.
    fn check_growth(&self, found: &mut Vec<Violation>) {
        let strings = self.new.strings.as_ref().map_or(0, |strings| strings.bytes.len() as u64);
        // What moves besides is smaller than the page it made room on.
        let small = 3 * self.new.machine.page() + self.moved_tables();
        let table_at = |info: &ElfInfo| info.header.as_ref().map(|header| header.segments_at);
        let table_moved = table_at(self.old) != table_at(self.new);
        let padding = if table_moved { 1 << 20 } else { 0 };
        let most = self.plan.old_len().saturating_add(strings + small + padding);
        check(found, "I12", self.plan.new_len() <= most, || {
            format!("it grew to {} bytes", self.plan.new_len())
        });
        let right = self.after.len().is_ok_and(|len| len == self.plan.new_len())
            && self.before.len().is_ok_and(|len| len == self.plan.old_len());
        check(found, "I17", right, || "the files are not as long as planned".to_owned());
    }

    fn moved_tables(&self) -> u64 {
        let pairs = self.pairs();
        pairs
            .iter()
            .filter(|(old, new)| old.address != new.address)
            .filter_map(|(old, _)| old.size)
            .sum()
    }

    /// I5, I6, I7: the first LOAD stays, the others too, and new ones are mappable anywhere.
    fn check_loads(&self, found: &mut Vec<Violation>) {
        check(found, "I5", self.old.loads().next() == self.new.loads().next(), || {
            "the first LOAD segment changed".to_owned()
        });
        let same_start = |one: &Segment, two: &Segment| {
            one.address == two.address && one.offset == two.offset && one.flags == two.flags
        };
        for load in self.new.loads() {
            let known = self
                .old
                .loads()
                .any(|old| same_start(old, load) && old.file_size <= load.file_size);
            let aligned = load.align == self.new.machine.page();
            check(found, "I6", known || aligned, || {
                format!("the new LOAD at {:#x} is not aligned to the largest page", load.address)
            });
            let both = load.allows(elf::PF_W) && load.allows(elf::PF_X);
            check(found, "I7", known || !both, || {
                format!("the new LOAD at {:#x} is writable and executable", load.address)
            });
        }
        let kept = self.old.loads().all(|old| self.new.loads().any(|load| same_start(old, load)));
        check(found, "I5", kept, || "a LOAD segment is gone".to_owned());
    }

    /// I9, I15: symbols keep their names when their table and the old strings stay as they are.
    fn check_strings(&self, found: &mut Vec<Violation>) {
        let (Some(old), Some(new)) = (&self.old.strings, &self.new.strings) else { return };
        check(found, "I9", new.bytes.starts_with(&old.bytes), || {
            "the old strings are not at the same offsets".to_owned()
        });
        let names = |info: &ElfInfo| -> Vec<u64> {
            let tables = info.needs.entries.iter().chain(&info.definitions.entries);
            tables.flat_map(|entry| entry.names.iter().copied()).collect()
        };
        check(found, "I9", names(self.old) == names(self.new), || {
            "a version has another name".to_owned()
        });
        let others = |info: &ElfInfo| -> Vec<(i64, u64)> {
            let tags = [
                elf::DT_AUXILIARY,
                elf::DT_FILTER,
                elf::DT_CONFIG,
                elf::DT_DEPAUDIT,
                elf::DT_AUDIT,
            ];
            tags.iter()
                .flat_map(|&tag| info.entries_of(tag).map(move |value| (tag.0, value)))
                .collect()
        };
        check(found, "I9", others(self.old) == others(self.new), || {
            "a dynamic string changed that was not asked for".to_owned()
        });
    }

    /// I13: notes and the loader's name say what they said.
    fn check_notes(&self, found: &mut Vec<Violation>) {
        let bytes = |info: &ElfInfo, file: &dyn ReadAt, segment: &Segment| {
            read_bytes(file, info.file_len, segment.offset, segment.file_size, "a note").ok()
        };
        for segment in self
            .old
            .segments
            .iter()
            .filter(|segment| [elf::PT_NOTE, elf::PT_INTERP].contains(&segment.kind))
        {
            let same_kind = |other: &&Segment| {
                other.kind == segment.kind
                    || (segment.kind == elf::PT_NOTE && other.kind == elf::PT_GNU_PROPERTY)
            };
            let want = bytes(self.old, self.before, segment);
            let mut candidates = self.new.segments.iter().filter(same_kind);
            let kept = candidates.any(|other| {
                let mapped =
                    self.new.offset_of(other.address, other.file_size) == Some(other.offset);
                other.file_size == segment.file_size
                    && mapped
                    && bytes(self.new, self.after, other) == want
            });
            // The kernel reads the loader's name by its offset, mapped or not; notes are found by address.
            let was_mapped =
                self.old.offset_of(segment.address, segment.file_size) == Some(segment.offset);
            let first = |info: &ElfInfo, file: &dyn ReadAt| {
                info.segment(elf::PT_INTERP).and_then(|s| bytes(info, file, s))
            };
            let unmapped_kept = segment.kind != elf::PT_INTERP
                || first(self.old, self.before) == first(self.new, self.after);
            check(found, "I13", kept || (!was_mapped && unmapped_kept), || {
                format!("the note or loader name at {:#x} is gone", segment.offset)
            });
        }
    }

    /// I15: hash tables, symbols and their versions are the same bytes.
    fn check_tables(&self, found: &mut Vec<Violation>) {
        for (old, new) in self.pairs() {
            let places = self
                .old
                .offset_of(old.address, old.size.unwrap_or(0))
                .zip(self.new.offset_of(new.address, new.size.unwrap_or(0)));
            let Some((from, to)) = places else { continue };
            let untouched = from == to && !self.is_overlaid(from, old.size.unwrap_or(1));
            let bytes = |info: &ElfInfo, file: &dyn ReadAt, range: &Range| {
                info.read_at(file, range.address, range.size.unwrap_or(1))
            };
            let same = untouched
                || (old.size == new.size
                    && bytes(self.old, self.before, &old) == bytes(self.new, self.after, &new));
            check(found, "I15", same, || format!("{} has other bytes", old.name));
        }
    }

    fn is_overlaid(&self, offset: u64, len: u64) -> bool {
        let end = offset.saturating_add(len);
        self.plan.overlay().iter().any(|overlay| overlay.offset < end && offset < overlay.end())
    }

    /// The tables whose bytes no edit may change, old and new.
    fn pairs(&self) -> Vec<(Range, Range)> {
        let fixed =
            [elf::DT_HASH, elf::DT_GNU_HASH, elf::DT_SYMTAB, elf::DT_VERSYM, elf::DT_VERDEF];
        let (old, new) = (self.old.ranges(self.before), self.new.ranges(self.after));
        let pair =
            |old: Range| Some((old.clone(), new.iter().find(|new| new.tag == old.tag)?.clone()));
        old.into_iter().filter(|range| fixed.contains(&range.tag)).filter_map(pair).collect()
    }

    /// I18: what runs before `main` stays, and no entry is gone that nobody asked for.
    fn check_rest(&self, found: &mut Vec<Violation>) {
        let kinds = [elf::PT_TLS, elf::PT_GNU_RELRO, elf::PT_GNU_STACK, elf::PT_GNU_EH_FRAME];
        let segments = |info: &ElfInfo| {
            info.segments.iter().filter(|it| kinds.contains(&it.kind)).cloned().collect::<Vec<_>>()
        };
        check(found, "I18", segments(self.old) == segments(self.new), || {
            "PT_TLS, PT_GNU_RELRO, PT_GNU_STACK or unwind tables changed".to_owned()
        });
        let mine = [
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
        let entries = |info: &ElfInfo| {
            let all = info.dynamic.iter().flat_map(|dynamic| dynamic.entries.clone());
            all.filter(|entry| !mine.contains(&entry.tag)).collect::<Vec<_>>()
        };
        check(found, "I18", entries(self.old) == entries(self.new), || {
            "a dynamic entry changed that was not asked for".to_owned()
        });
        let tags = |info: &ElfInfo| {
            mine[7..].iter().map(|&tag| info.entries_of(tag).count()).collect::<Vec<_>>()
        };
        check(found, "I15", tags(self.old) == tags(self.new), || {
            "a symbol table is gone".to_owned()
        });
    }
}
