//! Symbols of Python in abi3 wheels, for verify and audit alike.

use crate::finding::{Finding, listed};
use base::source::Code;
use binary::dlls::Dll;
use binary::pe::PeSymbol;
use binary::systems::PythonTags;
use binary::systems::stable_abi::{AbiFault, Release, faults};

const NAMED: usize = 3;

/// Judges the symbols of Python that a file of a wheel with these tags imports.
pub(crate) fn findings<'s>(
    python: &PythonTags<'_>,
    symbols: impl IntoIterator<Item = &'s str>,
) -> Vec<Finding> {
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
        let what = "module of an abi3 wheel with functions outside of the stable ABI";
        Finding::error(Code::StableAbi, what).because(listed(&outside, NAMED))
    });
    let later = (!later.is_empty()).then(|| {
        let what = format!(
            "module of a wheel for Python {} and later with functions of Python {}",
            shown(oldest),
            shown(newest)
        );
        Finding::error(Code::StableAbi, what).because(listed(&later, NAMED))
    });
    outside.into_iter().chain(later).collect()
}

/// Symbols that a PE file imports from the interpreter.
pub(crate) fn of_dll(dll: &Dll) -> impl Iterator<Item = &str> {
    let python = dll.imports.iter().filter(|it| it.library.eq_ignore_ascii_case("python3.dll"));
    python.flat_map(|import| &import.symbols).filter_map(|symbol| match symbol {
        PeSymbol::Name(name) => Some(name.as_str()),
        PeSymbol::Ordinal(_) => None,
    })
}

fn shown((major, minor): Release) -> String {
    format!("{major}.{minor}")
}
