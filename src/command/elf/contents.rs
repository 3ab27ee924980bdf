//! Compares code, data and tables of two files by address (I17, I15), whatever moved in the files.

use std::io;

use fs_err::File;
use object::elf;
use rockpack::elf::{ReadAt, Violation};

use super::headers::{Headers, Section};

/// How much is compared at a time.
const CHUNK: usize = 1 << 20;

/// A part of memory.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The invariant that a difference violates.
    invariant: &'static str,
    address: u64,
    size: u64,
}

/// The parts of `old`'s memory that no edit may change and that `new` has otherwise, or not at all.
///
/// The dynamic section and what it points to are left out: they may move, and are compared
/// entry by entry elsewhere.
pub fn differences(
    old: &File,
    before: &Headers,
    new: &File,
    after: &Headers,
) -> io::Result<Vec<Violation>> {
    let parts = if before.sections.iter().any(|section| section.allocated) {
        from_sections(before, after)
    } else {
        from_segments(before)
    };
    let mut found = Vec::new();
    for part in parts {
        let problem = first_difference((old, before), (new, after), part)?;
        found.extend(problem.map(|detail| Violation { invariant: part.invariant, detail }));
    }
    Ok(found)
}

/// The sections with code and data, and the tables that stayed where they were.
fn from_sections(before: &Headers, after: &Headers) -> Vec<Part> {
    let interpreter = before
        .segments
        .iter()
        .find(|segment| segment.kind == elf::PT_INTERP)
        .map(|segment| segment.address);
    let stayed =
        |section: &Section| after.dynamic.iter().any(|(_, value)| *value == section.address);
    let invariant = |section: &Section| match section.kind {
        elf::SHT_NOBITS
        | elf::SHT_NULL
        | elf::SHT_DYNAMIC
        | elf::SHT_STRTAB
        | elf::SHT_NOTE
        | elf::SHT_GNU_VERNEED => None,
        elf::SHT_DYNSYM
        | elf::SHT_HASH
        | elf::SHT_GNU_HASH
        | elf::SHT_GNU_VERSYM
        | elf::SHT_GNU_VERDEF => stayed(section).then_some("I15"),
        _ => (Some(section.address) != interpreter).then_some("I17"),
    };
    let allocated = before.sections.iter().filter(|section| section.allocated && section.size > 0);
    let part = |section: &Section| {
        Some(Part { invariant: invariant(section)?, address: section.address, size: section.size })
    };
    allocated.filter_map(part).collect()
}

/// Without sections nothing says where a table ends: the LOADs that have none of them, without
/// the dynamic section.
fn from_segments(before: &Headers) -> Vec<Part> {
    let tags = [
        elf::DT_STRTAB,
        elf::DT_SYMTAB,
        elf::DT_HASH,
        elf::DT_GNU_HASH,
        elf::DT_VERSYM,
        elf::DT_VERNEED,
        elf::DT_VERDEF,
    ];
    let tables: Vec<u64> = tags.iter().filter_map(|&tag| before.entry(tag)).collect();
    let dynamic = before
        .segments
        .iter()
        .find(|segment| segment.kind == elf::PT_DYNAMIC)
        .map(|segment| (segment.address, segment.memory_size));
    let loads = before.loads().filter(|load| {
        let has =
            |address: &u64| load.address <= *address && *address - load.address < load.file_size;
        let has_headers =
            load.offset <= before.table_at && before.table_at - load.offset < load.file_size;
        !has_headers && load.offset > 0 && !tables.iter().any(has)
    });
    loads
        .flat_map(|load| {
            without(Part { invariant: "I17", address: load.address, size: load.file_size }, dynamic)
        })
        .collect()
}

/// What is left of `part` before and after the hole.
fn without(part: Part, hole: Option<(u64, u64)>) -> Vec<Part> {
    let end = part.address.saturating_add(part.size);
    let (from, to) = hole.map_or((end, end), |(at, size)| {
        (at.clamp(part.address, end), at.saturating_add(size).clamp(part.address, end))
    });
    let parts =
        [Part { size: from - part.address, ..part }, Part { address: to, size: end - to, ..part }];
    parts.into_iter().filter(|part| part.size > 0).collect()
}

/// Says where `part` first differs; `None` when it doesn't, or when `old` has no bytes for it.
fn first_difference(
    old: (&File, &Headers),
    new: (&File, &Headers),
    part: Part,
) -> io::Result<Option<String>> {
    let (mut one, mut two) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut at, mut left) = (part.address, part.size);
    while left > 0 {
        let Some((from, old_left)) = old.1.bytes_from(at) else { return Ok(None) };
        let Some((to, new_left)) = new.1.bytes_from(at) else {
            return Ok(Some(format!("address {at:#x} has no bytes in the file")));
        };
        let size = left.min(old_left).min(new_left).min(CHUNK as u64);
        let len = usize::try_from(size).unwrap_or(CHUNK);
        old.0.read_exact_at(from, &mut one[..len])?;
        new.0.read_exact_at(to, &mut two[..len])?;
        if let Some(index) = one[..len].iter().zip(&two[..len]).position(|(one, two)| one != two) {
            return Ok(Some(format!(
                "the byte at address {:#x} is {:#04x}, was {:#04x}",
                at + index as u64,
                two[index],
                one[index]
            )));
        }
        (at, left) = (at + size, left - size);
    }
    Ok(None)
}
