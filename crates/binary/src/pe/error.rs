//! Errors of the readers of PE files and import libraries.

use std::io;

/// Fault of a PE file or an import library. Offsets are in bytes; `what` is the part that was read,
/// `field` a field of the specification, with `offset` as its place.
#[derive(Debug, thiserror::Error)]
pub enum PeError {
    /// Unreadable file.
    #[error("cannot read {what}")]
    Read {
        /// Part.
        what: &'static str,
        /// System error.
        source: io::Error,
    },
    /// Part that is longer than its container, as in a truncated file.
    #[error("{what} at {offset:#x} ends at {:#x}, but {container} ends at {end:#x}", .offset.saturating_add(*.len))]
    Truncated {
        /// Part.
        what: &'static str,
        /// Offset.
        offset: u64,
        /// Size in bytes.
        len: u64,
        /// `the file`, or a part of it.
        container: &'static str,
        /// End of the container.
        end: u64,
    },
    /// Invalid field.
    #[error("{field} at {offset:#x} has the invalid value {value:#x}")]
    Field {
        /// Field.
        field: &'static str,
        /// Offset.
        offset: u64,
        /// Value.
        value: u64,
    },
    /// Address outside the file.
    #[error("{field} at {offset:#x} points to address {address:#x}, which is in no section")]
    Unmapped {
        /// Field.
        field: &'static str,
        /// Offset.
        offset: u64,
        /// Address relative to the image base.
        address: u32,
    },
    /// Table without a last entry in its section, or with more entries than real files have.
    #[error("{what} at {offset:#x} has no end within its limit")]
    Endless {
        /// Table.
        what: &'static str,
        /// Offset.
        offset: u64,
    },
    /// Name that is empty, unterminated, or not printable ASCII.
    #[error("{field}: the name at {offset:#x} is empty, too long or not printable")]
    Name {
        /// Field of the name.
        field: &'static str,
        /// Offset.
        offset: u64,
    },
}
