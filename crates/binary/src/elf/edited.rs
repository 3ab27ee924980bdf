use std::io;

use super::edit_plan::EditPlan;
use crate::ReadAt;
use crate::overlay::lay;

/// Edited file, readable at any position from any thread.
#[derive(Debug, Clone, Copy)]
pub struct Edited<'p, R> {
    file: R,
    plan: &'p EditPlan,
}

impl<'p, R: ReadAt> Edited<'p, R> {
    /// Applies `plan`, which must have been made for this `file`.
    pub fn new(file: R, plan: &'p EditPlan) -> Self {
        Self { file, plan }
    }

    /// Returns a sequential reader.
    pub fn reader(self) -> Reader<Self> {
        Reader::new(self)
    }
}

impl<R: ReadAt> ReadAt for Edited<'_, R> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.plan.new_len())
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|&end| end <= self.plan.new_len());
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        // Bytes up to here exist in the old file; the rest are zeros.
        let old = usize::try_from(self.plan.old_len().clamp(offset, end) - offset)
            .map_err(io::Error::other)?;
        if old > 0 {
            self.file.read_exact_at(offset, &mut buf[..old])?;
        }
        buf[old..].fill(0);
        lay(self.plan.overlay(), offset, buf)
    }
}

/// Sequential reader.
#[derive(Debug, Clone)]
pub struct Reader<R> {
    file: R,
    at: u64,
}

impl<R: ReadAt> Reader<R> {
    /// Starts at the first byte.
    pub fn new(file: R) -> Self {
        Self { file, at: 0 }
    }
}

impl<R: ReadAt> io::Read for Reader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let rest = self.file.len()?.saturating_sub(self.at);
        let size = usize::try_from(rest).unwrap_or(usize::MAX).min(buf.len());
        self.file.read_exact_at(self.at, &mut buf[..size])?;
        self.at += size as u64;
        Ok(size)
    }
}
