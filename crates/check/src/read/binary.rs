use std::borrow::Cow;

use ::binary::BinaryError;
use ::binary::elf::{self, ElfError, ElfInfo, ReadAt};
use ::binary::pe::{self, import_library};
use ::binary::policy::{self, forbidden};

use crate::{Facts, Kind, Known, Needs, Symbols, Why};

pub(super) fn archive(file: &(impl ReadAt + ?Sized)) -> Kind<'static> {
    match import_library(file) {
        Ok(Some(library)) => Kind::ImportLibrary(Box::new(library)),
        Ok(None) => Kind::Data,
        Err(error) => Kind::BrokenImportLibrary(base::text::with_causes(&error).into()),
    }
}

pub(super) fn binary(name: &str, file: &(impl ReadAt + ?Sized)) -> Kind<'static> {
    let broken =
        |error: BinaryError| Kind::Broken(error.format(), base::text::with_causes(&error).into());
    // Tables of unusual processors are no fault of a file.
    let read = elf::inspect_any(file).and_then(|info| read_elf(name, &info, file));
    let read = read.or_else(|_| elf::inspect(file).and_then(|info| read_elf(name, &info, file)));
    match read {
        Ok(needs) => Kind::Binary(Box::new(needs)),
        Err(ElfError::NotElf) => match pe::facts(file) {
            Ok(Some(facts)) => Kind::Binary(Box::new(Needs {
                facts: Facts::Pe(Cow::Owned(facts)),
                symbols: pe_symbols(file),
                flags: Known::Unknown(Why::NoFact),
            })),
            Ok(None) => Kind::Data,
            Err(error) => broken(error.into()),
        },
        Err(error) => broken(error.into()),
    }
}

/// Damaged tables are no fault of a file that loads: they can have any symbol.
fn pe_symbols(file: &(impl ReadAt + ?Sized)) -> Known<Symbols> {
    match pe::symbols(file) {
        Ok(Some(symbols)) => Known::Is(Symbols::Pe(symbols)),
        Ok(None) => Known::Unknown(Why::NoFact),
        Err(_) => Known::Unknown(Why::Broken),
    }
}

fn read_elf(
    name: &str,
    info: &ElfInfo,
    file: &(impl ReadAt + ?Sized),
) -> Result<Needs<'static>, ElfError> {
    let mut facts = info.facts()?;
    let symbols = policy::Symbols::of(info, &facts, name, file);
    if let Some(symbols) = &symbols {
        facts.forbidden = forbidden(&facts, symbols.imports());
    }
    Ok(Needs {
        facts: Facts::Elf(Cow::Owned(facts)),
        symbols: symbols.map_or(Known::Unknown(Why::NoFact), |it| Known::Is(Symbols::Elf(it))),
        flags: Known::Is(info.flags()),
    })
}
