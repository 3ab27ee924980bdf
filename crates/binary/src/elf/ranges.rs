//! Use of the bytes of a file.

use object::Endianness;
use object::elf::{self, DynamicTag, GnuHashHeader, HashHeader};
use object::pod;

use super::header::{SECTION_SIZE, SEGMENT_SIZE, Section, read_bytes};
use super::info::ElfInfo;
use crate::ReadAt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub tag: DynamicTag,
    pub name: &'static str,
    pub address: u64,
    pub size: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub start: u64,
    pub end: u64,
    /// Whether only headers refer to the bytes.
    pub movable: bool,
}

const SIZED: [(DynamicTag, DynamicTag, &str); 8] = [
    (elf::DT_STRTAB, elf::DT_STRSZ, "DT_STRTAB"),
    (elf::DT_RELA, elf::DT_RELASZ, "DT_RELA"),
    (elf::DT_REL, elf::DT_RELSZ, "DT_REL"),
    (elf::DT_RELR, elf::DT_RELRSZ, "DT_RELR"),
    (elf::DT_JMPREL, elf::DT_PLTRELSZ, "DT_JMPREL"),
    (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ, "DT_INIT_ARRAY"),
    (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ, "DT_FINI_ARRAY"),
    (elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ, "DT_PREINIT_ARRAY"),
];

impl ElfInfo {
    pub(super) fn ranges(&self, file: &(impl ReadAt + ?Sized)) -> Vec<Range> {
        let symbols = self.symbol_count(file);
        let mut ranges: Vec<Range> = SIZED
            .iter()
            .filter_map(|&(tag, size, name)| self.range(tag, name, self.tag(size)))
            .collect();
        ranges.extend(self.range(elf::DT_HASH, "DT_HASH", self.hash_size(file)));
        ranges.extend(self.range(
            elf::DT_GNU_HASH,
            "DT_GNU_HASH",
            self.gnu_hash(file).map(|(size, _)| size),
        ));
        ranges.extend(self.range(
            elf::DT_SYMTAB,
            "DT_SYMTAB",
            symbols.map(|count| count.saturating_mul(self.format().symbol_size())),
        ));
        ranges.extend(self.range(
            elf::DT_VERSYM,
            "DT_VERSYM",
            symbols.map(|count| count.saturating_mul(2)),
        ));
        ranges.extend(self.range(elf::DT_VERNEED, "DT_VERNEED", Some(self.needs.size)));
        ranges.extend(self.range(elf::DT_VERDEF, "DT_VERDEF", Some(self.definitions.size)));
        ranges.extend(self.range(elf::DT_INIT, "DT_INIT", None));
        ranges.extend(self.range(elf::DT_FINI, "DT_FINI", None));
        ranges
    }

    fn range(&self, tag: DynamicTag, name: &'static str, size: Option<u64>) -> Option<Range> {
        let address =
            self.tag(tag).filter(|&address| address != 0 || size.is_some_and(|size| size > 0))?;
        Some(Range { tag, name, address, size })
    }

    fn section_at(&self, address: u64) -> Option<&Section> {
        self.sections.iter().find(|section| {
            section.is_allocated() && section.has_bytes() && section.address == address
        })
    }

    /// No dynamic entry contains the number: it is derived from hash tables and sections.
    pub(super) fn symbol_count(&self, file: &(impl ReadAt + ?Sized)) -> Option<u64> {
        let section = self
            .section_at(self.tag(elf::DT_SYMTAB)?)
            .filter(|section| section.kind == elf::SHT_DYNSYM);
        let by_section = section.map(|section| section.size / self.format().symbol_size());
        let by_hash = self.hash_header(file).map(|(_, chains)| chains);
        by_section.max(by_hash).max(self.gnu_hash(file).and_then(|(_, count)| count))
    }

    fn hash_header(&self, file: &(impl ReadAt + ?Sized)) -> Option<(u64, u64)> {
        let (address, endian) = (self.tag(elf::DT_HASH)?, self.format().endian);
        if self.has_wide_hash() {
            let bytes = self.read_at(file, address, 16)?;
            let word = |bytes: &[u8]| Some(u64::from_be_bytes(bytes.try_into().ok()?));
            return Some((word(&bytes[..8])?, word(&bytes[8..])?));
        }
        let bytes = self.read_at(file, address, size_of::<HashHeader<Endianness>>() as u64)?;
        let (header, _) = pod::from_bytes::<HashHeader<Endianness>>(&bytes).ok()?;
        Some((header.bucket_count.get(endian).into(), header.chain_count.get(endian).into()))
    }

    fn hash_size(&self, file: &(impl ReadAt + ?Sized)) -> Option<u64> {
        let (buckets, chains) = self.hash_header(file)?;
        Some(4 * (2 + buckets + chains))
    }

    pub(super) fn gnu_hash(&self, file: &(impl ReadAt + ?Sized)) -> Option<(u64, Option<u64>)> {
        let address = self.tag(elf::DT_GNU_HASH)?;
        let (format, endian) = (self.format(), self.format().endian);
        let bytes = self.read_at(file, address, size_of::<GnuHashHeader<Endianness>>() as u64)?;
        let (header, _) = pod::from_bytes::<GnuHashHeader<Endianness>>(&bytes).ok()?;
        let (count, base) =
            (u64::from(header.bucket_count.get(endian)), u64::from(header.symbol_base.get(endian)));
        let buckets_at = size_of::<GnuHashHeader<Endianness>>() as u64
            + format.word_size() * u64::from(header.bloom_count.get(endian));
        let chains_at = buckets_at + 4 * count;
        let buckets = self.read_at(file, address.checked_add(buckets_at)?, 4 * count)?;
        let last = buckets
            .chunks_exact(4)
            .filter_map(|b| b.try_into().ok())
            .map(|bytes| format.word(bytes))
            .max()
            .map(u64::from);
        let Some(mut symbol) = last.filter(|&symbol| symbol >= base && symbol != 0) else {
            return Some((chains_at, None));
        };
        // The chain of the last bucket ends the table; its last link is odd.
        loop {
            let place = address.checked_add(chains_at)?.checked_add(4 * (symbol - base))?;
            let links = self.links(file, place)?;
            let words = links.chunks_exact(4).filter_map(|b| b.try_into().ok());
            let end = words.map(|bytes| format.word(bytes)).position(|link| link & 1 == 1);
            symbol += end.map_or(links.len() as u64 / 4, |end| end as u64 + 1);
            if end.is_some() {
                return Some((chains_at + 4 * (symbol - base), Some(symbol)));
            }
        }
    }

    fn links(&self, file: &(impl ReadAt + ?Sized), address: u64) -> Option<Vec<u8>> {
        let load = self.loads().find(|load| load.offset_of(address, 4).is_some())?;
        let rest = load.address + load.file_size - address;
        self.read_at(file, address, rest.min(4096) / 4 * 4)
    }

    pub(super) fn read_at(
        &self,
        file: &(impl ReadAt + ?Sized),
        address: u64,
        len: u64,
    ) -> Option<Vec<u8>> {
        read_bytes(file, self.file_len, self.offset_of(address, len)?, len, "a dynamic table").ok()
    }

    pub(super) fn section_table(&self) -> std::ops::Range<u64> {
        self.header.as_ref().map_or(0..0, |header| {
            let size = header.section_count.saturating_mul(SECTION_SIZE);
            header.sections_at..header.sections_at.saturating_add(size)
        })
    }

    /// Returns the used ranges of the file, sorted.
    pub(super) fn claims(&self, file: &(impl ReadAt + ?Sized)) -> Vec<Claim> {
        let mut claims = vec![Claim { start: 0, end: 64, movable: false }];
        if let Some(header) = &self.header {
            let table = |at: u64, size: u64| Claim {
                start: at,
                end: at.saturating_add(size),
                movable: false,
            };
            claims
                .push(table(header.segments_at, header.segment_count.saturating_mul(SEGMENT_SIZE)));
            let sections = self.section_table();
            claims.push(table(sections.start, sections.end - sections.start));
        }
        claims.extend(
            self.sections
                .iter()
                .filter(|section| section.has_bytes())
                .map(|section| self.claim_of_section(section)),
        );
        claims.extend(self.claims_of_segments());
        claims.extend(self.ranges(file).iter().filter_map(|range| self.claim_of_range(range)));
        claims.retain(|claim| claim.start < claim.end);
        claims.sort_by_key(|claim| (claim.start, claim.end));
        claims
    }

    /// Returns the claims of all but these ranges. Removes one claim for each: an equal second one
    /// belongs to another section or table.
    pub(super) fn claims_of_others(
        &self,
        file: &(impl ReadAt + ?Sized),
        ranges: &[std::ops::Range<u64>],
    ) -> Vec<Claim> {
        let mut claims = self.claims(file);
        for range in ranges {
            let is_of_range = |claim: &Claim| (claim.start, claim.end) == (range.start, range.end);
            if let Some(at) = claims.iter().position(is_of_range) {
                claims.remove(at);
            }
        }
        claims
    }

    /// Returns whether another section or table has bytes of a section.
    pub(super) fn is_shared(&self, file: &(impl ReadAt + ?Sized), section: &Section) -> bool {
        let (start, end) = (section.offset, section.file_end());
        let others = self.claims_of_others(file, std::slice::from_ref(&(start..end)));
        others.iter().any(|claim| claim.start < end && start < claim.end)
    }

    fn claim_of_section(&self, section: &Section) -> Claim {
        let table = matches!(
            section.kind,
            elf::SHT_NOTE
                | elf::SHT_HASH
                | elf::SHT_GNU_HASH
                | elf::SHT_DYNSYM
                | elf::SHT_GNU_VERSYM
                | elf::SHT_GNU_VERNEED
                | elf::SHT_GNU_VERDEF
        );
        let strings =
            self.strings.as_ref().is_some_and(|strings| section.address == strings.address);
        let interpreter = self
            .segment(elf::PT_INTERP)
            .is_some_and(|it| it.offset == section.offset && it.file_size == section.size);
        Claim {
            start: section.offset,
            end: section.file_end(),
            movable: section.is_allocated() && (table || strings || interpreter),
        }
    }

    /// Skips `PT_PHDR`, which is the table itself, and `PT_GNU_RELRO`, which protects pages.
    fn claims_of_segments(&self) -> impl Iterator<Item = Claim> {
        let names_no_bytes = [elf::PT_LOAD, elf::PT_PHDR, elf::PT_GNU_RELRO, elf::PT_NULL];
        let segments =
            self.segments.iter().filter(move |segment| !names_no_bytes.contains(&segment.kind));
        segments.map(|segment| {
            let movable =
                matches!(segment.kind, elf::PT_INTERP | elf::PT_NOTE | elf::PT_GNU_PROPERTY);
            Claim { start: segment.offset, end: segment.file_end(), movable }
        })
    }

    fn claim_of_range(&self, range: &Range) -> Option<Claim> {
        let start = self.offset_of(range.address, 1)?;
        let movable = matches!(
            range.tag,
            elf::DT_STRTAB
                | elf::DT_HASH
                | elf::DT_GNU_HASH
                | elf::DT_SYMTAB
                | elf::DT_VERSYM
                | elf::DT_VERNEED
                | elf::DT_VERDEF
        );
        let section = self.section_at(range.address).map(|section| section.size);
        let size = range.size.max(section);
        Some(Claim {
            start,
            end: start.saturating_add(size.unwrap_or(1)),
            movable: movable && size.is_some(),
        })
    }
}
