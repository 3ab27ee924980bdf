//! The plan of an edit: which bytes differ, and why.

use super::edits::Edits;
use super::error::ElfError;
use crate::ReadAt;

/// Bytes that differ from the old file, or follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// Where they go.
    pub offset: u64,
    /// What goes there.
    pub bytes: Vec<u8>,
}

/// What makes the edited file of the old one: its bytes, with the overlays over them, and
/// zeros where it is longer and no overlay says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlan {
    pub(super) old_len: u64,
    pub(super) new_len: u64,
    pub(super) overlays: Vec<Overlay>,
    pub(super) steps: Vec<String>,
    pub(super) edits: Edits,
}

impl Overlay {
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// What is left of it when bytes that the file has already are cut off at both ends.
    pub(super) fn without_what_is_there(
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
    /// Whether the file is as wanted already.
    pub fn is_noop(&self) -> bool {
        self.overlays.is_empty() && self.old_len == self.new_len
    }

    /// What is done, one sentence each, for people.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// The length of the file it is made for.
    pub fn old_len(&self) -> u64 {
        self.old_len
    }

    /// The edited file's length.
    pub fn new_len(&self) -> u64 {
        self.new_len
    }

    /// The bytes that differ, in order; those behind the old file come last.
    pub fn overlay(&self) -> &[Overlay] {
        &self.overlays
    }

    /// What it was made for.
    pub fn edits(&self) -> &Edits {
        &self.edits
    }
}
