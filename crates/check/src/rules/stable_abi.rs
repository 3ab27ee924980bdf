//! Symbols of Python that modules of abi3 wheels import.

use base::source::Code;
use binary::pe::{PeSymbol, PeSymbols};
use binary::policy::SymbolSet;
use binary::systems::PythonTags;
use binary::systems::stable_abi::{AbiFault, Release, faults, newest};

use super::symbols::{list, of_set};
use crate::systems::MessageNames;
use crate::{Finding, Needs, Package, Set, Symbols};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let symbols = of_set(set);
    let findings = set.binaries().flat_map(|(package, file, needs)| {
        let findings = of_symbols(&package.python(), of_file(&symbols, needs)).into_iter();
        findings.map(|finding| finding.of(&*file.member).within(&package.file))
    });
    findings.collect()
}

/// Oldest Python with all functions of the stable ABI that a file of an abi3 wheel uses, and the file.
pub(crate) fn needs(package: &Package<'_>, all: &SymbolSet<'_>) -> Vec<(Release, String)> {
    if package.python().stable_abi().is_none() {
        return Vec::new();
    }
    let names = MessageNames::new(package);
    let files = package
        .binaries()
        .filter_map(|(file, needs)| Some((newest(of_file(all, needs))?, names.of(file))));
    files.collect()
}

fn of_file<'n>(all: &SymbolSet<'_>, needs: &'n Needs<'_>) -> Vec<&'n str> {
    match needs.symbols.get() {
        Some(Symbols::Elf(symbols)) => all.of_python(symbols),
        Some(Symbols::Pe(symbols)) => stable_abi_functions(symbols).collect(),
        None => Vec::new(),
    }
}

/// Returns the functions that a PE file imports from the DLL of the stable ABI.
fn stable_abi_functions(symbols: &PeSymbols) -> impl Iterator<Item = &str> {
    let python = symbols.imports.iter().filter(|it| it.library.eq_ignore_ascii_case("python3.dll"));
    python.flat_map(|import| &import.symbols).filter_map(|symbol| match symbol {
        PeSymbol::Name(name) => Some(name.as_str()),
        PeSymbol::Ordinal(_) => None,
    })
}

fn of_symbols(python: &PythonTags<'_>, symbols: Vec<&str>) -> Vec<Finding> {
    let Some(oldest) = python.stable_abi() else { return Vec::new() };
    let (mut outside, mut later, mut newest) = (Vec::new(), Vec::new(), oldest);
    for fault in faults(symbols, oldest) {
        match fault {
            AbiFault::Outside(symbol) => outside.push(symbol),
            AbiFault::Later(symbol, release) => {
                later.push(symbol);
                newest = newest.max(release);
            }
        }
    }
    let outside = (!outside.is_empty()).then(|| {
        let message = "module of an abi3 wheel with functions outside of the stable ABI";
        Finding::error(Code::StableAbi, message).because(list(&outside))
    });
    let later = (!later.is_empty()).then(|| {
        let ((major, minor), (newer, newer_minor)) = (oldest, newest);
        let message = format!(
            "module of a wheel for Python {major}.{minor} and later with functions of Python \
             {newer}.{newer_minor}"
        );
        Finding::error(Code::StableAbi, message).because(list(&later))
    });
    outside.into_iter().chain(later).collect()
}
