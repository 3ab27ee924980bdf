//! Telling formats apart by a file's first bytes.

use std::io;

use super::elf::{self, ElfError, ElfFacts};
use super::facts::{Facts, Format};
use super::pe::{self, PeError, PeFacts};
use super::read_at::ReadAt;

/// A binary with what its format has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binary {
    /// An ELF file.
    Elf(Box<ElfFacts>),
    /// A PE file.
    Pe(Box<PeFacts>),
}

/// Why a file is not the binary that it starts like.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// It starts like an ELF file.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// It starts like a PE file.
    #[error(transparent)]
    Pe(#[from] PeError),
}

impl Binary {
    /// What all formats have.
    pub fn facts(&self) -> Facts<'_> {
        match self {
            Self::Elf(facts) => (&**facts).into(),
            Self::Pe(facts) => (&**facts).into(),
        }
    }
}

impl BinaryError {
    /// The format that the file starts like.
    pub fn format(&self) -> Format {
        match self {
            Self::Elf(_) => Format::Elf,
            Self::Pe(_) => Format::Pe,
        }
    }

    /// What the system said, if the file could not be read; else the error, which blames its bytes.
    ///
    /// # Errors
    /// The error itself, when nothing was wrong with reading.
    pub fn into_io(self) -> Result<io::Error, Self> {
        match self {
            Self::Elf(ElfError::Read { source, .. }) | Self::Pe(PeError::Read { source, .. }) => {
                Ok(source)
            }
            other => Err(other),
        }
    }
}

/// Reads the facts of `file`; `None` when it is not a binary of a known format.
///
/// Only headers and the tables they lead to are read.
///
/// # Errors
/// When it starts like a binary, and is cut short or contradicts its format.
pub fn read(file: &(impl ReadAt + ?Sized)) -> Result<Option<Binary>, BinaryError> {
    if let Some(facts) = elf::facts(file)? {
        return Ok(Some(Binary::Elf(Box::new(facts))));
    }
    Ok(pe::facts(file)?.map(|facts| Binary::Pe(Box::new(facts))))
}
