use crate::elf::error::ElfError;
use base::names::offload::BUNDLES;

/// Reason against removing bundles. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// Error of reading or verification.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Machine other than x86-64: the layout is untested there.
    #[error("it is for another processor than x86-64")]
    Machine,
    /// Neither a library nor a dynamic executable: the use of its parts is unknown.
    #[error("it is neither a library nor a program that a dynamic loader starts")]
    Kind,
    /// Number of sections other than one.
    #[error("it has {count} sections `{name}`, and not one")]
    Sections {
        /// Name.
        name: &'static str,
        /// Number.
        count: usize,
    },
    /// Section with other bytes in memory.
    #[error("its section `{name}` is not in memory as it is in the file")]
    Unmapped {
        /// Name.
        name: &'static str,
    },
    /// Table or section that overlaps bundles or records.
    #[error("another table or section has bytes of its offload bundles or of the records of them")]
    Shared,
    /// Symbol or dynamic entry that refers to bundles.
    #[error("a symbol or an entry of the dynamic section leads to its offload bundles")]
    Named,
    /// Unreadable relocations or records.
    #[error("its relocations, or the records of its offload bundles, cannot be read")]
    Unreadable,
    /// Relocation of bundles or records other than a record's address.
    #[error(
        "the relocation of the word at address {address:#x} leads to its offload bundles, or changes them or the records of them"
    )]
    Relocation {
        /// Address of the word.
        address: u64,
    },
    /// Size that is no multiple of a record.
    #[error("the records of its offload bundles have {size} bytes, which is no multiple of 24")]
    Records {
        /// Size in bytes.
        size: u64,
    },
    /// Invalid or changed record.
    #[error(
        "what is at address {address:#x} is no record of an offload bundle, or was changed before"
    )]
    Record {
        /// Address.
        address: u64,
    },
    /// Record without the address of a bundle.
    #[error("nothing tells which offload bundle the record at address {address:#x} is of")]
    Address {
        /// Address.
        address: u64,
    },
    /// Record of an address outside the section.
    #[error(
        "the record at address {address:#x} is of an offload bundle that is not in `{BUNDLES}`"
    )]
    Outside {
        /// Address.
        address: u64,
    },
    /// Bundle with two records.
    #[error("the record at address {address:#x} is of an offload bundle that another record is of")]
    Twice {
        /// Address of the second record.
        address: u64,
    },
    /// Nonzero byte outside the bundles of all records.
    #[error("the byte at {at:#x} of the file belongs to no offload bundle that a record is of")]
    Stray {
        /// Offset.
        at: u64,
    },
    /// Bundle shorter than the marker.
    #[error("the offload bundle at byte {at:#x} is too short for what takes its place")]
    Short {
        /// Offset.
        at: u64,
    },
}
