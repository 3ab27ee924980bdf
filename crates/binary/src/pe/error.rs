use std::io;

/// Fault of a PE file. Each `offset` is in bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum PeError {
    /// The system could not read the file.
    #[error("cannot read {what}")]
    Read {
        /// Part of the file.
        what: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The file ends too early.
    #[error("the file has {have} bytes, but {what} at {offset:#x} ends at {}", .offset.saturating_add(*.len))]
    Truncated {
        /// Truncated part.
        what: &'static str,
        /// Offset of the part.
        offset: u64,
        /// Size of the part in bytes.
        len: u64,
        /// Size of the file in bytes.
        have: u64,
    },
    /// A field has a value that the format does not allow.
    #[error("{field} at {offset:#x} is {value:#x}")]
    Field {
        /// Name of the field in the specification.
        field: &'static str,
        /// Offset of the field.
        offset: u64,
        /// Value of the field.
        value: u64,
    },
    /// An address is outside the bytes of the file.
    #[error("{field} at {offset:#x} points to address {address:#x}, which is in no section")]
    Nowhere {
        /// Field with the address.
        field: &'static str,
        /// Offset of the field.
        offset: u64,
        /// Address relative to the image base.
        address: u32,
    },
    /// A table exceeds its section or the limit of entries.
    #[error("{what} at {offset:#x} does not end")]
    Endless {
        /// Name of the table.
        what: &'static str,
        /// Offset of the table.
        offset: u64,
    },
    /// A name is empty, unterminated, or not printable ASCII.
    #[error("{field} at {offset:#x} is not a name")]
    Name {
        /// Field that refers to the name.
        field: &'static str,
        /// Offset of the name.
        offset: u64,
    },
}
