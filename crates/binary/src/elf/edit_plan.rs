use super::edits::Edits;
use super::error::ElfError;
use crate::ReadAt;
use crate::overlay::Overlay;

/// Difference of two files. Appended bytes without an overlay are zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlan {
    pub(super) old_len: u64,
    pub(super) new_len: u64,
    pub(super) overlays: Vec<Overlay>,
    pub(super) steps: Vec<String>,
    pub(super) edits: Edits,
}

impl Overlay {
    /// Joins with an overlapping overlay, whose bytes replace those of this one; returns it if it
    /// does not overlap.
    pub(super) fn join(&mut self, next: Self) -> Option<Self> {
        let inside = next.offset.checked_sub(self.offset).filter(|_| next.offset < self.end());
        let Some(at) = inside.and_then(|at| usize::try_from(at).ok()) else { return Some(next) };
        let (over, behind) = next.bytes.split_at(next.bytes.len().min(self.bytes.len() - at));
        self.bytes[at..at + over.len()].copy_from_slice(over);
        self.bytes.extend_from_slice(behind);
        None
    }

    /// Removes equal bytes at both ends; `None` if no byte differs from the file.
    pub(super) fn without_equal_ends(
        mut self,
        file: &(impl ReadAt + ?Sized),
    ) -> Result<Option<Self>, ElfError> {
        let mut old = vec![0; self.bytes.len()];
        let read = file.read_exact_at(self.offset, &mut old);
        read.map_err(|source| ElfError::Read { what: "the bytes to change", source })?;
        let differs = |(a, b): (&u8, &u8)| a != b;
        let Some(first) = self.bytes.iter().zip(&old).position(differs) else { return Ok(None) };
        let last = self.bytes.iter().zip(&old).rposition(differs).unwrap_or(first);
        self.bytes = self.bytes[first..=last].to_vec();
        self.offset += first as u64;
        Ok(Some(self))
    }
}

impl EditPlan {
    /// Returns whether the edit changes nothing.
    pub fn is_noop(&self) -> bool {
        self.overlays.is_empty() && self.old_len == self.new_len
    }

    /// Returns descriptions of the changes for users.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// Returns the length of the old file.
    pub fn old_len(&self) -> u64 {
        self.old_len
    }

    /// Returns the length of the edited file.
    pub fn new_len(&self) -> u64 {
        self.new_len
    }

    /// Returns the overlays by offset; none overlaps another.
    pub fn overlay(&self) -> &[Overlay] {
        &self.overlays
    }

    /// Returns the edits.
    pub fn edits(&self) -> &Edits {
        &self.edits
    }
}
