use std::fs::File;

use super::field::{u16_at, u32_at, u64_at};
use super::{DirectoryError, bytes, read};
use crate::package::{Fault, FaultKind};

pub(super) struct End {
    pub start: u64,
    pub size: u64,
    pub entries: u64,
    /// Bytes before the archive, which shift all offsets in it.
    pub prefix: u64,
    pub faults: Vec<Fault>,
}

const RECORD: u64 = 22;
const LOCATOR: u64 = 20;
const DISKS: &str = "it is part of a multi-disk archive";
const SIGNATURES: [&[u8; 4]; 5] =
    [b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"];
/// Minimum size of a zip64 record.
const WIDE: u64 = 56;
/// Signature and size of a zip64 record, which the size does not count.
const HEAD: u64 = 12;

impl End {
    pub fn find(file: &File) -> Result<Self, DirectoryError> {
        let len = file.metadata()?.len();
        let tail = len.min(RECORD + u64::from(u16::MAX));
        let mut bytes = vec![0; usize::try_from(tail).unwrap_or_default()];
        read(file, len - tail, &mut bytes)?;
        let whole = |at: &usize| {
            bytes[*at..].starts_with(b"PK\x05\x06")
                && at + 22 + usize::from(u16_at(&bytes, at + 20)) <= bytes.len()
        };
        let start = (0..bytes.len().saturating_sub(21))
            .rev()
            .find(whole)
            .ok_or(DirectoryError::Broken("it is not a zip archive"))?;
        let record = &bytes[start..];
        let place = len - tail + start as u64;
        let comment = u64::from(u16_at(record, 20));
        let mut faults = behind(len - place - RECORD - comment, comment);
        if has_signature(&record[22..]) {
            let message = "its comment contains parts of an archive, which installers reject";
            faults.push(Fault::new(FaultKind::Feature, message));
        }
        if u16_at(record, 4) != 0
            || u16_at(record, 6) != 0
            || u16_at(record, 8) != u16_at(record, 10)
        {
            return Err(DirectoryError::Broken(DISKS));
        }
        let small = Self {
            start: u32_at(record, 16).into(),
            size: u32_at(record, 12).into(),
            entries: u16_at(record, 10).into(),
            prefix: 0,
            faults: Vec::new(),
        };
        let (mut end, limit) = match zip64_end(file, place)? {
            Some((end, _)) if !small.is_narrowed(&end) => {
                let message = "its two end records have different values";
                return Err(DirectoryError::Broken(message));
            }
            Some((end, place)) => (end, place),
            None => (small, place),
        };
        faults.append(&mut end.faults);
        end.move_before(limit)?;
        faults.extend(end.prefix_fault());
        end.faults = faults;
        Ok(end)
    }

    /// Returns whether each value equals that of the zip64 record, or has all bits set, which
    /// refers to it.
    fn is_narrowed(&self, wide: &Self) -> bool {
        let is_same = |small: u64, wide: u64, most: u64| small == wide || small == most;
        is_same(self.entries, wide.entries, u16::MAX.into())
            && is_same(self.size, wide.size, u32::MAX.into())
            && is_same(self.start, wide.start, u32::MAX.into())
    }

    /// Moves the directory to the records: a difference means bytes before the archive.
    fn move_before(&mut self, limit: u64) -> Result<(), DirectoryError> {
        let start = limit
            .checked_sub(self.size)
            .ok_or(DirectoryError::Broken("its central directory is longer than the file"))?;
        self.prefix = start
            .checked_sub(self.start)
            .ok_or(DirectoryError::Broken("its central directory is not at the recorded place"))?;
        self.start = start;
        Ok(())
    }

    fn prefix_fault(&self) -> Option<Fault> {
        let fault = Fault::new(FaultKind::Stray, "bytes before the archive");
        (self.prefix > 0).then(|| bytes(fault, self.prefix))
    }
}

/// Returns whether bytes contain the beginning of a record of an archive.
pub(super) fn has_signature(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|four| SIGNATURES.iter().any(|one| four == *one))
}

fn behind(bytes: u64, comment: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    if bytes > 0 {
        faults.push(super::bytes(Fault::new(FaultKind::Stray, "bytes after the archive"), bytes));
    }
    if comment > 0 {
        faults.push(super::bytes(
            Fault::new(FaultKind::Comment, "the archive has a comment"),
            comment,
        ));
    }
    faults
}

fn zip64_end(file: &File, record: u64) -> Result<Option<(End, u64)>, DirectoryError> {
    let Some(at) = record.checked_sub(LOCATOR) else { return Ok(None) };
    let mut locator = [0; 20];
    read(file, at, &mut locator)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let [disk, disks] = [4, 16].map(|at| u32_at(&locator, at));
    if disk != 0 || disks != 1 {
        return Err(DirectoryError::Broken(DISKS));
    }
    // With a prefix, the offset in the locator is wrong; then a record of minimum size is assumed.
    let places = [u64_at(&locator, 8), at.saturating_sub(WIDE)];
    let mut bytes = [0; 56];
    for place in places.into_iter().filter(|place| *place <= at.saturating_sub(WIDE)) {
        read(file, place, &mut bytes)?;
        if bytes.starts_with(b"PK\x06\x06") {
            let more = at - place - WIDE;
            let mut faults = if more == 0 { Vec::new() } else { vec![extensible(more)] };
            if place != places[0] {
                let message = "its zip64 record is not where the locator tells";
                faults.push(Fault::new(FaultKind::Feature, message));
            }
            let [told, here, entries, size, start] =
                [4, 24, 32, 40, 48].map(|at| u64_at(&bytes, at));
            if told.checked_add(HEAD) != Some(at - place) {
                let message = "its zip64 record has another size than it tells";
                faults.push(Fault::new(FaultKind::Feature, message));
            }
            if here != entries || u32_at(&bytes, 16) != 0 || u32_at(&bytes, 20) != 0 {
                return Err(DirectoryError::Broken(DISKS));
            }
            return Ok(Some((End { start, size, entries, prefix: 0, faults }, place)));
        }
    }
    Err(DirectoryError::Broken("its zip64 record is not at the recorded place"))
}

fn extensible(bytes: u64) -> Fault {
    let message = "its zip64 record has extra data, which installers reject";
    super::bytes(Fault::new(FaultKind::Feature, message), bytes)
}
