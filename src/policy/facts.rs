//! The facts that policies judge an ELF file by.

use super::is_forbidden_somewhere;
use crate::elf::{self, ElfError, ElfFacts, ElfInfo, ReadAt};

/// The facts of `file`, with the symbols that some policy forbids; `None` when it is not ELF at all.
///
/// # Errors
/// As [`elf::facts`].
pub fn facts(file: &(impl ReadAt + ?Sized)) -> Result<Option<ElfFacts>, ElfError> {
    match elf::inspect(file) {
        Ok(info) => facts_of(&info, file).map(Some),
        Err(ElfError::NotElf) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same of a file that was inspected.
///
/// # Errors
/// As [`ElfInfo::facts`].
pub fn facts_of(info: &ElfInfo, file: &(impl ReadAt + ?Sized)) -> Result<ElfFacts, ElfError> {
    let mut facts = info.facts()?;
    let is_forbidden =
        |symbol: &str| facts.needed.iter().any(|library| is_forbidden_somewhere(library, symbol));
    let strong = info.imports(file).into_iter().filter(|import| !import.weak);
    facts.forbidden = strong.map(|import| import.name).filter(|name| is_forbidden(name)).collect();
    Ok(facts)
}
