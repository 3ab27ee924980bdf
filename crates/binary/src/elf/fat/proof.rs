use std::ops::Range;

use super::emptied::{CHUNK, not_zero};
use super::{ADDRESS, FatElf, FatError, NUMBER, OF_MARKER, RECORD, VERSION};
use crate::ReadAt;
use crate::elf::error::ElfError;
use crate::elf::header::read_bytes;
use crate::elf::violation::Violation;

/// Verifies byte by byte that `new` is `old` except for markers, zeros and records.
///
/// # Errors
/// The first difference as [`ElfError::Verification`], or a read error.
pub fn prove(old: &impl ReadAt, new: &impl ReadAt, marker: &[u8]) -> Result<(), FatError> {
    let fat = FatElf::read(old)?;
    let broken = |detail: String| {
        let violations = vec![Violation { invariant: "I17", detail }];
        Err(FatError::Elf(ElfError::Verification(violations)))
    };
    let length =
        new.len().map_err(|source| ElfError::Read { what: "the file's length", source })?;
    if length != fat.length {
        return broken(format!("it has {length} bytes, had {}", fat.length));
    }
    for (number, record) in fat.records.iter().enumerate() {
        let what = "the records of its offload bundles";
        let read = |file: &dyn ReadAt| read_bytes(file, length, record.at, RECORD as u64, what);
        let mut expected = read(old)?;
        expected[..4].copy_from_slice(&OF_MARKER.to_le_bytes());
        expected[4..8].copy_from_slice(&VERSION.to_le_bytes());
        expected[NUMBER..].copy_from_slice(&(number as u64).to_le_bytes());
        if read(new)? != expected {
            return broken(format!("the record at byte {:#x} changed", record.at));
        }
        let there = read_bytes(new, length, record.bundle, marker.len() as u64, "a marker")?;
        if there != marker {
            let place = record.at + ADDRESS;
            return broken(format!("the record's address at byte {place:#x} leads to no marker"));
        }
    }
    let mut markers: Vec<u64> = fat.records.iter().map(|record| record.bundle).collect();
    markers.sort_unstable();
    let ends = [fat.section.start].into_iter();
    let ends = ends.chain(markers.iter().map(|at| at + marker.len() as u64));
    for (from, to) in ends.zip(markers.iter().copied().chain([fat.section.end])) {
        if let Some(at) = not_zero(new, from..to)? {
            return broken(format!("the byte at {at:#x} is not zero"));
        }
    }
    let mut changed: Vec<Range<u64>> =
        fat.records.iter().map(|record| record.at..record.at + RECORD as u64).collect();
    changed.push(fat.section.clone());
    changed.sort_by_key(|range| range.start);
    let ends = [0].into_iter().chain(changed.iter().map(|range| range.end));
    let starts = changed.iter().map(|range| range.start).chain([length]);
    for (from, to) in ends.zip(starts) {
        if let Some(at) = first_difference(old, new, from..to)? {
            return broken(format!("the byte at {at:#x} changed"));
        }
    }
    Ok(())
}

fn first_difference(
    old: &impl ReadAt,
    new: &impl ReadAt,
    place: Range<u64>,
) -> Result<Option<u64>, ElfError> {
    let (mut one, mut two, mut at) = (vec![0; CHUNK], vec![0; CHUNK], place.start);
    while at < place.end {
        let size = usize::try_from(place.end - at).unwrap_or(CHUNK).min(CHUNK);
        let read = old
            .read_exact_at(at, &mut one[..size])
            .and_then(|()| new.read_exact_at(at, &mut two[..size]));
        read.map_err(|source| ElfError::Read { what: "the bytes to compare", source })?;
        let pairs = one[..size].iter().zip(&two[..size]);
        if let Some(inside) = pairs.into_iter().position(|(a, b)| a != b) {
            return Ok(Some(at + inside as u64));
        }
        at += size as u64;
    }
    Ok(None)
}
