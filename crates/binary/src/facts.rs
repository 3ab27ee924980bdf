//! Facts common to all binary formats.

use super::elf::{ElfFacts, ElfKind, Rpath, VersionNeed};
use super::machine::Machine;
use super::pe::{PeFacts, PeKind, PeVersion};

/// Format of a binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Executable and Linkable Format (Linux).
    Elf,
    /// Portable Executable (Windows).
    Pe,
}

/// Role of a binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryKind {
    /// Loaded by other binaries.
    Library,
    /// Started as a process.
    Program,
    /// Executed by a GPU.
    DeviceCode,
    /// Neither loaded nor started: an object file, a core dump, a driver.
    Other,
}

/// Role, name and dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'f> {
    /// Format.
    pub format: Format,
    /// Role.
    pub kind: BinaryKind,
    /// Processor.
    pub machine: Machine,
    /// `DT_SONAME`, or the name in the export directory.
    pub name: Option<&'f str>,
    /// Libraries loaded at start, in order.
    pub needs: &'f [String],
    /// Delay imports.
    pub delayed: &'f [String],
    /// Search directories; PE files have none.
    pub search: SearchPath<'f>,
    /// Version in the resources; ELF files have none.
    pub version: Option<&'f PeVersion>,
    /// Required symbol versions; PE files have none.
    pub versions: &'f [VersionNeed],
}

/// Search directories of an ELF file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchPath<'f> {
    /// `DT_RPATH`: searched before `LD_LIBRARY_PATH`.
    pub before: Option<Rpath<'f>>,
    /// `DT_RUNPATH`: searched after `LD_LIBRARY_PATH`. Disables `DT_RPATH` (ld.so(8)).
    pub after: Option<Rpath<'f>>,
}

impl Facts<'_> {
    /// Returns all needed libraries.
    pub fn all_needs(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().chain(self.delayed).map(String::as_str)
    }
}

impl<'f> From<&'f ElfFacts> for Facts<'f> {
    fn from(facts: &'f ElfFacts) -> Self {
        Self {
            format: Format::Elf,
            kind: match facts.kind {
                ElfKind::SharedLibrary | ElfKind::Loader => BinaryKind::Library,
                ElfKind::Executable | ElfKind::StaticExecutable | ElfKind::StaticPie => {
                    BinaryKind::Program
                }
                ElfKind::CodeObject => BinaryKind::DeviceCode,
                ElfKind::Relocatable | ElfKind::Core | ElfKind::DebugOnly | ElfKind::Foreign => {
                    BinaryKind::Other
                }
            },
            machine: facts.machine,
            name: facts.soname.as_deref(),
            needs: &facts.needed,
            delayed: &[],
            search: SearchPath {
                before: facts.rpath.as_deref().map(Rpath::new),
                after: facts.runpath.as_deref().map(Rpath::new),
            },
            version: None,
            versions: &facts.versions,
        }
    }
}

impl<'f> From<&'f PeFacts> for Facts<'f> {
    fn from(facts: &'f PeFacts) -> Self {
        Self {
            format: Format::Pe,
            kind: match facts.kind {
                PeKind::Library => BinaryKind::Library,
                PeKind::Program => BinaryKind::Program,
                PeKind::Native => BinaryKind::Other,
            },
            machine: facts.machine,
            name: facts.name.as_deref(),
            needs: &facts.imports,
            delayed: &facts.delayed,
            search: SearchPath::default(),
            version: facts.version.as_ref(),
            versions: &[],
        }
    }
}
