//! Errors of reading and editing ELF files.

use std::io;

use super::violation::Violation;

/// Fault of a file, with field and value. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// The file cannot be read.
    #[error("read {what}")]
    Read {
        /// Part of the file.
        what: &'static str,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The magic number is missing.
    #[error("not an ELF file")]
    NotElf,
    /// The file ends before a part that its headers announce.
    #[error("truncated: {what} ends at byte {need}, the file has {have}")]
    Truncated {
        /// Part beyond the end.
        what: &'static str,
        /// End of the part, in bytes.
        need: u64,
        /// Length of the file in bytes.
        have: u64,
    },
    /// A header field contradicts the format.
    #[error("malformed ELF header: {field} is {value:#x}")]
    Header {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u64,
    },
    /// The dynamic section contradicts itself or the file.
    #[error("malformed dynamic section: {field} is {value:#x}")]
    Dynamic {
        /// Entry or field.
        field: &'static str,
        /// Value of the field.
        value: u64,
    },
    /// No LOAD segment has file bytes for an address.
    #[error("{field}: address {address:#x} has no bytes in the file")]
    NotFileBacked {
        /// Entry with the address.
        field: &'static str,
        /// Address.
        address: u64,
    },
    /// Two tables overlap, so that writing one would change the other.
    #[error("malformed: {one} and {other} overlap")]
    Overlap {
        /// Table that begins first.
        one: &'static str,
        /// Other table.
        other: &'static str,
    },
    /// A version table contradicts the format.
    #[error("malformed {table} at byte {offset:#x} of the table")]
    Versions {
        /// `DT_VERNEED` or `DT_VERDEF`.
        table: &'static str,
        /// Offset in the table.
        offset: u64,
    },
    /// 32-bit file.
    #[error("a 32-bit ELF file (machine {machine}): only 64-bit files can be edited")]
    Bits32 {
        /// `e_machine`.
        machine: u16,
    },
    /// Big-endian file.
    #[error("a big-endian ELF file (machine {machine}): only little-endian files can be edited")]
    BigEndian {
        /// `e_machine`.
        machine: u16,
    },
    /// File for a machine other than x86-64 and aarch64.
    #[error(
        "the ELF file is for machine {machine}; only x86-64 (62) and aarch64 (183) files can be \
         edited"
    )]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// GPU code object, regardless of the file name.
    #[error("a GPU code object (machine 224): the host's loader never reads it")]
    CodeObject,
    /// Relocatable file.
    #[error("a relocatable file: it has no dynamic section")]
    Relocatable,
    /// Core dump.
    #[error("a core dump: it has no dynamic section")]
    Core,
    /// Static executable.
    #[error("a static executable: it has no dynamic section")]
    Static,
    /// Static position-independent executable. It relocates itself with tables at link-time
    /// addresses and crashes if they move.
    #[error("a static position-independent executable: editing one makes it crash")]
    StaticPie,
    /// Debug information without the code: headers whose bytes are in another file.
    #[error("separate debug information: the dynamic section has no bytes in the file")]
    DebugOnly,
    /// Name that the format cannot hold.
    #[error(
        "{field} must not be `{value}`: use a non-empty name without NUL, and without colon in a \
         search path"
    )]
    Name {
        /// Entry for the name.
        field: &'static str,
        /// Name.
        value: String,
    },
    /// More program headers than kernels accept.
    #[error("{count} program headers are more than the limit of 73")]
    TooManyHeaders {
        /// Number of headers, existing or required.
        count: u64,
    },
    /// Executable with room for its program header table only where old kernels would not find it.
    #[error(
        "no room for a program header: kernels before 5.18 would need {padding} bytes of padding to find the table"
    )]
    OldKernel {
        /// Required growth of the file in bytes.
        padding: u64,
    },
    /// The edit would violate invariants of loaders and tools.
    #[error("the edit would break the file: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Verification(Vec<Violation>),
}
