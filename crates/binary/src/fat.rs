//! Device code in programs and libraries.
//!
//! ```text
//! ReadAt ─read─► Fat ─bundles─► ranges; with their lengths and a marker ─emptying─► Emptied ─prove
//! ```
//!
//! Sources: clang's code generation and HIP's runtime (`ROCm/rocm-systems`: `projects/clr/hipamd`,
//! `StatCO::digestFatBinary`; `shared/kpack`, `python/rocm_kpack/elf/kpack_transform.py`,
//! `python/rocm_kpack/coff/kpack_transform.py`, `python/rocm_kpack/tools/verify_artifacts.py`).
//!
//! - A section contains offload bundles, separated by zeros: one per compilation unit, or one for
//!   all units (`-fgpu-rdc`).
//! - A section contains a record of 24 bytes per unit: magic number `HIPF` (four bytes), version 1,
//!   address of the bundle, eight zero bytes. Loaders of files that can move fill in the address.
//! - With the magic number `HIPK`, the address is of a marker that refers to code archives, and the
//!   last eight bytes are the index of the bundle.
//! - The marker has a section, and the section of the bundles has no bytes in the file.
//!
//! [`crate::elf`] and [`crate::pe`] know references to bundles, and how a file gets shorter. The
//! rest is the same for both.

use std::ops::Range;

use crate::ReadAt;
use crate::elf::fat::FatElf;
use crate::pe::fat::FatPe;
use crate::{elf, pe};

mod emptied;
mod error;
mod records;
mod rest;

pub(crate) use emptied::Part;
pub use emptied::{Emptied, Emptying};
pub use error::FatError;
pub(crate) use records::{ADDRESS_OFFSET, RECORD_SIZE, Records, check_record};
pub(crate) use rest::{CHUNK, check_rest, not_zero};

/// Program or library with offload bundles.
#[derive(Debug, Clone)]
pub struct Fat(Format);

#[derive(Debug, Clone)]
enum Format {
    Elf(Box<FatElf>),
    Pe(Box<FatPe>),
}

impl Fat {
    /// Finds the bundles.
    ///
    /// # Errors
    /// If the layout is unusual, or anything but a record refers to a bundle.
    pub fn read(file: &impl ReadAt) -> Result<Self, FatError> {
        if let Some(fat) = FatElf::read(file)? {
            return Ok(Self(Format::Elf(Box::new(fat))));
        }
        let fat = FatPe::read(file)?.ok_or(FatError::Format)?;
        Ok(Self(Format::Pe(Box::new(fat))))
    }

    /// Returns the libraries that it needs, at start or later.
    ///
    /// # Errors
    /// If a name is damaged.
    pub fn needs(&self) -> Result<Vec<String>, FatError> {
        match &self.0 {
            Format::Elf(fat) => Ok(fat.facts()?.needed),
            Format::Pe(fat) => Ok(fat.needs().to_vec()),
        }
    }

    /// File range from each bundle to the next, by number.
    pub fn bundles(&self) -> Vec<Range<u64>> {
        match &self.0 {
            Format::Elf(fat) => fat.bundles(),
            Format::Pe(fat) => fat.bundles(),
        }
    }

    /// Plans to replace the bundles by `marker`, and to take them out of the file. `lengths` are by
    /// number.
    ///
    /// # Errors
    /// If the section has other bytes, or the file no room for the marker.
    pub fn emptying(
        &self,
        file: &impl ReadAt,
        lengths: &[u64],
        marker: &[u8],
    ) -> Result<Emptying, FatError> {
        match &self.0 {
            Format::Elf(fat) => fat.emptying(file, lengths, marker),
            Format::Pe(fat) => fat.emptying(file, lengths, marker),
        }
    }

    /// Verifies that `new` is `old`, the file of these facts, without its bundles, with the marker:
    /// every other byte is at its address, and every reference to a bundle leads to the marker.
    ///
    /// # Errors
    /// The differences, or a read error.
    pub fn prove(
        &self,
        old: &impl ReadAt,
        new: &impl ReadAt,
        marker: &[u8],
    ) -> Result<(), FatError> {
        match &self.0 {
            Format::Elf(fat) => fat.prove(old, new, marker),
            Format::Pe(fat) => fat.prove(old, new, marker),
        }
    }
}

/// Verifies like [`Fat::prove`], from the bytes alone.
///
/// # Errors
/// The differences, or a read error.
pub fn prove(old: &impl ReadAt, new: &impl ReadAt, marker: &[u8]) -> Result<(), FatError> {
    Fat::read(old)?.prove(old, new, marker)
}

/// Returns whether the code of a file is in archives.
pub fn refers_to_archives(file: &(impl ReadAt + ?Sized)) -> bool {
    elf::fat::has_marker(file) || pe::fat::has_marker(file)
}
