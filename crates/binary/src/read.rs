//! Detection of a binary's format by its first bytes.

use std::io;

use super::elf::{self, ElfError, ElfFacts};
use super::facts::{Facts, Format};
use super::pe::{self, PeError, PeFacts};
use super::read_at::ReadAt;

/// Facts of a binary, by format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binary {
    /// ELF file.
    Elf(Box<ElfFacts>),
    /// PE file.
    Pe(Box<PeFacts>),
}

/// Fault of a file that begins like a binary.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file begins like ELF.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The file begins like PE.
    #[error(transparent)]
    Pe(#[from] PeError),
}

impl Binary {
    /// Returns the facts common to all formats.
    pub fn facts(&self) -> Facts<'_> {
        match self {
            Self::Elf(facts) => (&**facts).into(),
            Self::Pe(facts) => (&**facts).into(),
        }
    }
}

impl BinaryError {
    /// Returns the format suggested by the first bytes.
    pub fn format(&self) -> Format {
        match self {
            Self::Elf(_) => Format::Elf,
            Self::Pe(_) => Format::Pe,
        }
    }

    /// Returns the system error of a failed read.
    ///
    /// # Errors
    /// Returns the error itself if the content is at fault.
    pub fn into_io(self) -> Result<io::Error, Self> {
        match self {
            Self::Elf(ElfError::Read { source, .. }) | Self::Pe(PeError::Read { source, .. }) => {
                Ok(source)
            }
            other => Err(other),
        }
    }
}

/// Reads the facts; `None` for unknown formats.
///
/// # Errors
/// If a binary is truncated or malformed.
pub fn read(file: &(impl ReadAt + ?Sized)) -> Result<Option<Binary>, BinaryError> {
    if let Some(facts) = elf::facts(file)? {
        return Ok(Some(Binary::Elf(Box::new(facts))));
    }
    Ok(pe::facts(file)?.map(|facts| Binary::Pe(Box::new(facts))))
}
