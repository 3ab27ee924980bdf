use std::io;

use super::violation::Violation;

/// Fault of a file. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// Unreadable file.
    #[error("read {what}")]
    Read {
        /// Part.
        what: &'static str,
        /// System error.
        #[source]
        source: io::Error,
    },
    /// Missing magic number.
    #[error("not an ELF file")]
    NotElf,
    /// Truncated file.
    #[error("truncated: {what} ends at byte {need}, the file has {have}")]
    Truncated {
        /// Part.
        what: &'static str,
        /// End of the part in bytes.
        need: u64,
        /// Length in bytes.
        have: u64,
    },
    /// Invalid header field.
    #[error("malformed ELF header: {field} is {value:#x}")]
    Header {
        /// Field.
        field: &'static str,
        /// Value.
        value: u64,
    },
    /// Bytes that an edit must move, and that no segment loads.
    #[error("no LOAD segment has all of the bytes at {offset:#x}, which must move")]
    Unloaded {
        /// Offset of the bytes.
        offset: u64,
    },
    /// Invalid dynamic section.
    #[error("malformed dynamic section: {field} is {value:#x}")]
    Dynamic {
        /// Entry or field.
        field: &'static str,
        /// Value.
        value: u64,
    },
    /// Address without bytes.
    #[error("{field}: address {address:#x} has no bytes in the file")]
    NotFileBacked {
        /// Entry.
        field: &'static str,
        /// Address.
        address: u64,
    },
    /// Overlapping tables.
    #[error("malformed: {one} and {other} overlap")]
    Overlap {
        /// First table.
        one: &'static str,
        /// Other table.
        other: &'static str,
    },
    /// Invalid version table.
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
    /// Unsupported machine.
    #[error(
        "the ELF file is for machine {machine}; only x86-64 (62) and aarch64 (183) files can be \
         edited"
    )]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// GPU code object.
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
    /// Static position-independent executable. Its self-relocation crashes if tables move.
    #[error("a static position-independent executable: editing one makes it crash")]
    StaticPie,
    /// Dynamic loader. It relocates itself by its dynamic section; glibc's aborts at an rpath
    /// there.
    #[error("a dynamic loader, which starts by itself: an edit can make every program abort")]
    Loader,
    /// Separate debug information.
    #[error("separate debug information: the dynamic section has no bytes in the file")]
    DebugOnly,
    /// Invalid name.
    #[error(
        "{field} must not be `{value}`: use a non-empty name without NUL, and without colon in a \
         search path"
    )]
    Name {
        /// Entry.
        field: &'static str,
        /// Name.
        value: String,
    },
    /// Too many program headers.
    #[error("{count} program headers are more than the limit of 73")]
    TooManyHeaders {
        /// Headers.
        count: u64,
    },
    /// No room for program headers.
    #[error(
        "no room for a program header: kernels before 5.18 would need {padding} bytes of padding to find the table"
    )]
    OldKernel {
        /// Required padding in bytes.
        padding: u64,
    },
    /// Nested functions with trampolines.
    #[error(
        "the code at byte {offset:#x} writes a trampoline of a nested function to the stack, which \
         must stay executable"
    )]
    Trampoline {
        /// Offset of the trampoline's instructions.
        offset: u64,
    },
    /// Violation of invariants.
    #[error("the edit would break the file: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Verification(Vec<Violation>),
}
