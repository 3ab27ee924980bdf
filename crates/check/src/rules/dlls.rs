//! Imports of PE files: each DLL must be in the set, in Windows or in the interpreter, with the imported functions.

use std::collections::BTreeSet;

use base::source::Code;
use binary::Machine;
use binary::loader::{Dll, DllContent, DllFault, Dlls};
use binary::systems::PythonTags;
use binary::systems::windows::{Provider, provider};

use super::symbols::list;
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
    is_certain: bool,
}

/// Finds DLLs that are nowhere, and functions that the DLLs of the set lack.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let packages = set.packages.iter().enumerate();
    let files = packages.flat_map(|(owner, package)| {
        package.files.iter().filter_map(move |file| {
            Some(Dll { owner, path: &file.member, content: content(file)? })
        })
    });
    let dlls = Dlls::new(files.collect());
    if dlls.files().is_empty() {
        return Vec::new();
    }
    let files = set.packages.iter().flat_map(|package| &package.files);
    let names: BTreeSet<String> = files.map(|file| file.name().to_ascii_lowercase()).collect();
    let distributions = set.packages.iter().filter_map(|package| package.name.as_deref());
    let distributions: BTreeSet<&str> = distributions.collect();
    let mut findings = Vec::new();
    for dll in dlls.files() {
        let package = &set.packages[dll.owner];
        let (python, is_whole) = (package.python(), is_whole(package, &distributions));
        let is_provided_outside = |library: &str| {
            !is_foreign(library, &python)
                && (set.environment.on_system(library)
                    || provider(library, &python).is_some_and(Provider::is_certain))
        };
        for import in dll.imports() {
            let library = import.library;
            let Some(fault) = dlls.fault(dll, &import, &is_provided_outside) else { continue };
            // The file with this name is no PE file, so its exports are unknown.
            if fault == DllFault::Missing && names.contains(&library.to_ascii_lowercase()) {
                continue;
            }
            let is_certain = !import.delayed && dlls.is_certain(dll);
            let finding = Import { library, python, is_whole, is_certain }.finding(fault);
            findings.push(finding.of(dll.path).to(library).within(&package.file));
        }
    }
    findings
}

fn content<'f>(file: &'f File<'_>) -> Option<DllContent<'f>> {
    match &file.kind {
        Kind::Binary(needs) => Some(DllContent::Pe(needs.pe()?, needs.pe_symbols())),
        Kind::ImportLibrary(library) => Some(DllContent::ImportLibrary(library)),
        _ => None,
    }
}

/// Returns whether all requirements without an extra are in a set with these names. Other markers are not evaluated: a
/// requirement for another system makes the set incomplete, so that a missing DLL gives a warning, not an error.
fn is_whole(package: &Package<'_>, names: &BTreeSet<&str>) -> bool {
    let always = package.requires.iter().filter(|requirement| requirement.of_extras.is_empty());
    always.into_iter().all(|requirement| names.contains(&*requirement.name))
}

/// Returns whether a DLL belongs to another interpreter than the wheel's.
fn is_foreign(library: &str, python: &PythonTags<'_>) -> bool {
    python.has_dll(&library.to_ascii_lowercase()) == Some(false)
}

/// Returns whether a name is of a copy that delvewheel added to a wheel: no other package has this DLL.
fn is_private(library: &str) -> bool {
    let stem = library.rsplit_once('.').map_or(library, |(stem, _)| stem);
    stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

impl Import<'_> {
    fn finding(&self, fault: DllFault<'_>) -> Finding {
        let library = self.library;
        match fault {
            DllFault::Missing => self.missing(),
            DllFault::OtherMachine(machine) => {
                let machine = match machine {
                    Machine::X86_64 => "x86-64".to_owned(),
                    Machine::Aarch64 => "aarch64".to_owned(),
                    Machine::Other { number, .. } => format!("machine {number:#x}"),
                };
                let message =
                    format!("the imported `{library}` is in the packages only for {machine}");
                self.severe(Code::ImportLeadsNowhere, message)
            }
            DllFault::Undefined(symbols) => {
                let message = format!(
                    "the file imports functions that `{library}` in the packages does not export"
                );
                let names: Vec<String> = symbols.iter().map(ToString::to_string).collect();
                self.severe(Code::UnresolvedSymbol, message).because(list(&names))
            }
            DllFault::Forwarded(symbol, to) => {
                let message = format!(
                    "`{library}` in the packages forwards an imported function to a function that no \
                     library exports"
                );
                let finding = self.severe(Code::UnresolvedSymbol, message);
                finding.because(format!("`{symbol}` to `{to}`"))
            }
        }
    }

    fn missing(&self) -> Finding {
        let (library, PythonTags { python, abi }) = (self.library, self.python);
        let warning = |message: String| Finding::warning(Code::ImportLeadsNowhere, message);
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
                let message = format!(
                    "the imported `{library}` belongs to another Python than the wheel's {python}-{abi}"
                );
                self.severe(Code::ForeignExtension, message)
            }
            _ if !self.is_whole && !is_private(library) => warning(format!(
                "the imported `{library}` is in none of these packages and not in the system; a required \
                 package that is not here may have it"
            )),
            _ => {
                let message =
                    format!("neither the packages nor the system have the imported `{library}`");
                self.severe(Code::ImportLeadsNowhere, message)
            }
        }
    }

    fn severe(&self, code: Code, message: String) -> Finding {
        if self.is_certain {
            Finding::error(code, message)
        } else {
            Finding::warning(code, message)
        }
    }
}
