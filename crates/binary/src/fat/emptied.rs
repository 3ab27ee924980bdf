use std::io;

use crate::ReadAt;
use crate::elf::Reader;
use crate::overlay::{Overlay, lay};

/// Plan of a file without its bundles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptying {
    parts: Vec<Part>,
    overlays: Vec<Overlay>,
    old_len: u64,
    new_len: u64,
}

/// Bytes up to the next part: the old file's, or zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Offset in the new file.
    pub new: u64,
    /// Offset in the old file.
    pub old: Option<u64>,
}

impl Emptying {
    /// Parts and overlays are by offset in the new file.
    pub(crate) fn new(
        parts: Vec<Part>,
        overlays: Vec<Overlay>,
        (old_len, new_len): (u64, u64),
    ) -> Self {
        Self { parts, overlays, old_len, new_len }
    }

    /// Returns the length of the new file.
    pub fn new_len(&self) -> u64 {
        self.new_len
    }

    /// Returns the number of bytes that the plan has in memory.
    pub fn memory_size(&self) -> u64 {
        self.overlays.iter().map(|overlay| overlay.bytes.len() as u64).sum()
    }

    /// Returns the number of bytes by which the file gets shorter.
    pub fn freed(&self) -> u64 {
        self.old_len.saturating_sub(self.new_len)
    }

    /// Overwrites bytes of the first overlay.
    pub(crate) fn amend(&mut self, at: usize, bytes: &[u8]) {
        if let Some(first) = self.overlays.first_mut() {
            first.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
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
        Ok(self.plan.new_len)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let Emptying { parts, overlays, new_len, .. } = self.plan;
        let end = offset.checked_add(buf.len() as u64).filter(|end| end <= new_len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let first = parts.partition_point(|part| part.new <= offset).saturating_sub(1);
        let ends = parts.iter().skip(first + 1).map(|next| next.new).chain([*new_len]);
        for (part, part_end) in parts[first..].iter().zip(ends) {
            let (from, until) = (part.new.max(offset), part_end.min(end));
            if from >= until {
                continue;
            }
            let index = |at: u64| usize::try_from(at - offset).map_err(io::Error::other);
            let place = &mut buf[index(from)?..index(until)?];
            match part.old {
                Some(old) => self.file.read_exact_at(old + (from - part.new), place)?,
                None => place.fill(0),
            }
        }
        lay(overlays, offset, buf)
    }
}
