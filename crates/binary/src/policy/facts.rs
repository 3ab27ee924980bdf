use super::forbidding_libraries;
use crate::elf::{self, ElfError, ElfFacts, ElfInfo, Import, ReadAt};
use crate::{Binary, BinaryError};

/// Reads like [`crate::read()`], with symbols that any policy forbids.
pub fn facts(file: &(impl ReadAt + ?Sized)) -> Result<Option<Binary>, BinaryError> {
    match elf::read_any(file, |info| facts_of(info, file)) {
        Ok(facts) => Ok(Some(Binary::Elf(Box::new(facts)))),
        Err(ElfError::NotElf) => crate::read(file),
        Err(error) => Err(error.into()),
    }
}

/// Returns [`ElfInfo::facts`] with symbols that any policy forbids.
pub fn facts_of(info: &ElfInfo, file: &(impl ReadAt + ?Sized)) -> Result<ElfFacts, ElfError> {
    let mut facts = info.facts()?;
    facts.forbidden = forbidden(&facts, &info.imports(file));
    Ok(facts)
}

/// Imported symbols that a policy forbids although it allows their library.
pub fn forbidden(facts: &ElfFacts, imports: &[Import]) -> Vec<String> {
    let is_forbidden = |symbol: &str| {
        let libraries = forbidding_libraries(symbol);
        facts.needed.iter().any(|library| libraries.contains(&**library))
    };
    let strong = imports.iter().filter(|import| !import.weak);
    strong.map(|import| &import.name).filter(|name| is_forbidden(name)).cloned().collect()
}
