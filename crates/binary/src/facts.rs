//! The one set of facts that all formats have.

use super::elf::{ElfFacts, ElfKind, Rpath, VersionNeed};
use super::machine::Machine;
use super::pe::{PeFacts, PeKind, PeVersion};

/// The format of a binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Executable and Linkable Format: Linux.
    Elf,
    /// Portable Executable: Windows.
    Pe,
}

/// What a binary is to those that load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryKind {
    /// Others load it.
    Library,
    /// People start it.
    Program,
    /// A GPU runs it.
    DeviceCode,
    /// Nobody runs it as it is: an object file, a core dump, a driver.
    Other,
}

/// What a binary is, what it is called, and what it needs to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'f> {
    /// Its format.
    pub format: Format,
    /// What it is.
    pub kind: BinaryKind,
    /// The processor it is for.
    pub machine: Machine,
    /// What it is called where others need it: `DT_SONAME`, or the name in the export directory.
    pub name: Option<&'f str>,
    /// The libraries that are loaded with it, in its order: `DT_NEEDED`, imports.
    pub needs: &'f [String],
    /// The libraries that are loaded when they are first called: delay imports.
    pub delayed: &'f [String],
    /// Where it says that libraries are looked for. PE files say nothing.
    pub search: SearchPath<'f>,
    /// What the file itself says that its version is. ELF files say nothing.
    pub version: Option<&'f PeVersion>,
    /// The symbol versions it needs of each library. PE files have none.
    pub versions: &'f [VersionNeed],
}

/// The directories that a binary has libraries looked for in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchPath<'f> {
    /// Those before `LD_LIBRARY_PATH`: `DT_RPATH`.
    pub before: Option<Rpath<'f>>,
    /// Those after it: `DT_RUNPATH`. With these, the others are not searched (ld.so(8)).
    pub after: Option<Rpath<'f>>,
}

impl Facts<'_> {
    /// Every library it needs, at once or later.
    pub fn all_needs(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().chain(self.delayed).map(String::as_str)
    }
}

impl<'f> From<&'f ElfFacts> for Facts<'f> {
    fn from(facts: &'f ElfFacts) -> Self {
        Self {
            format: Format::Elf,
            kind: match facts.kind {
                ElfKind::SharedLibrary => BinaryKind::Library,
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
