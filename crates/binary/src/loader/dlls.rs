//! Files for Windows, indexed as its loader looks for them: by name, ignoring case.
//!
//! The directories depend on calls of `os.add_dll_directory`, which a plan knows. Windows' own DLLs
//! are not compared, since their exports depend on its version.

use std::collections::{HashMap, HashSet};

use crate::Machine;
use crate::pe::{Exports, ImportLibrary, PeFacts, PeImport, PeKind, PeSymbol, PeSymbols};

/// Forwarders can form a circle.
const MOST_FORWARDERS: usize = 16;

/// File of a package.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dll<'a> {
    /// Number of its package.
    pub owner: usize,
    /// Path.
    pub path: &'a str,
    /// Role for the loader.
    pub content: DllContent<'a>,
}

/// Role of a file for the loader of Windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DllContent<'a> {
    /// Program or library, with its functions, if they are readable.
    Pe(&'a PeFacts, Option<&'a PeSymbols>),
    /// Not loaded; its DLLs can be in any directory.
    ImportLibrary(&'a ImportLibrary),
    /// Link in a devel tree.
    Link,
}

/// Imported DLL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DllImport<'a> {
    /// Name in the file.
    pub library: &'a str,
    /// Loaded at the first call.
    pub delayed: bool,
    /// Functions and data; those of an import library are unknown.
    pub symbols: &'a [PeSymbol],
}

/// Fault of one imported DLL.
#[derive(Debug, Clone, PartialEq)]
pub enum DllFault<'a> {
    /// No file has this name.
    Missing,
    /// Only a file for another machine has this name.
    OtherMachine(Machine),
    /// No file of this name exports the symbols.
    Undefined(Vec<&'a PeSymbol>),
    /// The symbol is forwarded to a DLL or function that does not exist.
    Forwarded(&'a PeSymbol, String),
}

/// Files installed together.
#[derive(Debug, Default)]
pub struct Dlls<'a> {
    files: Vec<Dll<'a>>,
    by_name: HashMap<String, Vec<usize>>,
    /// Names of DLLs that files load at start.
    loaded: HashSet<String>,
}

impl<'a> Dll<'a> {
    /// Processor; `None` for a link.
    pub fn machine(&self) -> Option<Machine> {
        match self.content {
            DllContent::Pe(facts, _) => Some(facts.machine),
            DllContent::ImportLibrary(library) => Some(library.machine),
            DllContent::Link => None,
        }
    }

    /// Imported DLLs, in order, then delay imports.
    pub fn imports(&self) -> Vec<DllImport<'a>> {
        let bare =
            |delayed| move |library: &'a String| DllImport { library, delayed, symbols: &[] };
        match self.content {
            DllContent::Pe(_, Some(symbols)) => {
                let whole = |PeImport { library, delayed, symbols }: &'a PeImport| DllImport {
                    library,
                    delayed: *delayed,
                    symbols,
                };
                symbols.imports.iter().map(whole).collect()
            }
            DllContent::Pe(facts, None) => {
                let delayed = facts.delayed.iter().map(bare(true));
                facts.imports.iter().map(bare(false)).chain(delayed).collect()
            }
            DllContent::ImportLibrary(library) => library.dlls.iter().map(bare(false)).collect(),
            DllContent::Link => Vec::new(),
        }
    }

    fn name(&self) -> String {
        self.path.rsplit('/').next().unwrap_or(self.path).to_ascii_lowercase()
    }

    fn exports(&self) -> Option<&'a Exports> {
        match self.content {
            DllContent::Pe(_, symbols) => symbols.map(|symbols| &symbols.exports),
            DllContent::ImportLibrary(_) | DllContent::Link => None,
        }
    }
}

impl<'a> Dlls<'a> {
    /// Indexes the files.
    pub fn new(files: Vec<Dll<'a>>) -> Self {
        let mut dlls = Self { files, ..Self::default() };
        for (number, file) in dlls.files.iter().enumerate() {
            let is_loaded = match file.content {
                DllContent::Pe(facts, _) => facts.kind == PeKind::Library,
                DllContent::ImportLibrary(_) => false,
                DllContent::Link => true,
            };
            if is_loaded {
                dlls.by_name.entry(file.name()).or_default().push(number);
            }
            let imports = file.imports().into_iter();
            let at_start = imports.filter(|import| !import.delayed);
            dlls.loaded.extend(at_start.map(|import| import.library.to_ascii_lowercase()));
        }
        dlls
    }

    /// All files, numbered.
    pub fn files(&self) -> &[Dll<'a>] {
        &self.files
    }

    /// Numbers of the libraries and links with this name, in any case of letters.
    pub fn numbers_of(&self, library: &str) -> &[usize] {
        self.by_name.get(&library.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a fault of a file's imports is certain to show: the file is a program, a
    /// Python module, or loaded by another file. Others are plugins, which a program can do
    /// without.
    pub fn is_certain(&self, file: &Dll<'_>) -> bool {
        let name = file.name();
        let is_started = match file.content {
            DllContent::Pe(facts, _) => {
                facts.kind == PeKind::Program || name.strip_suffix(".pyd").is_some()
            }
            DllContent::ImportLibrary(_) | DllContent::Link => false,
        };
        is_started || self.loaded.contains(&name)
    }

    /// Returns the fault of an import of `file`. `is_elsewhere` decides on libraries outside of
    /// these files, and skips their symbols.
    pub fn fault(
        &self,
        file: &Dll<'_>,
        import: &DllImport<'a>,
        is_elsewhere: &dyn Fn(&str) -> bool,
    ) -> Option<DllFault<'a>> {
        if is_elsewhere(import.library) {
            return None;
        }
        let machine = file.machine();
        let [first, ..] = self.numbers_of(import.library) else { return Some(DllFault::Missing) };
        let mut fitting = self.fitting(import.library, machine).peekable();
        if fitting.peek().is_none() {
            return self.files[*first].machine().map(DllFault::OtherMachine);
        }
        // An unreadable table can have any symbol.
        let tables: Option<Vec<&Exports>> = fitting.map(Dll::exports).collect();
        let tables = tables?;
        let is_undefined =
            |symbol: &&PeSymbol| !tables.iter().any(|exports| exports.defines(symbol));
        let undefined: Vec<&PeSymbol> = import.symbols.iter().filter(is_undefined).collect();
        if !undefined.is_empty() {
            return Some(DllFault::Undefined(undefined));
        }
        import.symbols.iter().find_map(|symbol| {
            let ends =
                |exports: &&Exports| self.leads_nowhere(machine, exports, symbol, is_elsewhere, 0);
            let nowhere: Option<Vec<String>> =
                tables.iter().filter(|exports| exports.defines(symbol)).map(ends).collect();
            Some(DllFault::Forwarded(symbol, nowhere?.into_iter().next()?))
        })
    }

    fn fitting(&self, library: &str, machine: Option<Machine>) -> impl Iterator<Item = &Dll<'a>> {
        let named = self.numbers_of(library).iter().map(|number| &self.files[*number]);
        named.filter(move |other| other.machine() == machine)
    }

    /// Returns the last forwarder, if no DLL has its function.
    fn leads_nowhere(
        &self,
        machine: Option<Machine>,
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
        let mut fitting = self.fitting(&forwarder.library, machine).peekable();
        if fitting.peek().is_none() || depth == MOST_FORWARDERS {
            return Some(place);
        }
        let mut nowhere = Some(place);
        for other in fitting {
            let (exports, symbol) = (other.exports()?, &forwarder.symbol);
            if exports.defines(symbol) {
                nowhere = self.leads_nowhere(machine, exports, symbol, is_elsewhere, depth + 1);
                nowhere.as_ref()?;
            }
        }
        nowhere
    }
}
