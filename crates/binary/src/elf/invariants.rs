//! Invariants of every loadable file.

use std::collections::HashSet;

use object::elf;

use super::header::{SEGMENT_SIZE, Segment};
use super::info::ElfInfo;
use super::layout::MOST_HEADERS;
use super::violation::{Violation, check};
use crate::ReadAt;

pub(super) fn violations_of(info: &ElfInfo, file: &(impl ReadAt + ?Sized)) -> Vec<Violation> {
    let mut violations = Vec::new();
    check_table(info, &mut violations);
    check_kernel_view(info, &mut violations);
    check_loads(info, &mut violations);
    check_dynamic(info, &mut violations);
    check_ranges(info, file, &mut violations);
    check_needs(info, &mut violations);
    // Equal headers cause equal violations, which are reported once.
    let mut seen = HashSet::new();
    violations.retain(|violation| seen.insert(violation.clone()));
    violations
}

fn load_of(info: &ElfInfo, offset: u64, len: u64) -> Option<&Segment> {
    info.loads().find(|load| load.offset <= offset && offset.saturating_add(len) <= load.file_end())
}

/// Checks I1: one LOAD maps the program header table, and a `PT_PHDR`, which must be before all LOADs,
/// covers it; and I3: the number of program headers, which old kernels limit.
fn check_table(info: &ElfInfo, violations: &mut Vec<Violation>) {
    let Some(header) = &info.header else { return };
    let len = header.segment_count.saturating_mul(SEGMENT_SIZE);
    let load = load_of(info, header.segments_at, len);
    check(violations, "I1", load.is_some(), || {
        "the program header table is not inside one LOAD segment".to_owned()
    });
    check(violations, "I3", header.segment_count <= MOST_HEADERS, || {
        format!("{} program headers; the limit is {MOST_HEADERS}", header.segment_count)
    });
    let Some(phdr_index) = info.segments.iter().position(|segment| segment.kind == elf::PT_PHDR)
    else {
        return;
    };
    let first_load = info.segments.iter().position(Segment::is_load);
    check(violations, "I1", first_load.is_none_or(|load| phdr_index < load), || {
        "PT_PHDR follows a LOAD segment".to_owned()
    });
    let segment = &info.segments[phdr_index];
    let address = load.map(|load| load.address.wrapping_add(header.segments_at - load.offset));
    let is_covered = segment.offset == header.segments_at
        && Some(segment.address) == address
        && segment.file_size >= len;
    check(violations, "I1", is_covered, || {
        "PT_PHDR does not cover the program header table".to_owned()
    });
}

/// Checks I2: kernels before 5.18 compute the address of the table as first LOAD plus `e_phoff`. They
/// pass it to the loader of a program; libraries do not depend on it.
fn check_kernel_view(info: &ElfInfo, violations: &mut Vec<Violation>) {
    let (Some(header), Some(first)) = (&info.header, info.loads().next()) else { return };
    let Some(load) =
        load_of(info, header.segments_at, SEGMENT_SIZE).filter(|_| info.interpreter.is_some())
    else {
        return;
    };
    let distance = |load: &Segment| load.address.wrapping_sub(load.offset);
    check(violations, "I2", distance(load) == distance(first), || {
        "kernels before 5.18 compute a wrong address of the program headers".to_owned()
    });
}

/// Checks I4, I5 and I6: LOADs share no pages, ascend, and are congruent to their offsets.
fn check_loads(info: &ElfInfo, violations: &mut Vec<Violation>) {
    let page = info.machine.page();
    let pages = |load: &Segment| {
        (load.address / page, load.address.saturating_add(load.file_size).div_ceil(page))
    };
    let loads: Vec<_> = info.loads().collect();
    for load in &loads {
        let congruent = load.align <= 1 || load.address.wrapping_sub(load.offset) % load.align == 0;
        check(violations, "I6", congruent, || {
            format!("LOAD at {:#x}: address and offset are not congruent", load.address)
        });
    }
    // Linear time: each is compared with the furthest-reaching earlier one.
    // Only pages with bytes of the file count: LOADs without any map none.
    let mut in_file: Vec<&Segment> =
        loads.iter().copied().filter(|load| load.file_size > 0).collect();
    in_file.sort_by_key(|load| pages(load));
    let mut furthest: Option<&Segment> = None;
    for load in in_file {
        let shared = furthest.filter(|before| pages(load).0 < pages(before).1);
        if let Some(before) = shared {
            check(violations, "I4", false, || {
                format!("the LOADs at {:#x} and {:#x} share a page", before.address, load.address)
            });
        }
        if furthest.is_none_or(|before| pages(before).1 < pages(load).1) {
            furthest = Some(load);
        }
    }
    for pair in loads.windows(2) {
        let ascend = pair[0].address < pair[1].address;
        check(violations, "I5", ascend, || {
            format!(
                "the LOADs are not in ascending order: {:#x}, then {:#x}",
                pair[0].address, pair[1].address
            )
        });
    }
}

/// Checks I7: a writable LOAD maps the dynamic section at its address, because loaders find it there
/// and write to it.
fn check_dynamic(info: &ElfInfo, violations: &mut Vec<Violation>) {
    let Some(segment) = info.segment(elf::PT_DYNAMIC) else { return };
    let home = info
        .loads()
        .find(|load| load.offset_of(segment.address, segment.file_size) == Some(segment.offset));
    check(violations, "I7", home.is_some(), || {
        "no LOAD segment maps PT_DYNAMIC from its offset to its address".to_owned()
    });
    let writable = home.is_none_or(|load| load.allows(elf::PF_W));
    check(violations, "I7", writable, || "PT_DYNAMIC is in a read-only LOAD segment".to_owned());
}

/// Checks I8: all tables of the dynamic section have their bytes in the file.
fn check_ranges(info: &ElfInfo, file: &(impl ReadAt + ?Sized), violations: &mut Vec<Violation>) {
    for range in info.ranges(file) {
        // Of a table of unknown size, at least the first byte.
        let backed = info.offset_of(range.address, range.size.unwrap_or(1)).is_some();
        check(violations, "I8", backed, || {
            format!("{} is not inside the bytes of one LOAD segment", range.name)
        });
    }
}

/// Checks I10: loaders look up versions only in libraries of `DT_NEEDED`.
fn check_needs(info: &ElfInfo, violations: &mut Vec<Violation>) {
    let needed: Vec<_> = info
        .entries_of(elf::DT_NEEDED)
        .filter_map(|at| info.string("DT_NEEDED", at).ok())
        .collect();
    for need in &info.needs.entries {
        let name = info.string("vn_file", need.file).unwrap_or_default();
        let message = || {
            format!(
                "the version needs name `{}`, which is not in DT_NEEDED",
                String::from_utf8_lossy(name)
            )
        };
        check(violations, "I10", needed.contains(&name), message);
    }
}
