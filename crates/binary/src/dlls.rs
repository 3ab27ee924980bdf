//! Imports of PE files against the exports of DLLs installed together.
//!
//! A DLL is found by name, ignoring case: directories depend on calls of `os.add_dll_directory`.
//! Windows' own DLLs are not compared, since their exports depend on its version.

use std::collections::{HashMap, HashSet};

use crate::Machine;
use crate::pe::{Exports, PeFacts, PeImport, PeKind, PeSymbol, PeSymbols};

/// Forwarders can form a circle.
const MOST_FORWARDERS: usize = 16;

/// PE file or import library of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dll {
    /// Path in messages.
    pub path: String,
    /// Processor.
    pub machine: Machine,
    /// Imported DLLs. Those of an import library have no symbols.
    pub imports: Vec<PeImport>,
    /// Exports, if other files can load it and they are readable.
    exports: Option<Exports>,
    is_library: bool,
    /// Started by users or imported by Python.
    is_started: bool,
}

/// Fault of one imported DLL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DllFault<'s> {
    /// No file has this name.
    Missing,
    /// Only a file for another machine has this name.
    OtherMachine(&'s Dll),
    /// No file of this name exports the symbols.
    Undefined(Vec<&'s PeSymbol>),
    /// The symbol is forwarded to a DLL or function that does not exist.
    Forwarded(&'s PeSymbol, String),
}

/// Files installed together.
#[derive(Debug, Default)]
pub struct Dlls<'s> {
    by_name: HashMap<String, Vec<&'s Dll>>,
    /// Names of DLLs that files load at start.
    loaded: HashSet<String>,
}

impl Dll {
    /// A PE file; its imports have no symbols if these are unreadable.
    pub fn new(path: String, facts: &PeFacts, symbols: Option<PeSymbols>) -> Self {
        let is_library = facts.kind == PeKind::Library;
        let is_module = path.to_ascii_lowercase().ends_with(".pyd");
        let is_started = facts.kind == PeKind::Program || is_module;
        let (imports, exports) = if let Some(symbols) = symbols {
            (symbols.imports, Some(symbols.exports))
        } else {
            let bare = |delayed| {
                move |library: &String| PeImport {
                    library: library.clone(),
                    delayed,
                    symbols: Vec::new(),
                }
            };
            let imports = facts.imports.iter().map(bare(false));
            (imports.chain(facts.delayed.iter().map(bare(true))).collect(), None)
        };
        Self { path, machine: facts.machine, imports, exports, is_library, is_started }
    }

    /// An import library.
    pub fn import_library(path: String, machine: Machine, dlls: &[String]) -> Self {
        let bare = |library: &String| PeImport {
            library: library.clone(),
            delayed: false,
            symbols: Vec::new(),
        };
        let imports = dlls.iter().map(bare).collect();
        Self { path, machine, imports, exports: None, is_library: false, is_started: false }
    }

    fn name(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.to_ascii_lowercase()
    }
}

impl<'s> Dlls<'s> {
    /// Indexes the files.
    pub fn new(files: impl IntoIterator<Item = &'s Dll>) -> Self {
        let mut all = Self::default();
        for file in files {
            if file.is_library {
                all.by_name.entry(file.name()).or_default().push(file);
            }
            let at_start = file.imports.iter().filter(|import| !import.delayed);
            all.loaded.extend(at_start.map(|import| import.library.to_ascii_lowercase()));
        }
        all
    }

    /// Returns whether a fault of a file's imports is certain to show: the file is a program, a
    /// Python module, or loaded by another file. Others are plugins, which a program can do without.
    pub fn is_certain(&self, file: &Dll) -> bool {
        file.is_started || self.loaded.contains(&file.name())
    }

    /// Returns the fault of an import of `file`. `is_elsewhere` decides on libraries outside of
    /// these files, and skips their symbols.
    pub fn fault(
        &self,
        file: &Dll,
        import: &'s PeImport,
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> Option<DllFault<'s>> {
        if is_elsewhere(&import.library) {
            return None;
        }
        let Some(files) = self.by_name.get(&import.library.to_ascii_lowercase()) else {
            return Some(DllFault::Missing);
        };
        let fitting = || files.iter().filter(|other| other.machine == file.machine);
        if fitting().next().is_none() {
            return Some(DllFault::OtherMachine(files[0]));
        }
        // An unreadable table can have any symbol.
        let tables: Option<Vec<&Exports>> = fitting().map(|it| it.exports.as_ref()).collect();
        let tables = tables?;
        let lacks = |symbol: &&PeSymbol| !tables.iter().any(|exports| exports.has(symbol));
        let undefined: Vec<&PeSymbol> = import.symbols.iter().filter(lacks).collect();
        if !undefined.is_empty() {
            return Some(DllFault::Undefined(undefined));
        }
        import.symbols.iter().find_map(|symbol| {
            let ends = |exports: &&Exports| {
                self.leads_nowhere(file.machine, exports, symbol, is_elsewhere, 0)
            };
            let nowhere: Option<Vec<String>> =
                tables.iter().filter(|exports| exports.has(symbol)).map(ends).collect();
            Some(DllFault::Forwarded(symbol, nowhere?.into_iter().next()?))
        })
    }

    /// Returns the last forwarder, if no DLL has its function.
    fn leads_nowhere(
        &self,
        machine: Machine,
        exports: &Exports,
        symbol: &PeSymbol,
        is_elsewhere: &dyn Fn(&str) -> bool,
        depth: usize,
    ) -> Option<String> {
        let forwarder = exports.forwarder(symbol)?;
        let place = format!("{}: {}", forwarder.library, forwarder.symbol);
        if is_elsewhere(&forwarder.library) {
            return None;
        }
        let files = self.by_name.get(&forwarder.library.to_ascii_lowercase());
        let mut fitting =
            files.into_iter().flatten().filter(|other| other.machine == machine).peekable();
        if fitting.peek().is_none() || depth == MOST_FORWARDERS {
            return Some(place);
        }
        let mut nowhere = Some(place);
        for other in fitting {
            let exports = other.exports.as_ref()?;
            if exports.has(&forwarder.symbol) {
                nowhere = self.leads_nowhere(
                    machine,
                    exports,
                    &forwarder.symbol,
                    is_elsewhere,
                    depth + 1,
                );
                nowhere.as_ref()?;
            }
        }
        nowhere
    }
}
