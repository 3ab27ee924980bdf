use crate::elf::error::ElfError;
use base::names::offload::BUNDLES;

/// Reason against removing bundles.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// Error of reading or verification.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Untested machine.
    #[error("it is for a processor other than x86-64")]
    Machine,
    /// File with unknown references.
    #[error("it is neither a shared library nor a dynamically linked program")]
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
    /// Overlapping table.
    #[error("another table or section overlaps its offload bundles or their records")]
    Shared,
    /// Bundles in the pages that loaders protect.
    #[error("its segment PT_GNU_RELRO overlaps its offload bundles")]
    Protected,
    /// Symbol or dynamic entry in a bundle.
    #[error("a symbol or an entry of the dynamic section points into its offload bundles")]
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
        "the record at address {address:#x} points to an offload bundle outside of `{BUNDLES}`"
    )]
    Outside {
        /// Address.
        address: u64,
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
    /// Unextensible section headers.
    #[error("its section headers cannot be extended")]
    Names,
}
