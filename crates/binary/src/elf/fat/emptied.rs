//! View of a file without its bundles.

use std::io;
use std::ops::Range;

use super::{FatElf, FatError, NUMBER, OF_MARKER};
use crate::ReadAt;
use crate::elf::edit_plan::Overlay;
use crate::elf::edited::Reader;
use crate::elf::error::ElfError;

pub(super) const CHUNK: usize = 1 << 20;

/// Plan to remove bundles without changing the file's length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptying {
    pub(super) zeros: Vec<Range<u64>>,
    pub(super) overlays: Vec<Overlay>,
}

impl FatElf {
    /// Plans to replace each bundle by `marker` and zeros. `lengths` are by index.
    pub fn emptying(
        &self,
        file: &impl ReadAt,
        lengths: &[u64],
        marker: &[u8],
    ) -> Result<Emptying, FatError> {
        let mut zeros: Vec<Range<u64>> = Vec::new();
        for (place, length) in self.bundles().into_iter().zip(lengths) {
            let end = place.start.saturating_add(*length).min(place.end);
            if end - place.start < marker.len() as u64 {
                return Err(FatError::Short { at: place.start });
            }
            zeros.push(place.start..end);
        }
        zeros.sort_by_key(|zeros| zeros.start);
        let ends = [self.section.start].into_iter().chain(zeros.iter().map(|zeros| zeros.end));
        let starts = zeros.iter().map(|zeros| zeros.start).chain([self.section.end]);
        for between in ends.zip(starts) {
            if let Some(at) = not_zero(file, between.0..between.1)? {
                return Err(FatError::Stray { at });
            }
        }
        let mut overlays = Vec::new();
        for (number, record) in self.records.iter().enumerate() {
            let bytes = OF_MARKER.to_le_bytes().to_vec();
            overlays.push(Overlay { offset: record.at, bytes });
            let bytes = (number as u64).to_le_bytes().to_vec();
            overlays.push(Overlay { offset: record.at + NUMBER as u64, bytes });
            overlays.push(Overlay { offset: record.bundle, bytes: marker.to_vec() });
        }
        Ok(Emptying { zeros, overlays })
    }
}

impl Emptying {
    /// Returns the number of cleared bytes.
    pub fn zeros(&self) -> u64 {
        self.zeros.iter().map(|zeros| zeros.end - zeros.start).sum()
    }
}

pub(super) fn not_zero(file: &impl ReadAt, place: Range<u64>) -> Result<Option<u64>, ElfError> {
    let (mut bytes, mut at) = (vec![0; CHUNK], place.start);
    while at < place.end {
        let size = usize::try_from(place.end - at).unwrap_or(CHUNK).min(CHUNK);
        let read = file.read_exact_at(at, &mut bytes[..size]);
        read.map_err(|source| ElfError::Read { what: "its offload bundles", source })?;
        if let Some(inside) = bytes[..size].iter().position(|byte| *byte != 0) {
            return Ok(Some(at + inside as u64));
        }
        at += size as u64;
    }
    Ok(None)
}

/// View of a file with a plan applied.
#[derive(Debug, Clone, Copy)]
pub struct Emptied<'p, R> {
    file: R,
    plan: &'p Emptying,
}

impl<'p, R: ReadAt> Emptied<'p, R> {
    /// Applies `plan`, which must have been made for this `file`.
    pub fn new(file: R, plan: &'p Emptying) -> Self {
        Self { file, plan }
    }

    /// Returns a sequential reader.
    pub fn reader(self) -> Reader<Self> {
        Reader::new(self)
    }
}

impl<R: ReadAt> ReadAt for Emptied<'_, R> {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(offset, buf)?;
        let end = offset + buf.len() as u64;
        let part = |range: Range<u64>| -> Option<Range<usize>> {
            let (from, to) = (range.start.max(offset), range.end.min(end));
            let index = |at: u64| usize::try_from(at - offset).ok();
            if from < to { Some(index(from)?..index(to)?) } else { None }
        };
        for zeros in &self.plan.zeros {
            if let Some(part) = part(zeros.clone()) {
                buf[part].fill(0);
            }
        }
        for overlay in &self.plan.overlays {
            let Some(part) = part(overlay.offset..overlay.end()) else { continue };
            let skipped = offset.saturating_sub(overlay.offset);
            let skipped = usize::try_from(skipped).map_err(io::Error::other)?;
            let length = part.len();
            buf[part].copy_from_slice(&overlay.bytes[skipped..skipped + length]);
        }
        Ok(())
    }
}
