use std::io;

/// Fault of a PE file. Offsets are in bytes.
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
    /// Truncated file.
    #[error("the file has {have} bytes, but {what} at {offset:#x} ends at {}", .offset.saturating_add(*.len))]
    Truncated {
        /// Part.
        what: &'static str,
        /// Offset.
        offset: u64,
        /// Size in bytes.
        len: u64,
        /// File size in bytes.
        have: u64,
    },
    /// Invalid field.
    #[error("{field} at {offset:#x} is {value:#x}")]
    Field {
        /// Field in the specification.
        field: &'static str,
        /// Offset.
        offset: u64,
        /// Value.
        value: u64,
    },
    /// Address outside the file.
    #[error("{field} at {offset:#x} points to address {address:#x}, which is in no section")]
    Nowhere {
        /// Field.
        field: &'static str,
        /// Offset.
        offset: u64,
        /// Address relative to the image base.
        address: u32,
    },
    /// Endless table.
    #[error("{what} at {offset:#x} does not end")]
    Endless {
        /// Table.
        what: &'static str,
        /// Offset.
        offset: u64,
    },
    /// Name that is empty, unterminated, or not printable ASCII.
    #[error("{field} at {offset:#x} is not a name")]
    Name {
        /// Field of the name.
        field: &'static str,
        /// Offset.
        offset: u64,
    },
}
