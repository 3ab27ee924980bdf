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

/// Fault of a binary.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// Fault of an ELF file.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Fault of a PE file.
    #[error(transparent)]
    Pe(#[from] PeError),
}

impl Binary {
    /// Returns the common facts.
    pub fn facts(&self) -> Facts<'_> {
        match self {
            Self::Elf(facts) => (&**facts).into(),
            Self::Pe(facts) => (&**facts).into(),
        }
    }
}

impl BinaryError {
    /// Returns the format by the first bytes.
    pub fn format(&self) -> Format {
        match self {
            Self::Elf(_) => Format::Elf,
            Self::Pe(_) => Format::Pe,
        }
    }

    /// Returns the system error, or the fault of the content.
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
pub fn read(file: &(impl ReadAt + ?Sized)) -> Result<Option<Binary>, BinaryError> {
    if let Some(facts) = elf::facts(file)? {
        return Ok(Some(Binary::Elf(Box::new(facts))));
    }
    Ok(pe::facts(file)?.map(|facts| Binary::Pe(Box::new(facts))))
}
