//! Why a file can't be read or edited.

use std::io;

use super::violation::Violation;

/// What is wrong with a file, with the field at fault and its value. Callers add the path.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// The file can't be read.
    #[error("read {what}")]
    Read {
        /// What was to be read.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The magic number is missing.
    #[error("not an ELF file")]
    NotElf,
    /// The file ends before something its headers announce.
    #[error("truncated: {what} ends at byte {need}, the file has {have}")]
    Truncated {
        /// What lies past the end.
        what: &'static str,
        /// Where it would end.
        need: u64,
        /// The file's length.
        have: u64,
    },
    /// A header field contradicts the format.
    #[error("malformed ELF header: {field} is {value:#x}")]
    Header {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
    },
    /// The dynamic section contradicts itself or the file.
    #[error("malformed dynamic section: {field} is {value:#x}")]
    Dynamic {
        /// The entry or field.
        field: &'static str,
        /// What it holds.
        value: u64,
    },
    /// An address that no LOAD segment backs with bytes of the file.
    #[error("{field}: address {address:#x} has no bytes in the file")]
    NotFileBacked {
        /// The entry with the address.
        field: &'static str,
        /// The address.
        address: u64,
    },
    /// Two tables have the same bytes: writing one would change the other.
    #[error("malformed: {one} and {other} have bytes in common")]
    Overlap {
        /// The one that begins first.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A version table contradicts the format.
    #[error("malformed {table} at byte {offset:#x} of the table")]
    Versions {
        /// `DT_VERNEED` or `DT_VERDEF`.
        table: &'static str,
        /// Where in the table.
        offset: u64,
    },
    /// A 32-bit file.
    #[error("a 32-bit ELF file (machine {machine}): only 64-bit files can be edited")]
    Bits32 {
        /// `e_machine`.
        machine: u16,
    },
    /// A big-endian file.
    #[error("a big-endian ELF file (machine {machine}): only little-endian files can be edited")]
    BigEndian {
        /// `e_machine`.
        machine: u16,
    },
    /// Neither x86-64 nor aarch64.
    #[error(
        "an ELF file for machine {machine}: only x86-64 (62) and aarch64 (183) files can be edited"
    )]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// A GPU code object, whatever its file name says.
    #[error("a GPU code object (machine 224): the host's loader never reads it")]
    CodeObject,
    /// A relocatable file.
    #[error("a relocatable file: it has no dynamic section")]
    Relocatable,
    /// A core dump.
    #[error("a core dump: it has no dynamic section")]
    Core,
    /// A static executable.
    #[error("a static executable: it has no dynamic section")]
    Static,
    /// A static position-independent executable. It relocates itself through tables at
    /// link-time addresses; moving them makes it crash.
    #[error("a static position-independent executable: editing one makes it crash")]
    StaticPie,
    /// Separate debug information: headers of a file whose bytes are elsewhere.
    #[error("separate debug information: the dynamic section has no bytes in the file")]
    DebugOnly,
    /// A name that the format can't hold.
    #[error(
        "{field} can't be `{value}`: names are not empty, and have no zero byte and, in a search path, no colon"
    )]
    Name {
        /// The entry it is meant for.
        field: &'static str,
        /// The name.
        value: String,
    },
    /// More program headers than kernels accept.
    #[error("{count} program headers: at most 73 are accepted")]
    TooManyHeaders {
        /// How many there are, or would be.
        count: u64,
    },
    /// An executable whose program header table could move only to where old kernels miss it.
    #[error(
        "no room for a program header: kernels before 5.18 would need {padding} bytes of padding to find the table"
    )]
    OldKernel {
        /// How far the file would have to grow.
        padding: u64,
    },
    /// The edit would break what loaders and tools rely on.
    #[error("the edit would break the file: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Verification(Vec<Violation>),
}
