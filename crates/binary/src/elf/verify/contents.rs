//! Comparison of code, data and tables by address, independent of file offsets (I15, I17).

use std::io;
use std::ops::Range;

use object::elf;

use super::Comparison;
use super::tables::ADDRESSES;
use crate::elf::header::Section;
use crate::elf::info::ElfInfo;
use crate::elf::violation::Violation;

const CHUNK: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    start: u64,
    end: u64,
    invariant: &'static str,
}

struct Difference {
    at: u64,
    old: u8,
    new: u8,
}

impl Comparison<'_> {
    /// Checks I15 and I17: bytes referred to by loaders, symbols and relocations are unchanged.
    pub(super) fn check_contents(&self, violations: &mut Vec<Violation>) {
        let mut parts = if self.old.sections.iter().any(Section::is_allocated) {
            from_sections(self.old, self.new)
        } else {
            from_loads(self.old)
        };
        parts.extend(self.fixed_tables());
        let unchanged = joined(parts).into_iter().flat_map(|part| {
            let ranges = self.unchanged(part.start, part.end - part.start).into_iter();
            ranges.map(move |range| Part { start: range.start, end: range.end, ..part })
        });
        for part in unchanged {
            if let Some(detail) = self.difference_in(part).unwrap_or_else(|e| Some(e.to_string())) {
                violations.push(Violation { invariant: part.invariant, detail });
            }
        }
    }

    pub(super) fn unchanged(&self, address: u64, size: u64) -> Vec<Range<u64>> {
        let (mut position, end) = (address, address.saturating_add(size));
        let mut free: Vec<&Range<u64>> = self.removed.iter().flat_map(|it| it.ranges()).collect();
        free.sort_by_key(|range| range.start);
        let mut ranges = Vec::new();
        for range in free.into_iter().filter(|range| range.start < end && address < range.end) {
            if position < range.start {
                ranges.push(position..range.start);
            }
            position = position.max(range.end);
        }
        if position < end {
            ranges.push(position..end);
        }
        ranges
    }

    pub(super) fn is_same(&self, from: u64, to: u64, len: u64) -> bool {
        self.first_difference(from, to, len).is_ok_and(|difference| difference.is_none())
    }

    /// Returns tables that never move, and initial data of threads and unwinding, independent of
    /// sections.
    fn fixed_tables(&self) -> Vec<Part> {
        let stay = [
            elf::DT_RELA,
            elf::DT_REL,
            elf::DT_RELR,
            elf::DT_JMPREL,
            elf::DT_INIT_ARRAY,
            elf::DT_FINI_ARRAY,
            elf::DT_PREINIT_ARRAY,
        ];
        let ranges = self.old.ranges(self.old_file);
        let tables = ranges.iter().filter(|range| stay.contains(&range.tag));
        let tables = tables.map(|range| Part::new("I17", range.address, range.size.unwrap_or(0)));
        let kinds = [elf::PT_TLS, elf::PT_GNU_EH_FRAME];
        let segments = self.old.segments.iter().filter(|segment| kinds.contains(&segment.kind));
        tables.chain(segments.map(|it| Part::new("I17", it.address, it.file_size))).collect()
    }

    fn difference_in(&self, part: Part) -> io::Result<Option<String>> {
        self.difference_at(part.start, part.end - part.start)
    }

    /// Ignores bytes that are not in the old file.
    pub(super) fn difference_at(&self, address: u64, size: u64) -> io::Result<Option<String>> {
        let (mut position, end) = (address, address.saturating_add(size));
        while position < end {
            let Some((from, old_left)) = self.old.bytes_from(position) else { return Ok(None) };
            let Some((to, new_left)) = self.new.bytes_from(position) else {
                return Ok(Some(format!("address {position:#x} has no bytes in the file")));
            };
            let size = (end - position).min(old_left).min(new_left);
            if let Some(Difference { at: inside, old, new }) =
                self.first_difference(from, to, size)?
            {
                let address = position + inside;
                return Ok(Some(format!(
                    "the byte at address {address:#x} is {new:#04x}, was {old:#04x}"
                )));
            }
            position += size;
        }
        Ok(None)
    }

    fn first_difference(&self, from: u64, to: u64, len: u64) -> io::Result<Option<Difference>> {
        let inside = from.checked_add(len).is_some_and(|end| end <= self.old.file_len);
        let Some(plan) = self.plan.filter(|_| from == to && inside) else {
            return self.first_byte(from, to, len);
        };
        // Only overlays can differ.
        for overlay in plan.overlay() {
            let (start, end) = (overlay.offset.max(from), overlay.end().min(from + len));
            if start < end
                && let Some(byte) = self.first_byte(start, start, end - start)?
            {
                return Ok(Some(Difference { at: byte.at + (start - from), ..byte }));
            }
        }
        Ok(None)
    }

    fn first_byte(&self, from: u64, to: u64, len: u64) -> io::Result<Option<Difference>> {
        let size = usize::try_from(len.min(CHUNK)).map_err(io::Error::other)?;
        let (mut before, mut after) = (vec![0; size], vec![0; size]);
        let mut offset = 0;
        while offset < len {
            let count = usize::try_from((len - offset).min(CHUNK)).map_err(io::Error::other)?;
            self.old_file.read_exact_at(from + offset, &mut before[..count])?;
            self.new_file.read_exact_at(to + offset, &mut after[..count])?;
            let pairs = before[..count].iter().zip(&after[..count]);
            if before[..count] != after[..count]
                && let Some((at, (&old, &new))) = pairs.enumerate().find(|(_, (a, b))| a != b)
            {
                return Ok(Some(Difference { at: offset + at as u64, old, new }));
            }
            offset += count as u64;
        }
        Ok(None)
    }
}

impl Part {
    fn new(invariant: &'static str, address: u64, size: u64) -> Self {
        Self { start: address, end: address.saturating_add(size), invariant }
    }
}

/// Merges duplicates: headers may list the same bytes many times.
fn joined(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_unstable();
    let mut end = 0;
    for part in &mut parts {
        part.start = part.start.max(end);
        end = end.max(part.end);
    }
    parts.retain(|part| part.start < part.end);
    parts
}

/// Omits the dynamic section, strings, notes and version needs, which may change and are compared
/// by meaning.
fn from_sections(old: &ElfInfo, new: &ElfInfo) -> Vec<Part> {
    let interpreter = old.segment(elf::PT_INTERP).map(|segment| segment.address);
    let tables = [elf::DT_SYMTAB, elf::DT_HASH, elf::DT_GNU_HASH, elf::DT_VERSYM, elf::DT_VERDEF];
    let stayed: Vec<u64> = tables.iter().filter_map(|&tag| new.tag(tag)).collect();
    let invariant = |section: &Section| match section.kind {
        elf::SHT_DYNAMIC | elf::SHT_STRTAB | elf::SHT_NOTE | elf::SHT_GNU_VERNEED => None,
        elf::SHT_DYNSYM
        | elf::SHT_HASH
        | elf::SHT_GNU_HASH
        | elf::SHT_GNU_VERSYM
        | elf::SHT_GNU_VERDEF => stayed.contains(&section.address).then_some("I15"),
        _ => (Some(section.address) != interpreter).then_some("I17"),
    };
    let in_memory =
        old.sections.iter().filter(|section| section.is_allocated() && section.has_bytes());
    in_memory
        .filter_map(|section| Some(Part::new(invariant(section)?, section.address, section.size)))
        .collect()
}

/// Returns LOADs without tables, except the dynamic section: without sections the ends of tables
/// are unknown.
fn from_loads(info: &ElfInfo) -> Vec<Part> {
    let tables: Vec<u64> = ADDRESSES.iter().filter_map(|&tag| info.tag(tag)).collect();
    let table_at = info.header.as_ref().map_or(0, |header| header.segments_at);
    let loads = info.loads().filter(|load| {
        let is_mapped = |&address: &u64| load.offset_of(address, 1).is_some();
        let has_headers = load.offset <= table_at && table_at < load.file_end();
        !has_headers && load.offset > 0 && !tables.iter().any(is_mapped)
    });
    let hole = info
        .segment(elf::PT_DYNAMIC)
        .map_or((0, 0), |it| (it.address, it.address.saturating_add(it.memory_size)));
    loads
        .flat_map(|load| {
            let part = Part::new("I17", load.address, load.file_size);
            let (hole_start, hole_end) =
                (hole.0.clamp(part.start, part.end), hole.1.clamp(part.start, part.end));
            [Part { end: hole_start, ..part }, Part { start: hole_end, ..part }]
        })
        .collect()
}
