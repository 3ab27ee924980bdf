use std::io;
use std::ops::Range;

use crate::ReadAt;
use crate::elf::edit_plan::EditPlan;
use crate::elf::edited::{Edited, Reader};
use crate::elf::error::ElfError;

const CHUNK: usize = 1 << 20;

/// Plan of a file without its bundles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptying {
    pub(super) gone: Range<u64>,
    /// Bytes of the old file that become zeros.
    pub(super) cleared: Range<u64>,
    pub(super) plan: EditPlan,
    pub(super) old_len: u64,
}

impl Emptying {
    /// Returns the length of the new file.
    pub fn new_len(&self) -> u64 {
        self.plan.new_len()
    }

    /// Returns the number of bytes that the plan has in memory.
    pub fn held(&self) -> u64 {
        self.plan.overlay().iter().map(|overlay| overlay.bytes.len() as u64).sum()
    }

    /// Returns the number of bytes by which the file gets shorter.
    pub fn freed(&self) -> u64 {
        self.old_len.saturating_sub(self.new_len())
    }
}

pub(super) fn not_zero(file: &impl ReadAt, place: Range<u64>) -> Result<Option<u64>, ElfError> {
    let (mut bytes, mut offset) = (vec![0; CHUNK], place.start);
    while offset < place.end {
        let size = usize::try_from(place.end - offset).unwrap_or(CHUNK).min(CHUNK);
        let read = file.read_exact_at(offset, &mut bytes[..size]);
        read.map_err(|source| ElfError::Read { what: "its offload bundles", source })?;
        if let Some(inside) = bytes[..size].iter().position(|byte| *byte != 0) {
            return Ok(Some(offset + inside as u64));
        }
        offset += size as u64;
    }
    Ok(None)
}

/// View of a file with a plan applied.
#[derive(Debug, Clone, Copy)]
pub struct Emptied<'p, R>(Edited<'p, Shorter<'p, R>>);

impl<'p, R: ReadAt> Emptied<'p, R> {
    /// Applies `plan`, which must have been made for this `file`.
    pub fn new(file: R, plan: &'p Emptying) -> Self {
        let (removed, cleared) = (&plan.gone, &plan.cleared);
        Self(Edited::new(Shorter { file, gone: removed, cleared }, &plan.plan))
    }

    /// Returns a sequential reader.
    pub fn reader(self) -> Reader<Self> {
        Reader::new(self)
    }
}

impl<R: ReadAt> ReadAt for Emptied<'_, R> {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(offset, buf)
    }
}

#[derive(Debug, Clone, Copy)]
struct Shorter<'p, R> {
    file: R,
    gone: &'p Range<u64>,
    cleared: &'p Range<u64>,
}

impl<R: ReadAt> Shorter<'_, R> {
    fn read_old(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = at.saturating_add(buf.len() as u64);
        let index = |offset: u64| usize::try_from(offset.clamp(at, end) - at);
        let index = |offset: u64| index(offset).map_err(io::Error::other);
        let (from, until) = (index(self.cleared.start)?, index(self.cleared.end)?);
        if from >= until {
            return self.file.read_exact_at(at, buf);
        }
        buf[from..until].fill(0);
        if from > 0 {
            self.file.read_exact_at(at, &mut buf[..from])?;
        }
        if until < buf.len() {
            self.file.read_exact_at(at + until as u64, &mut buf[until..])?;
        }
        Ok(())
    }
}

impl<R: ReadAt> ReadAt for Shorter<'_, R> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.len()?.saturating_sub(self.gone.end - self.gone.start))
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let before = self.gone.start.saturating_sub(offset);
        let before = usize::try_from(before).unwrap_or(usize::MAX).min(buf.len());
        let (head, rest) = buf.split_at_mut(before);
        if !head.is_empty() {
            self.read_old(offset, head)?;
        }
        if rest.is_empty() {
            return Ok(());
        }
        let from = offset.max(self.gone.start).checked_add(self.gone.end - self.gone.start);
        self.read_old(from.ok_or(io::ErrorKind::UnexpectedEof)?, rest)
    }
}
