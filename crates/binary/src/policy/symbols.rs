//! Undefined symbols of installed files, and libraries of which a file uses none.
//!
//! A finding blocks a release, so it must be certain. Any file of the set can define a symbol:
//! plugins use symbols of their program without a NEEDED entry. An unread library may define
//! anything.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Serialize;

use super::Architecture;
use super::python_process::is_in_every_process;
use crate::elf::{ElfFacts, ElfInfo, Import, ReadAt};
use crate::systems::stable_abi::is_python;

/// Libraries with versions for all symbols.
const VERSIONED: &[&str] = &[
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libutil.so",
    "libanl.so",
    "libresolv.so",
    "libnsl.so",
    "libmvec.so",
    "libgcc_s.so",
    "libatomic.so",
    "libstdc++.so",
    "ld-linux",
    "ld64.so",
];

/// Initialization function of an extension module (PEP 489).
const MODULE: &[u8] = b"PyInit_";

/// A file with this in NEEDED does not rely on its loader for symbols.
const LIBC: &str = "libc.so.6";

/// Defined and imported symbols.
#[derive(Debug, Clone)]
pub struct Symbols {
    architecture: Architecture,
    names: Vec<String>,
    needed: Vec<String>,
    /// Sorted hashes, since a set can have millions of symbols.
    defined: Vec<u64>,
    /// Without symbols that every Python has.
    wanted: Vec<Import>,
    /// Imports with names of Python's.
    python: Vec<String>,
    /// Hashes of the names of all imports.
    imported: Vec<u64>,
    is_module: bool,
}

/// Undefined symbols of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unresolved {
    /// File.
    pub file: String,
    /// `name`, or `name@version of library`.
    pub symbols: Vec<String>,
}

/// Needed libraries of a file of which it uses no symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unused {
    /// File.
    pub file: String,
    /// Names in its NEEDED entries.
    pub libraries: Vec<String>,
}

impl Symbols {
    /// `None` if the host does not load the file.
    pub fn of(
        info: &ElfInfo,
        facts: &ElfFacts,
        path: &str,
        file: &(impl ReadAt + ?Sized),
    ) -> Option<Self> {
        let architecture =
            Architecture::of(facts.machine).filter(|_| facts.kind.runs_on_hosts())?;
        let file_name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let (mut defined, mut is_module) = (Vec::new(), false);
        info.exports(file, |export| {
            is_module |= export.name.starts_with(MODULE);
            let version = export.version.unwrap_or_default();
            defined.extend([hash(export.name, None), hash(export.name, Some(version))]);
        });
        defined.sort_unstable();
        let loaded = facts.kind.is_library();
        let is_provided = |import: &Import| {
            loaded && import.version.is_none() && is_in_every_process(&import.name)
        };
        let imports = info.imports(file);
        let python = imports.iter().filter(|i| !i.weak && is_python(&i.name));
        Some(Self {
            architecture,
            names: facts.soname.iter().cloned().chain([file_name]).collect(),
            needed: facts.needed.clone(),
            defined,
            python: python.map(|import| import.name.clone()).collect(),
            imported: imports.iter().map(|import| hash(import.name.as_bytes(), None)).collect(),
            wanted: imports.into_iter().filter(|i| !is_provided(i)).collect(),
            is_module,
        })
    }

    /// Imported symbols, without those that every Python has.
    pub fn imports(&self) -> &[Import] {
        &self.wanted
    }

    /// Returns whether Python can import the file.
    pub fn is_module(&self) -> bool {
        self.is_module
    }
}

/// The empty version matches every version.
fn hash(name: &[u8], version: Option<&[u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, version).hash(&mut hasher);
    hasher.finish()
}

/// Symbols of files installed together.
#[derive(Debug, Default)]
pub struct SymbolSet<'s> {
    defined: HashSet<(Architecture, u64)>,
    /// By machine and name, which files can share.
    files: BTreeMap<(Architecture, &'s str), Vec<&'s Symbols>>,
}

impl<'s> SymbolSet<'s> {
    /// Indexes the files.
    pub fn new(files: impl IntoIterator<Item = &'s Symbols>) -> Self {
        let mut set = Self::default();
        for file in files {
            set.defined.extend(file.defined.iter().map(|hash| (file.architecture, *hash)));
            for name in &file.names {
                set.files.entry((file.architecture, name)).or_default().push(file);
            }
        }
        set
    }

    /// Symbols that a file imports and no file defines.
    pub fn unresolved(&self, file: &Symbols) -> Vec<String> {
        let missing: Vec<&Import> =
            file.wanted.iter().filter(|i| !i.weak && self.is_unresolved(file, i)).collect();
        let closed = missing.iter().any(|i| i.version.is_none()) && self.is_closed(file);
        let certain = |import: &&&Import| match &import.version {
            Some((_, library)) => self.files.contains_key(&(file.architecture, library)),
            None => closed,
        };
        missing.iter().filter(certain).map(|import| describe(import)).collect()
    }

    /// Symbols of Python that a file imports, except those that the set defines; empty if a library
    /// outside of the set could define them.
    pub fn of_python<'f>(&self, file: &'f Symbols) -> Vec<&'f str> {
        // The interpreter loads a module, also one without a C library in NEEDED.
        let is_loaded = self.loads(file).is_some_and(|linked| linked || file.is_module);
        if file.python.is_empty() || !is_loaded {
            return Vec::new();
        }
        let is_missing = |name: &&String| {
            !self.defined.contains(&(file.architecture, hash(name.as_bytes(), None)))
        };
        file.python.iter().filter(is_missing).map(String::as_str).collect()
    }

    /// Needed libraries of the set that define none of the file's imports. A file without imports
    /// is another name of what it needs.
    pub fn unused(&self, file: &Symbols) -> Vec<String> {
        let serves = |library: &Symbols| {
            file.imported.iter().any(|import| library.defined.binary_search(import).is_ok())
        };
        let is_unused = |library: &&String| {
            let files = self.files.get(&(file.architecture, library.as_str()));
            files.is_some_and(|files| !files.iter().any(|library| serves(library)))
        };
        let needed = file.needed.iter().filter(|_| !file.imported.is_empty());
        needed.filter(is_unused).cloned().collect()
    }

    fn is_unresolved(&self, file: &Symbols, import: &Import) -> bool {
        let is_defined = |version: Option<&[u8]>| {
            self.defined.contains(&(file.architecture, hash(import.name.as_bytes(), version)))
        };
        match &import.version {
            Some((version, _)) => !is_defined(Some(version.as_bytes())) && !is_defined(Some(b"")),
            None => !is_defined(None),
        }
    }

    /// True if all loaded libraries are known, and the file does not rely on its loader for symbols.
    fn is_closed(&self, file: &Symbols) -> bool {
        self.loads(file) == Some(true)
    }

    /// Returns whether a C library is loaded; `None` unless all loaded libraries belong to the set
    /// or version all their symbols.
    fn loads(&self, file: &Symbols) -> Option<bool> {
        let (mut visited, mut next) = (BTreeSet::new(), vec![file.needed.as_slice()]);
        let mut linked = false;
        while let Some(needed) = next.pop() {
            for library in needed {
                linked |= library == LIBC;
                if !visited.insert(library.as_str()) {
                    continue;
                }
                match self.files.get(&(file.architecture, library)) {
                    Some(more) => next.extend(more.iter().map(|file| file.needed.as_slice())),
                    None if is_versioned(library) => {}
                    None => return None,
                }
            }
        }
        Some(linked)
    }
}

/// Matches `libc.so.6`, but not musl's `libc.so`.
fn is_versioned(library: &str) -> bool {
    VERSIONED
        .iter()
        .any(|name| library.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '-'])))
}

fn describe(Import { name, version, .. }: &Import) -> String {
    match version {
        Some((version, library)) => format!("{name}@{version} of {library}"),
        None => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::stub::StubMachine;

    fn library(name: &str, needed: &[&str], defined: &[&str], wanted: &[&str]) -> Symbols {
        let parted = |text: &str| {
            let (name, version) = text.split_once('@')?;
            Some((name.to_owned(), version.to_owned()))
        };
        let hashes = |text: &&str| {
            let (name, version) =
                parted(text).unwrap_or_else(|| ((*text).to_owned(), String::new()));
            [hash(name.as_bytes(), None), hash(name.as_bytes(), Some(version.as_bytes()))]
        };
        let import = |text: &&str| {
            let version = parted(text).and_then(|(_, rest)| {
                rest.split_once(':').map(|(v, l)| (v.to_owned(), l.to_owned()))
            });
            let name = text.split('@').next().unwrap_or_default().to_owned();
            Import { name, version, weak: false }
        };
        let mut defined: Vec<u64> = defined.iter().flat_map(hashes).collect();
        defined.sort_unstable();
        Symbols {
            architecture: StubMachine::X86_64.into(),
            names: vec![name.to_owned()],
            needed: needed.iter().map(|name| (*name).to_owned()).collect(),
            defined,
            python: Vec::new(),
            imported: wanted.iter().map(|text| hash(import(text).name.as_bytes(), None)).collect(),
            wanted: wanted.iter().map(import).collect(),
            is_module: false,
        }
    }

    fn unresolved(files: &[Symbols]) -> Vec<String> {
        let set = SymbolSet::new(files);
        files.iter().flat_map(|file| set.unresolved(file)).collect()
    }

    #[test]
    fn reports_undefined_symbols() {
        let user = library("user.so", &["liba.so", "libc.so.6"], &[], &["one", "two"]);
        let a = library("liba.so", &["libstdc++.so.6"], &["one"], &[]);
        assert_eq!(unresolved(&[user.clone(), a]), ["two"]);
        let elsewhere = library("host", &[], &["one", "two"], &[]);
        let a = library("liba.so", &[], &[], &[]);
        assert!(unresolved(&[user, a, elsewhere]).is_empty(), "of a program that loads it");
    }

    #[test]
    fn ignores_symbols_with_unread_libraries() {
        let user = library("user.so", &["liba.so", "libc.so.6"], &[], &["one"]);
        assert!(unresolved(std::slice::from_ref(&user)).is_empty(), "liba.so is not there");
        let a = library("liba.so", &["libX11.so.6"], &[], &[]);
        assert!(unresolved(&[user, a]).is_empty(), "libX11 has symbols without versions");
        let plugin = library("plugin.so", &[], &[], &["host_function"]);
        let musl = library("m.so", &["libc.so"], &[], &["malloc"]);
        assert!(unresolved(&[plugin, musl]).is_empty(), "of who loads it; of musl");
    }

    #[test]
    fn compares_versions_of_present_libraries() {
        let wants =
            ["f@V2:liba.so", "g@V1:liba.so", "h@V1:libelse.so", "free@GLIBC_2.2.5:libc.so.6"];
        let user = library("user.so", &["liba.so", "libc.so.6"], &[], &wants);
        let a = library("liba.so", &["libc.so.6"], &["f@V1", "g"], &[]);
        assert_eq!(unresolved(&[user, a]), ["f@V2 of liba.so"]);
    }

    #[test]
    fn a_library_without_a_used_symbol_is_unused() {
        let user =
            library("user.so", &["liba.so", "libb.so", "libc.so.6"], &[], &["one@V1:liba.so"]);
        let a = library("liba.so", &["libb.so"], &["one@V1"], &[]);
        let b = library("libb.so", &[], &["two"], &[]);
        let files = [user, a, b];
        let set = SymbolSet::new(&files);
        assert_eq!(set.unused(&files[0]), ["libb.so"]);
        assert!(set.unused(&files[1]).is_empty(), "without imports, it is another name of libb");
    }

    #[test]
    fn terminates_on_dependency_cycles() {
        let a = library("liba.so", &["libb.so", "libc.so.6"], &[], &["x"]);
        let b = library("libb.so", &["liba.so"], &[], &[]);
        assert_eq!(unresolved(&[a, b]), ["x"]);
    }
}
