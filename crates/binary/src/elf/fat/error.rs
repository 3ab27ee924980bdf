//! Errors of removing device code from a program or library.

use crate::elf::error::ElfError;
use base::names::offload::BUNDLES;

/// Reason against removing the bundles of a file. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// The file cannot be read, or verification of the result failed.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Machine other than x86-64: the layout is untested there.
    #[error("it is for another processor than x86-64")]
    Machine,
    /// Neither a library nor a dynamic executable: the use of its parts is unknown.
    #[error("it is neither a shared library nor a dynamically linked program")]
    Kind,
    /// Number of sections other than one, which is the number that compilers and linkers write.
    #[error("it has {count} sections `{name}` instead of one")]
    Sections {
        /// Name of the section.
        name: &'static str,
        /// Number of sections.
        count: usize,
    },
    /// Section that is not mapped as it is in the file.
    #[error("its section `{name}` differs between memory and file")]
    Unmapped {
        /// Name of the section.
        name: &'static str,
    },
    /// Another table or section overlaps the bundles or records.
    #[error("another table or section overlaps its offload bundles or their records")]
    Shared,
    /// A symbol or dynamic entry refers to the bundles.
    #[error("a symbol or an entry of the dynamic section points to its offload bundles")]
    Named,
    /// Relocations or records cannot be read.
    #[error("its relocations, or the records of its offload bundles, cannot be read")]
    Unreadable,
    /// Relocation of bundles or records other than a record's address.
    #[error(
        "the relocation at address {address:#x} points to or changes its offload bundles or \
         their records"
    )]
    Relocation {
        /// Address of the relocated word.
        address: u64,
    },
    /// Size of the records that is not a multiple of a record.
    #[error("the records of its offload bundles have {size} bytes, not a multiple of 24")]
    Records {
        /// Size in bytes.
        size: u64,
    },
    /// Invalid record, or a record that was already changed.
    #[error("address {address:#x} has no record of an offload bundle, or an edited one")]
    Record {
        /// Address of the record.
        address: u64,
    },
    /// Record without the address of a bundle.
    #[error("the offload bundle of the record at address {address:#x} is unknown")]
    Address {
        /// Address of the record.
        address: u64,
    },
    /// Record with an address outside the bundle section.
    #[error(
        "the record at address {address:#x} points to an offload bundle outside of `{BUNDLES}`"
    )]
    Outside {
        /// Address of the record.
        address: u64,
    },
    /// Bundle with two records.
    #[error(
        "the record at address {address:#x} points to the same offload bundle as another \
        record"
    )]
    Twice {
        /// Address of the second record.
        address: u64,
    },
    /// Nonzero byte outside the bundles of all records.
    #[error("the byte at {at:#x} of the file is in no offload bundle with a record")]
    Stray {
        /// Offset in the file.
        at: u64,
    },
    /// Bundle shorter than the marker.
    #[error("the offload bundle at byte {at:#x} is too short for its replacement")]
    Short {
        /// Offset of the bundle in the file.
        at: u64,
    },
}
