//! Undefined symbols of ELF files with a complete set of libraries.

use base::source::Code;
use binary::policy::SymbolSet;

use crate::{Finding, Set};

/// Symbols that a finding names, because a file can lack thousands.
const SHOWN: usize = 3;

/// Symbols of the files that a loader loads.
pub(crate) fn of_set<'s>(set: &'s Set<'_>) -> SymbolSet<'s> {
    SymbolSet::new(set.binaries().filter_map(|(_, _, needs)| needs.elf_symbols()))
}

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let defined = of_set(set);
    let files = set.binaries().filter_map(|(package, file, needs)| {
        let missing = defined.unresolved(needs.elf_symbols()?);
        let message = "neither the packages nor the system define symbols of a file";
        let finding = (!missing.is_empty())
            .then(|| Finding::error(Code::UnresolvedSymbol, message).because(list(&missing)))?;
        Some(finding.of(&*file.member).within(&package.file))
    });
    files.collect()
}

/// Lists the first few symbols, and the number of the others.
pub(super) fn list(symbols: &[String]) -> String {
    let mut parts: Vec<String> =
        symbols.iter().take(SHOWN).map(|symbol| format!("`{symbol}`")).collect();
    if symbols.len() > SHOWN {
        parts.push(format!("{} more", symbols.len() - SHOWN));
    }
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}
