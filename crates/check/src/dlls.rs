//! Imports of PE files: each DLL must be in the set, in Windows or in the interpreter, with the
//! imported functions.

use std::collections::BTreeSet;

use crate::finding::{Finding, listed};
use crate::stable_abi;
use base::source::Code;
use binary::Machine;
use binary::dlls::{Dll, DllFault, Dlls};
use binary::pe::{PeImport, PeSymbol};
use binary::systems::PythonTags;
use binary::systems::windows::{Provider, provider};
use wheel::package::Requirement;

const NAMED: usize = 3;

/// PE files of one package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Package<'p> {
    /// File of the package.
    pub file: &'p str,
    /// Tags of its interpreter.
    pub python: PythonTags<'p>,
    /// Whether all packages that it requires are in the set.
    pub is_whole: bool,
    /// PE files and import libraries.
    pub dlls: &'p [Dll],
}

/// Finds faults in each package of a set. `others` are names of further files of the set, with
/// unknown content; `on_system` decides on further libraries of users' systems.
pub(crate) fn findings(
    packages: &[Package<'_>],
    others: &BTreeSet<String>,
    on_system: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let all = Dlls::new(packages.iter().flat_map(|package| package.dlls));
    let of = |package: &Package<'_>| {
        let mut found = Vec::new();
        for dll in package.dlls {
            let elsewhere = |library: &str| {
                on_system(library)
                    || provider(library, &package.python).is_some_and(Provider::is_certain)
            };
            let abi = stable_abi::findings(&package.python, stable_abi::of_dll(dll));
            found.extend(abi.into_iter().map(|it| it.of(&*dll.path).within(package.file)));
            for import in &dll.imports {
                let Some(fault) = all.fault(dll, import, &elsewhere) else { continue };
                let is_there = others.contains(&import.library.to_ascii_lowercase());
                if fault == DllFault::Missing && is_there {
                    continue;
                }
                let at_start = !import.delayed && all.is_certain(dll);
                let finding = finding(package, import, at_start, &fault);
                found.push(finding.of(&*dll.path).to(&*import.library).within(package.file));
            }
        }
        found
    };
    packages.iter().flat_map(of).collect()
}

/// Returns whether all unconditional requirements are in a set with these names.
pub(crate) fn is_whole(requires: &[Requirement], names: &BTreeSet<&str>) -> bool {
    requires.iter().filter(|it| it.of_extras.is_empty()).all(|it| names.contains(&*it.name))
}

/// Returns whether the name has the hash that delvewheel gives to the copies in a wheel: no other
/// package has this DLL.
fn is_private(library: &str) -> bool {
    let stem = library.rsplit_once('.').map_or(library, |(stem, _)| stem);
    stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn finding(
    package: &Package<'_>,
    import: &PeImport,
    at_start: bool,
    fault: &DllFault<'_>,
) -> Finding {
    let library = &import.library;
    match fault {
        DllFault::Missing => missing(package, import, at_start),
        DllFault::OtherMachine(other) => {
            let machine = match other.machine {
                Machine::X86_64 => "x86-64".to_owned(),
                Machine::Aarch64 => "aarch64".to_owned(),
                Machine::Other { number, .. } => format!("machine {number:#x}"),
            };
            let what = format!("the imported `{library}` is in the packages only for {machine}");
            severe(at_start, Code::ImportLeadsNowhere, what)
        }
        DllFault::Undefined(symbols) => {
            let what =
                format!("the imported `{library}` of the packages lacks functions of a file");
            severe(at_start, Code::UnresolvedSymbol, what).because(named(symbols))
        }
        DllFault::Forwarded(symbol, to) => {
            let what = format!(
                "the imported `{library}` of the packages forwards a function to one that no \
                 library has"
            );
            severe(at_start, Code::UnresolvedSymbol, what).because(format!("`{symbol}` to `{to}`"))
        }
    }
}

fn missing(package: &Package<'_>, import: &PeImport, at_start: bool) -> Finding {
    let (library, code) = (&import.library, Code::ImportLeadsNowhere);
    let warning = |what: String| Finding::warning(code, what);
    let PythonTags { python, abi } = package.python;
    match provider(library, &package.python) {
        Some(Provider::Redistributable) => warning(format!(
            "the packages and Python lack the imported `{library}`: users must install the Visual \
             C++ Redistributable"
        )),
        Some(Provider::Driver) => warning(format!(
            "the packages lack the imported `{library}`: users must install the driver of a device"
        )),
        _ if package.python.has_dll(&library.to_ascii_lowercase()) == Some(false) => {
            let what = format!("the imported `{library}` is of another Python than {python}-{abi}");
            severe(at_start, Code::ForeignExtension, what)
        }
        _ if !package.is_whole && !is_private(library) => warning(format!(
            "neither the packages nor the system have the imported `{library}`, unless it is in a \
             required package that is not here"
        )),
        _ => severe(
            at_start,
            code,
            format!("neither the packages nor the system have the imported `{library}`"),
        ),
    }
}

/// A delay import fails at its first call only, and a plugin's only where it is used.
fn severe(at_start: bool, code: Code, what: String) -> Finding {
    if at_start { Finding::error(code, what) } else { Finding::warning(code, what) }
}

fn named(symbols: &[&PeSymbol]) -> String {
    let names: Vec<String> = symbols.iter().map(|symbol| symbol.to_string()).collect();
    listed(&names, NAMED)
}
