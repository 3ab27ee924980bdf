//! What matters of binaries in packages: what they are for, and where they look for libraries.

use std::sync::Arc;

use crate::package::wheel::site_path;
use binary::Format;
use binary::elf::stub::StubMachine;
use binary::elf::{self, ElfError, ElfInfo, ElfKind, Machine, ReadAt};
use binary::pe::{ImportLibrary, PeFacts, import_library};
use binary::policy::{self, Symbols};
use binary::site::Linked;

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
    /// How it is loaded; nothing of what is not installed below site-packages.
    pub linked: Option<Linked>,
    /// What it takes from others and offers to them; not of what no loader loads.
    pub symbols: Option<Arc<Symbols>>,
}

/// The symbols of a member.
#[derive(Debug)]
pub(super) struct Taken {
    /// The member.
    pub member: String,
    pub symbols: Arc<Symbols>,
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
pub(super) enum FileRole {
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

impl FileRole {
    /// The DLLs that it imports when it is loaded or later, or that it leads a linker to.
    pub fn imports(&self) -> Vec<String> {
        match self {
            Self::Pe(facts) => facts.imports.iter().chain(&facts.delayed).cloned().collect(),
            Self::ImportLibrary(library) => library.dlls.clone(),
            _ => Vec::new(),
        }
    }
}

/// Looks at an archive.
pub(super) fn archive(file: &(impl ReadAt + ?Sized)) -> FileRole {
    match import_library(file) {
        Ok(Some(library)) => FileRole::ImportLibrary(Box::new(library)),
        Ok(None) => FileRole::Data,
        Err(error) => FileRole::BrokenImportLibrary(base::text::with_causes(&error)),
    }
}

/// Looks at a binary that is called `name`.
pub(super) fn binary(name: &str, file: &(impl ReadAt + ?Sized)) -> FileRole {
    let read = match elf::inspect(file) {
        Ok(info) => read_elf(name, &info, file).map_err(binary::BinaryError::from),
        Err(ElfError::NotElf) => match binary::read(file) {
            Ok(Some(binary::Binary::Pe(facts))) => Ok(FileRole::Pe(facts)),
            Ok(_) => Ok(FileRole::Data),
            Err(error) => Err(error),
        },
        Err(error) => Err(error.into()),
    };
    read.unwrap_or_else(|error| FileRole::Broken(error.format(), base::text::with_causes(&error)))
}

fn read_elf(
    name: &str,
    info: &ElfInfo,
    file: &(impl ReadAt + ?Sized),
) -> Result<FileRole, ElfError> {
    let facts = info.facts()?;
    let symbols = Symbols::of(info, &facts, name, file);
    let is_module = symbols.as_ref().is_some_and(Symbols::is_module);
    Ok(FileRole::Elf(Binary {
        kind: facts.kind,
        machine: facts.machine,
        has_soname: facts.soname.is_some(),
        symbols: symbols.map(Arc::new),
        linked: site_path(name).and_then(|path| Linked::new(path, &facts, is_module)),
        rpath: facts.rpath,
        runpath: facts.runpath,
    }))
}
