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

const SYMBOL_PLACE: Range<u64> = 6..16;

impl FatElf {
    /// Verifies that `new` is `old`, the file of these facts, without its bundles. Differences are an
    /// [`ElfError::Verification`].
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
            changed: changed(self),
        };
        verify_removal(old, new, &removed).map_err(ElfError::Verification)?;
        let proof = Proof { fat: self, now: &now, old, new };
        let address = proof.marker(marker)?;
        proof.bundles(address)?;
        proof.records(address)?;
        proof.symbols(address)
    }
}

fn changed(fat: &FatElf) -> Vec<Range<u64>> {
    let records = fat.records.list.iter().map(|it| it.address..it.address + RECORD_SIZE as u64);
    let addends = fat.records.list.iter().filter_map(|it| it.addend).map(|at| at..at + 8);
    let symbols = fat.symbols.iter().map(|at| at + SYMBOL_PLACE.start..at + SYMBOL_PLACE.end);
    records.chain(addends).chain(symbols).collect()
}

fn broken(detail: String) -> FatError {
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

    fn marker(&self, marker: &[u8]) -> Result<u64, FatError> {
        let index = section(self.now, self.new, MARKER)?;
        let section = &self.now.sections[index];
        let place = super::addresses(self.fat.section());
        let inside = place.start <= section.address
            && section.address.saturating_add(section.size) <= place.end;
        if index + 1 != self.now.sections.len() || !inside {
            return Err(broken(format!("section {index} is the marker's")));
        }
        let plain = (section.flags, section.align) == (elf::SHF_ALLOC.0, 1)
            && (section.link, section.info, section.entry_size) == (0, 0, 0);
        if !plain || self.read(section.address, section.size)? != marker {
            return Err(broken(format!("section {index} is not the marker")));
        }
        let (_, old) = names(&self.fat.info, self.old)?;
        if !names(self.now, self.new)?.1.starts_with(&old) {
            return Err(broken("a section has another name".to_owned()));
        }
        Ok(section.address)
    }

    fn bundles(&self, marker: u64) -> Result<(), FatError> {
        let (old, now) = (self.fat.section(), &self.now.sections[self.fat.section]);
        let (place, hole) = (super::addresses(old), super::addresses(now));
        let within = |load: &&Segment| load.address <= hole.start && hole.end <= load.memory_end();
        let load = self.now.loads().find(within);
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
            return Err(broken(format!("the bundles' section is at {:#x}", hole.start)));
        }
        let mut used = self.now.claims(self.new);
        used.sort_by_key(|claim| claim.start);
        for load in self.now.loads() {
            let offset = |address: u64| load.offset + (address - load.address);
            let end = load.address + load.file_size;
            let (start, end) = (place.start.max(load.address), place.end.min(end));
            if start >= end {
                continue;
            }
            if !hole.is_empty() && hole.start < end && start < hole.end {
                return Err(broken(format!("the hole at {:#x} has bytes", hole.start)));
            }
            let (mut position, end) = (offset(start), offset(end));
            for claim in &used {
                self.zeros(position..claim.start.clamp(position, end.max(position)))?;
                position = position.max(claim.end);
            }
            self.zeros(position..end)?;
        }
        Ok(())
    }

    fn zeros(&self, place: Range<u64>) -> Result<(), FatError> {
        match not_zero(self.new, place)? {
            Some(at) => Err(broken(format!("the byte at {at:#x} is not zero"))),
            None => Ok(()),
        }
    }

    fn records(&self, marker: u64) -> Result<(), FatError> {
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
                return Err(broken(format!("the record at {:#x} is wrong", record.address)));
            }
            let word = self.now.word_at(self.new, record.address + ADDRESS_OFFSET);
            let filled = references.target_at(record.address + ADDRESS_OFFSET)?;
            let same_kind = filled.is_none_or(|(_, addend)| addend == record.addend);
            let target = filled.map(|(target, _)| target).or(word);
            if target != Some(marker) || !same_kind {
                let address = record.address;
                return Err(broken(format!("the record at {address:#x} leads to no marker")));
            }
        }
        Ok(())
    }

    fn symbols(&self, marker: u64) -> Result<(), FatError> {
        let tables = [&self.fat.info, self.now].map(|info| info.tag(elf::DT_SYMTAB));
        let [Some(before), Some(after)] = tables else { return Ok(()) };
        let last = (self.now.sections.len() - 1) as u64;
        let expected = [&last.to_le_bytes()[..2], &marker.to_le_bytes()].concat();
        for symbol in &self.fat.symbols {
            let address = after + (symbol - before) + SYMBOL_PLACE.start;
            if self.read(address, SYMBOL_PLACE.end - SYMBOL_PLACE.start)? != expected {
                return Err(broken(format!("the symbol at {symbol:#x} is not of the marker")));
            }
        }
        Ok(())
    }
}
