//! Imports of PE files: each DLL must be in the set, in Windows or in the interpreter, with the imported functions.

use std::collections::BTreeSet;

use base::source::Code;
use binary::Machine;
use binary::dlls::{Dll, DllFault, Dlls};
use binary::pe::PeSymbol;
use binary::systems::PythonTags;
use binary::systems::windows::{Provider, provider};

use super::symbols::named;
use crate::{File, Finding, Kind, Package, Set};

/// Length of the hash that delvewheel adds to a name.
const HASH: usize = 32;

/// Imported DLL with a fault.
struct Import<'i> {
    library: &'i str,
    python: PythonTags<'i>,
    /// All packages that the importing one requires are in the set.
    is_whole: bool,
    /// Certain to fail: not a delay import, which fails at its first call only, and not of a plugin, which a program
    /// can do without.
    at_start: bool,
    fault: DllFault<'i>,
}

/// Finds DLLs that are nowhere.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    each(set, library)
}

/// Finds functions that the DLLs of the set lack.
pub(super) fn functions(set: &Set<'_>) -> Vec<Finding> {
    each(set, of_functions)
}

fn each(set: &Set<'_>, judge: fn(&Import<'_>) -> Option<Finding>) -> Vec<Finding> {
    let files = || set.packages.iter().flat_map(|package| &package.files);
    let dlls: Vec<(&Package<'_>, Dll)> = set
        .packages
        .iter()
        .flat_map(|package| package.files.iter().filter_map(move |it| Some((package, dll(it)?))))
        .collect();
    if dlls.is_empty() {
        return Vec::new();
    }
    let all = Dlls::new(dlls.iter().map(|(_, dll)| dll));
    let names: BTreeSet<String> = files().map(|file| file.name().to_ascii_lowercase()).collect();
    let distributions = set.packages.iter().filter_map(|package| package.name.as_deref());
    let distributions: BTreeSet<&str> = distributions.collect();
    let mut found = Vec::new();
    for (package, dll) in &dlls {
        let (python, is_whole) = (package.python(), is_whole(package, &distributions));
        let elsewhere = |library: &str| {
            !is_foreign(library, &python)
                && (set.environment.on_system(library)
                    || provider(library, &python).is_some_and(Provider::is_certain))
        };
        for import in &dll.imports {
            let library = import.library.as_str();
            let Some(fault) = all.fault(dll, import, &elsewhere) else { continue };
            // The name is of a file in another format, whose exports are unknown.
            if fault == DllFault::Missing && names.contains(&library.to_ascii_lowercase()) {
                continue;
            }
            let at_start = !import.delayed && all.is_certain(dll);
            let finding = judge(&Import { library, python, is_whole, at_start, fault });
            found.extend(
                finding.map(|finding| finding.of(&*dll.path).to(library).within(&package.file)),
            );
        }
    }
    found
}

fn dll(file: &File<'_>) -> Option<Dll> {
    let path = file.member.to_string();
    match &file.kind {
        Kind::Binary(needs) => Some(Dll::new(path, needs.pe()?, needs.pe_symbols().cloned())),
        Kind::ImportLibrary(library) => {
            Some(Dll::import_library(path, library.machine, &library.dlls))
        }
        _ => None,
    }
}

/// Returns whether all unconditional requirements are in a set with these names.
fn is_whole(package: &Package<'_>, names: &BTreeSet<&str>) -> bool {
    let always = package.requires.iter().filter(|requirement| requirement.of_extras.is_empty());
    always.into_iter().all(|requirement| names.contains(&*requirement.name))
}

/// Matches a DLL of an interpreter for which the wheel is not.
fn is_foreign(library: &str, python: &PythonTags<'_>) -> bool {
    python.has_dll(&library.to_ascii_lowercase()) == Some(false)
}

/// Matches the names that delvewheel gives to copies in a wheel: no other package has this DLL.
fn is_private(library: &str) -> bool {
    let stem = library.rsplit_once('.').map_or(library, |(stem, _)| stem);
    stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn library(import: &Import<'_>) -> Option<Finding> {
    let library = import.library;
    match &import.fault {
        DllFault::Missing => Some(import.missing()),
        DllFault::OtherMachine(other) => {
            let machine = match other.machine {
                Machine::X86_64 => "x86-64".to_owned(),
                Machine::Aarch64 => "aarch64".to_owned(),
                Machine::Other { number, .. } => format!("machine {number:#x}"),
            };
            let what = format!("the imported `{library}` is in the packages only for {machine}");
            Some(import.severe(Code::ImportLeadsNowhere, what))
        }
        DllFault::Undefined(_) | DllFault::Forwarded(..) => None,
    }
}

fn of_functions(import: &Import<'_>) -> Option<Finding> {
    let library = import.library;
    match &import.fault {
        DllFault::Undefined(symbols) => {
            let what =
                format!("the imported `{library}` of the packages lacks functions of a file");
            let names: Vec<String> = symbols.iter().map(ToString::to_string).collect();
            Some(import.severe(Code::UnresolvedSymbol, what).because(named(&names)))
        }
        DllFault::Forwarded(symbol, to) => {
            let what = format!(
                "the imported `{library}` of the packages forwards a function to one that no \
                 library has"
            );
            let finding = import.severe(Code::UnresolvedSymbol, what);
            Some(finding.because(format!("`{symbol}` to `{to}`")))
        }
        DllFault::Missing | DllFault::OtherMachine(_) => None,
    }
}

impl Import<'_> {
    fn missing(&self) -> Finding {
        let (library, PythonTags { python, abi }) = (self.library, self.python);
        let warning = |what: String| Finding::warning(Code::ImportLeadsNowhere, what);
        match provider(library, &self.python) {
            Some(Provider::Redistributable) => warning(format!(
                "the packages and Python lack the imported `{library}`: users must install the \
                 Visual C++ Redistributable"
            )),
            Some(Provider::Driver) => warning(format!(
                "the packages lack the imported `{library}`: users must install the driver of a \
                 device"
            )),
            _ if is_foreign(library, &self.python) => {
                let what =
                    format!("the imported `{library}` is of another Python than {python}-{abi}");
                self.severe(Code::ForeignExtension, what)
            }
            _ if !self.is_whole && !is_private(library) => warning(format!(
                "neither the packages nor the system have the imported `{library}`, unless it is \
                 in a required package that is not here"
            )),
            _ => {
                let what =
                    format!("neither the packages nor the system have the imported `{library}`");
                self.severe(Code::ImportLeadsNowhere, what)
            }
        }
    }

    fn severe(&self, code: Code, what: String) -> Finding {
        if self.at_start { Finding::error(code, what) } else { Finding::warning(code, what) }
    }
}

/// Functions that a PE file imports from the DLL of the stable ABI.
pub(super) fn of_python(symbols: &binary::pe::PeSymbols) -> impl Iterator<Item = &str> {
    let python = symbols.imports.iter().filter(|it| it.library.eq_ignore_ascii_case("python3.dll"));
    python.flat_map(|import| &import.symbols).filter_map(|symbol| match symbol {
        PeSymbol::Name(name) => Some(name.as_str()),
        PeSymbol::Ordinal(_) => None,
    })
}
