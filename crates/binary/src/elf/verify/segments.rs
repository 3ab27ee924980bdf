use std::collections::HashMap;

use object::elf::{self, ProgramType};

use super::{Comparison, RemovedSection};
use crate::ReadAt;
use crate::elf::header::{Segment, read_bytes};
use crate::elf::info::ElfInfo;
use crate::elf::violation::{Violation, check};

fn by_address(info: &ElfInfo) -> HashMap<u64, &Segment> {
    info.loads().map(|load| (load.address, load)).collect()
}

fn zeros(load: &Segment) -> u64 {
    load.memory_size.wrapping_sub(load.file_size)
}

impl Comparison<'_> {
    /// Checks I5, I6, I7 and I17: existing LOADs stay, and new ones can be mapped with every page
    /// size.
    pub(super) fn check_loads(&self, violations: &mut Vec<Violation>) {
        check(violations, "I5", self.old.loads().next() == self.new.loads().next(), || {
            "the first LOAD segment changed".to_owned()
        });
        let (before, after) = (by_address(self.old), by_address(self.new));
        for load in self.new.loads() {
            let address = load.address;
            let Some(old) = before.get(&address) else {
                self.check_new_load(load, violations);
                continue;
            };
            check(violations, "I6", old.align == load.align, || {
                format!("the LOAD at {address:#x} has another alignment")
            });
            check(violations, "I7", old.flags == load.flags, || {
                format!("the LOAD at {address:#x} has other permissions")
            });
            let same_place = self.plan.is_none() || old.offset == load.offset;
            let grown = old.file_size <= load.file_size && zeros(old) == zeros(load);
            check(violations, "I17", same_place && grown, || {
                format!("the LOAD at {address:#x} maps other bytes, or has another size in memory")
            });
        }
        let is_complete = self.old.loads().all(|old| after.contains_key(&old.address));
        check(violations, "I5", is_complete, || "a LOAD segment is missing".to_owned());
    }

    /// Checks I5, I6, I7 and I17: LOADs cover the old addresses without the removed section's, with
    /// bytes where the old ones have some.
    pub(super) fn check_divided_loads(
        &self,
        removed: &RemovedSection,
        violations: &mut Vec<Violation>,
    ) {
        for load in self.new.loads() {
            let address = load.address;
            let inside =
                |old: &&Segment| old.address <= address && load.memory_end() <= old.memory_end();
            let Some(old) = self.old.loads().find(inside) else {
                check(violations, "I5", false, || format!("the LOAD at {address:#x} is new"));
                continue;
            };
            let is_alike = (old.align, old.flags) == (load.align, load.flags)
                && old.physical.wrapping_sub(old.address) == load.physical.wrapping_sub(address);
            check(violations, "I6", is_alike, || {
                format!("the LOAD at {address:#x} has another alignment or permissions")
            });
            let in_file = old.address.saturating_add(old.file_size);
            let right = address.saturating_add(load.file_size) <= in_file;
            check(violations, "I17", right, || format!("the LOAD at {address:#x} has more bytes"));
        }
        for old in self.old.loads() {
            let mut address = old.address;
            while address < old.memory_end() {
                let next = self
                    .new
                    .loads()
                    .find(|load| load.address <= address && address < load.memory_end());
                let gap = removed.addresses.start <= address && address < removed.addresses.end;
                address = match next {
                    Some(load) => load.memory_end(),
                    None if gap => self.next_address(address).min(removed.addresses.end),
                    None => {
                        let detail = format!("no LOAD has the address {address:#x}");
                        violations.push(Violation { invariant: "I5", detail });
                        break;
                    }
                };
            }
        }
    }

    fn next_address(&self, at: u64) -> u64 {
        let later = self.new.loads().map(|load| load.address).filter(|address| *address > at);
        later.min().unwrap_or(u64::MAX)
    }

    fn check_new_load(&self, load: &Segment, violations: &mut Vec<Violation>) {
        let address = load.address;
        check(violations, "I6", load.align == self.new.machine.page(), || {
            format!("the new LOAD at {address:#x} is not aligned to the largest page")
        });
        check(violations, "I7", !(load.allows(elf::PF_W) && load.allows(elf::PF_X)), || {
            format!("the new LOAD at {address:#x} is writable and executable")
        });
        check(violations, "I17", zeros(load) == 0, || {
            format!("the new LOAD at {address:#x} is larger in memory than in the file")
        });
        let apart = |old: &Segment| load.memory_end() <= old.address || old.memory_end() <= address;
        check(violations, "I4", self.old.loads().all(apart), || {
            format!("the new LOAD at {address:#x} overlaps another one")
        });
    }

    /// Checks I13: notes and interpreter name are unchanged.
    pub(super) fn check_notes(&self, violations: &mut Vec<Violation>) {
        let bytes = |info: &ElfInfo, file: &dyn ReadAt, segment: &Segment| {
            read_bytes(file, info.file_len, segment.offset, segment.file_size, "a note").ok()
        };
        let first_interpreter = |info: &ElfInfo, file: &dyn ReadAt| {
            info.segment(elf::PT_INTERP).and_then(|segment| bytes(info, file, segment))
        };
        let same_interpreter = first_interpreter(self.old, self.old_file)
            == first_interpreter(self.new, self.new_file);
        check(violations, "I13", same_interpreter, || "the loader's name changed".to_owned());
        let named = [elf::PT_NOTE, elf::PT_GNU_PROPERTY, elf::PT_INTERP];
        for segment in self.old.segments.iter().filter(|segment| named.contains(&segment.kind)) {
            let same_kind = |other: &&Segment| {
                other.kind == segment.kind
                    || (segment.kind == elf::PT_NOTE && other.kind == elf::PT_GNU_PROPERTY)
            };
            let want = bytes(self.old, self.old_file, segment);
            let mut candidates = self.new.segments.iter().filter(same_kind);
            let is_kept = candidates.any(|other| {
                let mapped =
                    self.new.offset_of(other.address, other.file_size) == Some(other.offset);
                other.file_size == segment.file_size
                    && mapped
                    && bytes(self.new, self.new_file, other) == want
            });
            // The kernel reads the interpreter name by offset, mapped or not; notes are found by
            // address.
            let was_mapped =
                self.old.offset_of(segment.address, segment.file_size) == Some(segment.offset);
            check(violations, "I13", is_kept || !was_mapped, || {
                format!("the note or loader name at {:#x} is missing", segment.offset)
            });
        }
    }

    /// Checks I18: other segments used by loaders are unchanged, and no new kinds exist.
    pub(super) fn check_other_segments(&self, violations: &mut Vec<Violation>) {
        let mut kinds = vec![elf::PT_TLS, elf::PT_GNU_RELRO, elf::PT_GNU_EH_FRAME];
        if self.removed.is_some() {
            kinds.push(elf::PT_DYNAMIC);
        }
        let segments = |info: &ElfInfo| {
            info.segments.iter().filter(|it| kinds.contains(&it.kind)).cloned().collect::<Vec<_>>()
        };
        let (old, mut new) = (segments(self.old), segments(self.new));
        if self.removed.is_some() {
            for (old, new) in old.iter().zip(&mut new) {
                let mapped = |info: &ElfInfo, it: &Segment| {
                    it.file_size == 0 || info.offset_of(it.address, it.file_size) == Some(it.offset)
                };
                if mapped(self.new, new) || !mapped(self.old, old) {
                    new.offset = old.offset;
                }
            }
        }
        check(violations, "I18", old == new, || {
            "PT_TLS, PT_GNU_RELRO or unwind tables changed".to_owned()
        });
        self.check_stack(violations);
        let (mut before, after) = (counts(self.old), counts(self.new));
        if self.clears_stack() {
            before.entry(elf::PT_GNU_STACK.0).or_insert(1);
        }
        let mut more: Vec<_> =
            after.iter().filter(|(kind, count)| before.get(*kind).unwrap_or(&0) < *count).collect();
        more.sort();
        for (kind, _) in more {
            check(violations, "I18", false, || {
                format!("a program header of type {kind:#x} appeared")
            });
        }
    }

    /// Returns whether the edit may remove the request for an executable stack.
    fn clears_stack(&self) -> bool {
        let asked = match (self.plan, self.removed) {
            (Some(plan), _) => plan.edits().clear_execstack,
            (None, removed) => removed.is_none() && self.new.executable_stack().is_none(),
        };
        asked && self.old.executable_stack().is_some()
    }

    /// Checks I18: `PT_GNU_STACK` is unchanged, or lost its flag on request, and no trampoline
    /// needs it.
    fn check_stack(&self, violations: &mut Vec<Violation>) {
        let stack = |info: &ElfInfo| {
            let stacks = info.segments.iter().filter(|it| it.kind == elf::PT_GNU_STACK);
            stacks.cloned().collect::<Vec<_>>()
        };
        let (old, new) = (stack(self.old), stack(self.new));
        if !self.clears_stack() {
            check(violations, "I18", old == new, || "PT_GNU_STACK changed".to_owned());
            return;
        }
        let cleared: Vec<Segment> = if old.is_empty() {
            vec![Segment::plain_stack()]
        } else {
            old.iter().map(Segment::without_executable_stack).collect()
        };
        check(violations, "I18", new == cleared, || {
            "PT_GNU_STACK changed in more than its executable flag".to_owned()
        });
        // The plan of an edit is refused for a trampoline.
        let trampoline =
            if self.plan.is_none() { self.old.trampoline(self.old_file) } else { Ok(None) };
        check(violations, "I18", matches!(trampoline, Ok(None)), || {
            "the stack is no longer executable, but the code writes a trampoline there".to_owned()
        });
    }
}

fn counts(info: &ElfInfo) -> HashMap<u32, usize> {
    let free: [ProgramType; 2] = [elf::PT_LOAD, elf::PT_NULL];
    let mut counts = HashMap::new();
    for segment in info.segments.iter().filter(|segment| !free.contains(&segment.kind)) {
        *counts.entry(segment.kind.0).or_default() += 1;
    }
    counts
}
