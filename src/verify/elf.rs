//! What matters of binaries in packages: what they are for, and where they look for libraries.

use crate::binary::pe::{ImportLibrary, PeFacts, import_library};
use crate::binary::{self, Format};
use crate::elf::stub::StubMachine;
use crate::elf::{ElfKind, Machine, ReadAt};
use crate::policy;

/// An ELF file.
#[derive(Debug)]
pub(super) struct Binary {
    pub kind: ElfKind,
    pub machine: Machine,
    pub has_soname: bool,
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
}

/// Where an ELF file looks for libraries.
#[derive(Debug)]
pub(super) struct Search {
    /// The member.
    pub member: String,
    /// Where it is installed.
    pub path: String,
    /// The directories, with `:` between.
    pub directories: String,
    /// Whether they stand in `DT_RUNPATH`.
    pub runpath: bool,
}

impl Binary {
    /// Whether somebody starts it, rather than loading it.
    pub fn is_program(&self) -> bool {
        matches!(self.kind, ElfKind::Executable | ElfKind::StaticExecutable | ElfKind::StaticPie)
            && !self.has_soname
    }

    /// The architecture that a platform tag has to name, where it is known.
    pub fn architecture(&self) -> Option<&'static str> {
        StubMachine::of(self.machine).map(policy::architecture)
    }
}

/// What a file is to who starts it.
#[derive(Debug)]
pub(super) enum Kind {
    Data,
    /// It begins with `#!`.
    Script,
    Elf(Binary),
    Pe(Box<PeFacts>),
    /// It tells a linker which DLLs have which functions.
    ImportLibrary(Box<ImportLibrary>),
    /// It tells so, and cannot be read to its end.
    BrokenImportLibrary(String),
    /// It begins as files of the format do.
    Broken(Format, String),
}

/// Looks at an archive.
pub(super) fn archive(file: &(impl ReadAt + ?Sized)) -> Kind {
    match import_library(file) {
        Ok(Some(library)) => Kind::ImportLibrary(Box::new(library)),
        Ok(None) => Kind::Data,
        Err(error) => Kind::BrokenImportLibrary(crate::text::with_causes(&error)),
    }
}

/// Looks at a binary.
pub(super) fn binary(file: &(impl ReadAt + ?Sized)) -> Kind {
    match binary::read(file) {
        Ok(Some(binary::Binary::Elf(facts))) => Kind::Elf(Binary {
            kind: facts.kind,
            machine: facts.machine,
            has_soname: facts.soname.is_some(),
            rpath: facts.rpath,
            runpath: facts.runpath,
        }),
        Ok(Some(binary::Binary::Pe(facts))) => Kind::Pe(facts),
        Ok(None) => Kind::Data,
        Err(error) => Kind::Broken(error.format(), crate::text::with_causes(&error)),
    }
}
