use std::ops::Range;

use super::references::References;
use super::tail::hole_alignment;
use super::{FatElf, names, section};
use crate::ReadAt;
use crate::elf::error::ElfError;
use crate::elf::header::{Section, Segment, read_bytes};
use crate::elf::info::{ElfInfo, inspect};
use crate::elf::verify::{RemovedSection, verify_removal};
use crate::elf::violation::Violation;
use crate::fat::{ADDRESS_OFFSET, FatError, RECORD_SIZE, not_zero};
use base::names::offload::MARKER;
use object::elf;

/// `st_shndx` and `st_value` in an `Elf64_Sym`.
const SYMBOL_TARGET: Range<u64> = 6..16;

impl FatElf {
    /// Verifies that `new` is `old`, which `self` was read from, without its bundles and with the
    /// section `marker`. Differences are an [`ElfError::Verification`].
    pub fn prove(
        &self,
        old: &impl ReadAt,
        new: &impl ReadAt,
        marker: &[u8],
    ) -> Result<(), FatError> {
        let now = inspect(new)?;
        let removed = RemovedSection {
            section: self.section,
            addresses: super::addresses(self.section()),
            changed: changed_addresses(self),
        };
        verify_removal(old, new, &removed).map_err(ElfError::Verification)?;
        let proof = Proof { fat: self, now: &now, old, new };
        let address = proof.check_marker(marker)?;
        proof.check_bundles(address)?;
        proof.check_records(address)?;
        proof.check_symbols(address)
    }
}

fn changed_addresses(fat: &FatElf) -> Vec<Range<u64>> {
    let records = fat.records.list.iter().map(|it| it.address..it.address + RECORD_SIZE as u64);
    let addends = fat.records.list.iter().filter_map(|it| it.addend).map(|at| at..at + 8);
    let symbols = fat.symbols.iter().map(|at| at + SYMBOL_TARGET.start..at + SYMBOL_TARGET.end);
    records.chain(addends).chain(symbols).collect()
}

fn violation(detail: String) -> FatError {
    let violations = vec![Violation { invariant: "I17", detail }];
    FatError::Elf(ElfError::Verification(violations))
}

struct Proof<'p, O, N> {
    fat: &'p FatElf,
    now: &'p ElfInfo,
    old: &'p O,
    new: &'p N,
}

impl<O: ReadAt, N: ReadAt> Proof<'_, O, N> {
    fn read(&self, address: u64, length: u64) -> Result<Vec<u8>, FatError> {
        self.now.read_at(self.new, address, length).ok_or(FatError::Unreadable)
    }

    fn check_marker(&self, marker: &[u8]) -> Result<u64, FatError> {
        let index = section(self.now, self.new, MARKER)?;
        let section = &self.now.sections[index];
        let place = super::addresses(self.fat.section());
        let inside = place.start <= section.address
            && section.address.saturating_add(section.size) <= place.end;
        if index + 1 != self.now.sections.len() || !inside {
            return Err(violation(format!(
                "section {index} has the marker's name, but is not the last section or outside of the old bundles"
            )));
        }
        let plain = (section.flags, section.align) == (elf::SHF_ALLOC.0, 1)
            && (section.link, section.info, section.entry_size) == (0, 0, 0);
        if !plain || self.read(section.address, section.size)? != marker {
            return Err(violation(format!("section {index} is not the marker")));
        }
        let (_, old) = names(&self.fat.info, self.old)?;
        if !names(self.now, self.new)?.1.starts_with(&old) {
            return Err(violation("the names of sections differ from the old ones".to_owned()));
        }
        Ok(section.address)
    }

    fn check_bundles(&self, marker: u64) -> Result<(), FatError> {
        let (old, now) = (self.fat.section(), &self.now.sections[self.fat.section]);
        let (place, hole) = (super::addresses(old), super::addresses(now));
        let within = |load: &&Segment| load.address <= hole.start && hole.end <= load.memory_end();
        let load = self.now.loads().find(within);
        // The emptied section is exactly the part of its LOAD that has no bytes in the file.
        let right = marker < hole.start
            && load.is_some_and(|load| {
                let expected = Section {
                    kind: elf::SHT_NOBITS,
                    address: hole.start,
                    offset: load.offset.wrapping_add(hole.start - load.address),
                    size: hole.end - hole.start,
                    align: hole_alignment(old.align, hole.start),
                    ..old.clone()
                };
                let ends = [load.address + load.file_size, load.memory_end().min(place.end)];
                *now == expected && (hole.is_empty() || [hole.start, hole.end] == ends)
            });
        if !right || self.now.names_any(hole.clone()) {
            return Err(violation(format!(
                "the bundles' section at {:#x} has wrong fields or bounds, or is referred to",
                hole.start
            )));
        }
        let used = self.now.claims(self.new);
        for load in self.now.loads() {
            let offset = |address: u64| load.offset + (address - load.address);
            let end = load.address + load.file_size;
            let (start, end) = (place.start.max(load.address), place.end.min(end));
            if start >= end {
                continue;
            }
            if !hole.is_empty() && hole.start < end && start < hole.end {
                return Err(violation(format!(
                    "the emptied section at {:#x} has bytes in the file",
                    hole.start
                )));
            }
            let (mut position, end) = (offset(start), offset(end));
            for claim in &used {
                self.check_zeros(position..claim.start.clamp(position, end.max(position)))?;
                position = position.max(claim.end);
            }
            self.check_zeros(position..end)?;
        }
        Ok(())
    }

    fn check_zeros(&self, place: Range<u64>) -> Result<(), FatError> {
        match not_zero(self.new, place)? {
            Some(at) => Err(violation(format!("the byte at {at:#x} is not zero"))),
            None => Ok(()),
        }
    }

    fn check_records(&self, marker: u64) -> Result<(), FatError> {
        let place = super::addresses(self.fat.section());
        let table = section(self.now, self.new, super::RECORDS)?;
        let table = super::addresses(&self.now.sections[table]);
        let references = References::read(self.now, self.new, &(marker..place.end), &table)?;
        references.symbols_of(&[marker])?;
        for record in &self.fat.records.list {
            let part = "the records of its offload bundles";
            let offset = self.fat.info.offset_of(record.address, RECORD_SIZE as u64);
            let offset = offset.ok_or(FatError::Unreadable)?;
            let old =
                read_bytes(self.old, self.fat.info.file_len, offset, RECORD_SIZE as u64, part)?;
            let new = self.read(record.address, RECORD_SIZE as u64)?;
            if new != self.fat.records.redirected(record, &old, 0, marker) {
                return Err(violation(format!("the record at {:#x} is wrong", record.address)));
            }
            let word = self.now.word_at(self.new, record.address + ADDRESS_OFFSET);
            let filled = references.target_at(record.address + ADDRESS_OFFSET)?;
            let same_kind = filled.is_none_or(|(_, addend)| addend == record.addend);
            let target = filled.map(|(target, _)| target).or(word);
            if target != Some(marker) || !same_kind {
                let address = record.address;
                return Err(violation(format!(
                    "the record at {address:#x} does not point to the marker"
                )));
            }
        }
        Ok(())
    }

    fn check_symbols(&self, marker: u64) -> Result<(), FatError> {
        let tables = [&self.fat.info, self.now].map(|info| info.tag(elf::DT_SYMTAB));
        // `verify_removal` has compared the entries: both files have a table, or none.
        let [Some(before), Some(after)] = tables else { return Ok(()) };
        let last = (self.now.sections.len() - 1) as u64;
        let expected = [&last.to_le_bytes()[..2], &marker.to_le_bytes()].concat();
        for symbol in &self.fat.symbols {
            let address = after + (symbol - before) + SYMBOL_TARGET.start;
            if self.read(address, SYMBOL_TARGET.end - SYMBOL_TARGET.start)? != expected {
                return Err(violation(format!(
                    "the symbol at {symbol:#x} does not point to the marker"
                )));
            }
        }
        Ok(())
    }
}
