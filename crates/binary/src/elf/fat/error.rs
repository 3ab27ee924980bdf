use crate::elf::error::ElfError;
use base::names::offload::BUNDLES;

/// Reason against removing bundles. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// Error of reading or verification.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Machine other than x86-64: the layout is untested there.
    #[error("it is for a processor other than x86-64")]
    Machine,
    /// Neither a library nor a dynamic executable: its references are unknown.
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
    /// Section that is empty or loaded otherwise.
    #[error("its section `{name}` is empty or not loaded as it is")]
    Unmapped {
        /// Name.
        name: &'static str,
    },
    /// Table or section that overlaps bundles or records.
    #[error("another table or section overlaps its offload bundles or their records")]
    Shared,
    /// Symbol in a bundle, or dynamic entry that refers to one.
    #[error("a symbol or an entry of the dynamic section points into its offload bundles")]
    Named,
    /// Unreadable relocations, symbols or records.
    #[error("its relocations, symbols, or the records of its offload bundles cannot be read")]
    Unreadable,
    /// Relocation of bundles or records other than a record's address.
    #[error(
        "the relocation at address {address:#x} points to or changes its offload bundles or \
         their records"
    )]
    Relocation {
        /// Relocated address.
        address: u64,
    },
    /// Size that is not a multiple of 24 bytes.
    #[error("the records of its offload bundles have {size} bytes, not a multiple of 24")]
    Records {
        /// Size in bytes.
        size: u64,
    },
    /// Invalid record, or a record that was already changed.
    #[error("the offload bundle record at {address:#x} is invalid or already edited")]
    Record {
        /// Address.
        address: u64,
    },
    /// Record without the address of a bundle.
    #[error("the offload bundle of the record at address {address:#x} is unknown")]
    Address {
        /// Address.
        address: u64,
    },
    /// Record that points outside the section.
    #[error(
        "the record at address {address:#x} points to an offload bundle outside of `{BUNDLES}`"
    )]
    Outside {
        /// Address.
        address: u64,
    },
    /// Nonzero byte outside the bundles of all records.
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
    /// Names or number of sections that cannot be extended.
    #[error("its section headers cannot be extended")]
    Names,
}
