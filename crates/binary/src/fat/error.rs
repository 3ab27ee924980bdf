use std::io;

use crate::elf::ElfError;
use crate::pe::PeError;

/// Reason against removing bundles.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// Error of reading or verification of an ELF file.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Error of reading a PE file.
    #[error(transparent)]
    Pe(#[from] PeError),
    /// Unreadable file.
    #[error("cannot read its offload bundles")]
    Read(#[source] io::Error),
    /// Difference that the proof found.
    #[error("without its offload bundles, {0}")]
    Proof(String),
    /// Neither ELF nor PE.
    #[error("it is neither an ELF nor a PE file")]
    Format,
    /// Untested machine.
    #[error("it is for a processor other than x86-64")]
    Machine,
    /// File with unknown references.
    #[error("it is neither a library nor a dynamically linked program")]
    Kind,
    /// Not exactly one such section.
    #[error("it has {count} sections `{name}` instead of one")]
    Sections {
        /// Name.
        name: &'static str,
        /// Number.
        count: usize,
    },
    /// Empty or unusually loaded section.
    #[error("its section `{name}` is empty or not loaded as it is")]
    Unmapped {
        /// Name.
        name: &'static str,
    },
    /// Bundles in the pages that loaders protect.
    #[error("its segment PT_GNU_RELRO overlaps its offload bundles")]
    Protected,
    /// Overlapping table.
    #[error("another table or section overlaps its offload bundles or their records")]
    Shared,
    /// Symbol, export or dynamic entry in a bundle.
    #[error(
        "a symbol, an export or an entry of the dynamic section points into its offload bundles"
    )]
    Named,
    /// Unreadable relocations, symbols or records.
    #[error("its relocations, symbols, or the records of its offload bundles cannot be read")]
    Unreadable,
    /// Unexpected relocation.
    #[error(
        "the relocation at address {address:#x} points to or changes its offload bundles or \
         their records"
    )]
    Relocation {
        /// Relocated address.
        address: u64,
    },
    /// Size other than multiples of 24 bytes.
    #[error("the records of its offload bundles have {size} bytes, not a multiple of 24")]
    Records {
        /// Size in bytes.
        size: u64,
    },
    /// Invalid or changed record.
    #[error("the offload bundle record at {address:#x} is invalid or already edited")]
    Record {
        /// Address.
        address: u64,
    },
    /// Record without a bundle.
    #[error("the offload bundle of the record at address {address:#x} is unknown")]
    Address {
        /// Address.
        address: u64,
    },
    /// Record outside the section.
    #[error(
        "the record at address {address:#x} points to an offload bundle outside of `{section}`"
    )]
    Outside {
        /// Address.
        address: u64,
        /// Name.
        section: &'static str,
    },
    /// Nonzero byte outside all bundles.
    #[error("the nonzero byte at {at:#x} of the file is in no offload bundle with a record")]
    Stray {
        /// Offset.
        at: u64,
    },
    /// Bundles shorter than the marker.
    #[error("the offload bundles at byte {at:#x} are too short for their replacement")]
    Short {
        /// Offset.
        at: u64,
    },
    /// As many sections as loaders, or the counting of the format, allow.
    #[error("it has {count} sections, and another one is not supported")]
    Count {
        /// Number.
        count: usize,
    },
    /// Unextensible section headers.
    #[error("its section headers cannot be extended")]
    Names,
    /// Authenticode: a hash of nearly all bytes.
    #[error(
        "its signature (Authenticode) would become invalid; sign the new file, made of an unsigned \
         one"
    )]
    Signed,
    /// Unknown bytes that would move.
    #[error(
        "it has {size} bytes behind its sections, at {at:#x}, which a program may expect at this \
         place"
    )]
    Behind {
        /// Offset.
        at: u64,
        /// Size in bytes.
        size: u64,
    },
    /// Sections that overlap, or are not where the alignment of the file puts them.
    #[error("its section `{name}` overlaps another part or is not aligned as its header says")]
    Layout {
        /// Name.
        name: String,
    },
}

impl FatError {
    /// Returns whether the system failed to read the file, of which nothing is known then.
    pub fn is_of_the_system(&self) -> bool {
        matches!(
            self,
            Self::Read(_) | Self::Elf(ElfError::Read { .. }) | Self::Pe(PeError::Read { .. })
        )
    }
}
