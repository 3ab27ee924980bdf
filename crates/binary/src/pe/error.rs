//! Why a PE file could not be read.

use std::io;

/// Something is wrong with a PE file; `offset` is the place in the file, in bytes from its start.
#[derive(Debug, thiserror::Error)]
pub enum PeError {
    /// The system could not read it.
    #[error("cannot read {what}")]
    Read {
        /// What was read.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The file ends too early.
    #[error("the file has {have} bytes, and {what} at {offset:#x} ends at {}", .offset.saturating_add(*.len))]
    Truncated {
        /// What is cut off.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// How many bytes it has.
        len: u64,
        /// How many bytes the file has.
        have: u64,
    },
    /// A field has a value that the format does not allow.
    #[error("{field} at {offset:#x} is {value:#x}")]
    Field {
        /// The field's name in the format's description.
        field: &'static str,
        /// Where it is.
        offset: u64,
        /// Its value.
        value: u64,
    },
    /// An address leads to no bytes of the file.
    #[error("{field} at {offset:#x} leads to address {address:#x}, which no section has bytes for")]
    Nowhere {
        /// The field that has the address.
        field: &'static str,
        /// Where it is.
        offset: u64,
        /// The address, relative to the image's base.
        address: u32,
    },
    /// A table does not end where its section does, or has more entries than any file needs.
    #[error("{what} at {offset:#x} does not end")]
    Endless {
        /// The table.
        what: &'static str,
        /// Where it begins.
        offset: u64,
    },
    /// A name is empty, has no end, or is not of printable ASCII.
    #[error("{field} at {offset:#x} is not a name")]
    Name {
        /// What the name is of.
        field: &'static str,
        /// Where it is.
        offset: u64,
    },
}
