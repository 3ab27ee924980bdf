use std::borrow::Cow;
use std::io;

use ::binary::BinaryError;
use ::binary::elf::forward::forwarding_library;
use ::binary::elf::stub::{StubMachine, stub_target};
use ::binary::elf::{self, ElfError, ElfInfo, ReadAt};
use ::binary::pe::{self, import_library};
use ::binary::policy::{self, forbidden};

use crate::{Facts, Kind, Known, Made, Needs, Symbols, Why};

/// Limit in bytes of a file that is compared with generated ones. Stubs and forwarding libraries have a
/// few KiB, so larger files are not read into memory.
const LARGEST_MADE: u64 = 64 << 10;

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
    match elf::read_any(file, |info| read_elf(name, info, file)) {
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

/// Reads the symbols of a PE file. Damaged symbol tables make them unknown, not the file broken: Windows
/// can still load it.
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

/// Reads an ELF file for a comparison, which shows no symbols. A file that cannot be read as ELF counts
/// as data, because only its bytes are compared.
pub(super) fn elf_for_comparison(file: &dyn ReadAt) -> Kind<'static> {
    let Ok(Some(facts)) = elf::facts(file) else { return Kind::Data };
    Kind::Binary(Box::new(Needs {
        facts: Facts::Elf(Cow::Owned(facts)),
        symbols: Known::Unknown(Why::NoBytes),
        flags: Known::Unknown(Why::NoBytes),
    }))
}

/// Returns the kind of a generated file. A file counts as generated if generating it again from its facts
/// gives the same bytes; otherwise `None`.
pub(super) fn generated(file: &dyn ReadAt, kind: &Kind<'_>) -> io::Result<Option<Made>> {
    let len = file.len()?;
    if len > LARGEST_MADE {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    file.read_exact_at(0, &mut bytes)?;
    if let Some((machine, target)) = stub_target(&bytes) {
        return Ok(Some(Made::Stub(machine, target)));
    }
    let Kind::Binary(needs) = kind else { return Ok(None) };
    let Some(facts) = needs.elf() else { return Ok(None) };
    let (Some(soname), [needed], Some(rpath), Some(machine)) =
        (&facts.soname, &facts.needed[..], &facts.rpath, StubMachine::of(facts.machine))
    else {
        return Ok(None);
    };
    let made = forwarding_library(machine, soname, needed, rpath);
    Ok(made.is_ok_and(|made| made == bytes).then_some(Made::Forward(machine)))
}
