use std::sync::Arc;

use binary::Format;
use binary::dlls::Dll;
use binary::elf::{self, ElfError, ElfInfo, ElfKind, Machine, ReadAt};
use binary::pe::{self, ImportLibrary, PeFacts, PeSymbols, import_library};
use binary::policy::{Architecture, Symbols, unusual_loader};
use binary::site::Linked;
use wheel::package::wheel::site_path;

use super::Finding;
use crate::stack;

#[derive(Debug)]
pub(super) struct Binary {
    pub kind: ElfKind,
    pub machine: Machine,
    pub has_soname: bool,
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
    /// Loader of a program that other systems lack.
    pub loader: Option<String>,
    /// Loader properties, if installed below site-packages.
    pub linked: Option<Linked>,
    /// Request for an executable stack.
    pub stack: Option<Finding>,
    /// Imported and defined symbols, if the loader loads the file.
    pub symbols: Option<Arc<Symbols>>,
}

#[derive(Debug)]
pub(super) struct Taken {
    pub member: String,
    pub symbols: Arc<Symbols>,
}

#[derive(Debug)]
pub(super) struct Search {
    pub member: String,
    pub path: String,
    pub directories: String,
    /// Otherwise from `DT_RPATH`.
    pub runpath: bool,
}

impl Binary {
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.kind, ElfKind::Executable | ElfKind::StaticExecutable | ElfKind::StaticPie)
            && !self.has_soname
    }

    /// Architecture required in the platform tag, if known.
    pub fn architecture(&self) -> Option<&'static str> {
        Architecture::of(self.machine).map(Architecture::name)
    }
}

#[derive(Debug)]
pub(super) enum FileRole {
    Data,
    Script,
    Elf(Binary),
    Pe(Box<PeFacts>, Option<Box<PeSymbols>>),
    ImportLibrary(Box<ImportLibrary>),
    /// Not readable to its end.
    BrokenImportLibrary(String),
    /// Begins like this format, but is invalid.
    Broken(Format, String),
}

impl FileRole {
    /// PE file or import library, for the comparison of imports.
    pub fn dll(&self, path: &str) -> Option<Dll> {
        let path = path.to_owned();
        match self {
            Self::Pe(facts, symbols) => Some(Dll::new(path, facts, symbols.as_deref().cloned())),
            Self::ImportLibrary(library) => {
                Some(Dll::import_library(path, library.machine, &library.dlls))
            }
            _ => None,
        }
    }
}

pub(super) fn archive(file: &(impl ReadAt + ?Sized)) -> FileRole {
    match import_library(file) {
        Ok(Some(library)) => FileRole::ImportLibrary(Box::new(library)),
        Ok(None) => FileRole::Data,
        Err(error) => FileRole::BrokenImportLibrary(base::text::with_causes(&error)),
    }
}

pub(super) fn binary(name: &str, file: &(impl ReadAt + ?Sized)) -> FileRole {
    let read = match elf::inspect(file) {
        Ok(info) => read_elf(name, &info, file).map_err(binary::BinaryError::from),
        Err(ElfError::NotElf) => match binary::read(file) {
            // Unreadable tables can have any symbol.
            Ok(Some(binary::Binary::Pe(facts))) => {
                Ok(FileRole::Pe(facts, pe::symbols(file).ok().flatten().map(Box::new)))
            }
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
        loader: unusual_loader(&facts).map(str::to_owned),
        stack: stack::finding(&facts),
        symbols: symbols.map(Arc::new),
        linked: site_path(name).and_then(|path| Linked::new(path, &facts, is_module)),
        rpath: facts.rpath,
        runpath: facts.runpath,
    }))
}
