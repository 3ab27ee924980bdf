//! Why device code stays in a program or a library.

use crate::elf::error::ElfError;
use base::names::offload::BUNDLES;

/// Why bundles cannot be taken out of a file. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// The file cannot be read, or an edit of it broke something.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Nobody has tried others.
    #[error("it is for another processor than x86-64")]
    Machine,
    /// Nothing tells what of the others is used.
    #[error("it is neither a library nor a program that a dynamic loader starts")]
    Kind,
    /// Compilers make one, and linkers keep it one.
    #[error("it has {count} sections `{name}`, and not one")]
    Sections {
        /// The name.
        name: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A section without bytes in memory.
    #[error("its section `{name}` is not in memory as it is in the file")]
    Unmapped {
        /// The name.
        name: &'static str,
    },
    /// Bytes of a section that something else has too.
    #[error("another table or section has bytes of its offload bundles or of the records of them")]
    Shared,
    /// A program or another library could read the bundles.
    #[error("a symbol or an entry of the dynamic section leads to its offload bundles")]
    Named,
    /// A table that cannot be read.
    #[error("its relocations, or the records of its offload bundles, cannot be read")]
    Unreadable,
    /// A relocation that is none of a record's address.
    #[error(
        "the relocation of the word at address {address:#x} leads to its offload bundles, or changes them or the records of them"
    )]
    Relocation {
        /// What it changes.
        address: u64,
    },
    /// A table that has no whole number of records.
    #[error("the records of its offload bundles have {size} bytes, which is no multiple of 24")]
    Records {
        /// How many bytes there are.
        size: u64,
    },
    /// A record that is none.
    #[error(
        "what is at address {address:#x} is no record of an offload bundle, or was changed before"
    )]
    Record {
        /// Where it is.
        address: u64,
    },
    /// A record without an address.
    #[error("nothing tells which offload bundle the record at address {address:#x} is of")]
    Address {
        /// Where it is.
        address: u64,
    },
    /// An address elsewhere.
    #[error(
        "the record at address {address:#x} is of an offload bundle that is not in `{BUNDLES}`"
    )]
    Outside {
        /// Where it is.
        address: u64,
    },
    /// A bundle with two numbers.
    #[error("the record at address {address:#x} is of an offload bundle that another record is of")]
    Twice {
        /// Where it is.
        address: u64,
    },
    /// Code that no record leads to.
    #[error("the byte at {at:#x} of the file belongs to no offload bundle that a record is of")]
    Stray {
        /// Its place.
        at: u64,
    },
    /// No room for a marker.
    #[error("the offload bundle at byte {at:#x} is too short for what takes its place")]
    Short {
        /// Where it is.
        at: u64,
    },
}
