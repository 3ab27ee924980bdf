//! Import libraries ("PE Format": "Archive (Library) File Format" and "Import Library Format").
//!
//! Members are headers with two names, or in the long form objects. One object has the DLL's name:
//! GNU puts it in `.idata$7`, Microsoft in `.idata$6` with the table entry.

use std::collections::BTreeSet;

use object::archive;
use object::endian::LittleEndian as LE;
use object::pe::{self, ImageFileHeader, ImageSectionHeader, ImportObjectHeader};
use object::pod::{self, Pod};
use object::read::coff::ImportFile;
use serde::{Deserialize, Serialize};

use super::error::PeError;
use super::image::machine;
use crate::{Machine, ReadAt};

/// A library has about one per function.
const MOST_MEMBERS: usize = 1 << 20;
const LARGEST_OBJECT: u64 = 1 << 16;
const LONGEST_NAME: usize = 260;

/// Content of an import library.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportLibrary {
    /// Processor that the library is for.
    pub machine: Machine,
    /// Names of the DLLs, without duplicates.
    pub dlls: Vec<String>,
}

enum ArchiveMember {
    /// Name of a DLL.
    Import(Machine, String),
    /// Any other Windows object.
    Object,
    /// Not a Windows object.
    Other,
}

/// Reads up to the first foreign member; `None` without imports.
pub fn import_library(file: &(impl ReadAt + ?Sized)) -> Result<Option<ImportLibrary>, PeError> {
    let len = file.len().map_err(|source| PeError::Read { what: "the file's length", source })?;
    let archive = Archive { file, len };
    let start = archive::MAGIC.len() as u64;
    if len < start || archive.bytes(0, start, "the signature")? != archive::MAGIC {
        return Ok(None);
    }
    let (mut offset, mut first_machine, mut dlls) = (start, None, BTreeSet::new());
    for _ in 0..MOST_MEMBERS {
        if offset >= len {
            let dlls = dlls.into_iter().collect();
            return Ok(first_machine.map(|machine| ImportLibrary { machine, dlls }));
        }
        let member = archive.member(offset).and_then(|(from, to, special)| {
            let kind =
                if special { ArchiveMember::Object } else { archive.kind(from, to - from)? };
            Ok((kind, to))
        });
        match member {
            Ok((ArchiveMember::Import(machine, dll), end)) => {
                first_machine = first_machine.or(Some(machine));
                dlls.insert(dll);
                offset = end.next_multiple_of(2);
            }
            Ok((ArchiveMember::Object, end)) => offset = end.next_multiple_of(2),
            Ok((ArchiveMember::Other, _)) => return Ok(None),
            Err(error @ PeError::Read { .. }) => return Err(error),
            // An archive of another kind is not an error.
            Err(_) if first_machine.is_none() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Err(PeError::Endless { what: "the archive", offset: start })
}

struct Archive<'r, R: ?Sized> {
    file: &'r R,
    len: u64,
}

impl<R: ReadAt + ?Sized> Archive<'_, R> {
    /// The last value marks symbol and name tables (`/`, `//`).
    fn member(&self, at: u64) -> Result<(u64, u64, bool), PeError> {
        let header: archive::Header = self.record(at, "a member's header")?;
        let wrong = |field, value| PeError::Field { field, offset: at, value };
        if header.terminator != archive::TERMINATOR {
            return Err(wrong("a member's end mark", u16::from_le_bytes(header.terminator).into()));
        }
        let size = std::str::from_utf8(&header.size).ok().and_then(|text| text.trim().parse().ok());
        let size: u64 = size.ok_or_else(|| wrong("a member's size", 0))?;
        let from = at + size_of::<archive::Header>() as u64;
        if size > self.len - from {
            return Err(PeError::Truncated {
                what: "a member",
                offset: from,
                len: size,
                container: "the file",
                end: self.len,
            });
        }
        // `/12` refers to a long name at offset 12.
        let special = header.name[0] == b'/' && !header.name[1].is_ascii_digit();
        Ok((from, from + size, special))
    }

    fn kind(&self, at: u64, size: u64) -> Result<ArchiveMember, PeError> {
        if size < size_of::<ImageFileHeader>() as u64 {
            return Ok(ArchiveMember::Other);
        }
        let short: ImportObjectHeader = self.record(at, "a member")?;
        if short.sig1.get(LE) == pe::IMAGE_FILE_MACHINE_UNKNOWN
            && short.sig2.get(LE) == pe::IMPORT_OBJECT_HDR_SIG2
        {
            // Objects with an extended section table begin with the same signature.
            return if short.version.get(LE) == 0 {
                self.short(at, size, &short)
            } else {
                Ok(ArchiveMember::Object)
            };
        }
        let header: ImageFileHeader = self.record(at, "a member")?;
        match machine(header.machine.get(LE), bits(header.machine.get(LE))) {
            Machine::Other { number, .. } if number != pe::IMAGE_FILE_MACHINE_I386.0 => {
                Ok(ArchiveMember::Other)
            }
            _ if size > LARGEST_OBJECT => Ok(ArchiveMember::Object),
            machine => {
                let name = self.object(at, size, &header)?;
                Ok(name.map_or(ArchiveMember::Object, |name| ArchiveMember::Import(machine, name)))
            }
        }
    }

    fn short(
        &self,
        at: u64,
        size: u64,
        header: &ImportObjectHeader,
    ) -> Result<ArchiveMember, PeError> {
        let len = size_of::<ImportObjectHeader>() as u64 + u64::from(header.size_of_data.get(LE));
        let container = "its member";
        if len > size {
            let (what, end) = ("an import", at + size);
            return Err(PeError::Truncated { what, offset: at, len, container, end });
        }
        if len > LARGEST_OBJECT {
            let field = "the size of an import";
            return Err(PeError::Field { field, offset: at, value: len });
        }
        let bytes = self.bytes(at, len, "an import")?;
        let number = header.machine.get(LE);
        let wrong = || PeError::Name { field: "an import's DLL", offset: at };
        let dll = ImportFile::parse(&*bytes).ok().and_then(|import| name(import.dll()));
        Ok(ArchiveMember::Import(machine(number, bits(number)), dll.ok_or_else(wrong)?))
    }

    fn object(
        &self,
        at: u64,
        size: u64,
        header: &ImageFileHeader,
    ) -> Result<Option<String>, PeError> {
        let first =
            size_of::<ImageFileHeader>() as u64 + u64::from(header.size_of_optional_header.get(LE));
        let each = size_of::<ImageSectionHeader>() as u64;
        let count = u64::from(header.number_of_sections.get(LE));
        if first + count * each > size {
            return Err(PeError::Truncated {
                what: "an object's sections",
                offset: at + first,
                len: count * each,
                container: "its member",
                end: at + size,
            });
        }
        let sections = (0..count)
            .map(|index| self.record::<ImageSectionHeader>(at + first + index * each, "a section"));
        let sections: Vec<ImageSectionHeader> = sections.collect::<Result<_, _>>()?;
        let called = |wanted: &[u8; 8]| sections.iter().find(|section| section.name == *wanted);
        let table = called(b".idata$2").and_then(|_| called(b".idata$6"));
        let Some(section) = called(b".idata$7").or(table) else { return Ok(None) };
        let (from, len) = (section.pointer_to_raw_data.get(LE), section.size_of_raw_data.get(LE));
        // Objects of functions have a reference to another section here.
        if len <= 4 {
            return Ok(None);
        }
        let (from, len) = (u64::from(from), u64::from(len));
        if from + len > size {
            let (what, container) = ("a section", "its member");
            let (offset, end) = (at + from, at + size);
            return Err(PeError::Truncated { what, offset, len, container, end });
        }
        let bytes = self.bytes(at + from, len, "a DLL's name")?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let wrong = PeError::Name { field: "an import's DLL", offset: at + from };
        name(text).ok_or(wrong).map(Some)
    }

    fn record<T: Pod>(&self, offset: u64, what: &'static str) -> Result<T, PeError> {
        let bytes = self.bytes(offset, size_of::<T>() as u64, what)?;
        let record = pod::from_bytes::<T>(&bytes).map(|(record, _)| *record);
        record.map_err(|()| PeError::Truncated {
            what,
            offset,
            len: size_of::<T>() as u64,
            container: "the file",
            end: self.len,
        })
    }

    fn bytes(&self, offset: u64, len: u64, what: &'static str) -> Result<Vec<u8>, PeError> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            let container = "the file";
            return Err(PeError::Truncated { what, offset, len, container, end: self.len });
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = self.file.read_exact_at(offset, &mut bytes);
        read.map_err(|source| PeError::Read { what, source })?;
        Ok(bytes)
    }
}

fn name(bytes: &[u8]) -> Option<String> {
    let good = !bytes.is_empty()
        && bytes.len() <= LONGEST_NAME
        && bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    good.then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn bits(number: pe::Machine) -> u8 {
    if number == pe::IMAGE_FILE_MACHINE_I386 { 32 } else { 64 }
}

/// Builds an import library for demos and tests.
pub fn import_stub(of: Machine, dll: &str, symbol: &str) -> Vec<u8> {
    let number = match of {
        Machine::Aarch64 => pe::IMAGE_FILE_MACHINE_ARM64,
        _ => pe::IMAGE_FILE_MACHINE_AMD64,
    };
    let names = [symbol.as_bytes(), b"\0", dll.as_bytes(), b"\0"].concat();
    let mut import = [0, 0, 0xff, 0xff, 0, 0].to_vec();
    import.extend(number.0.to_le_bytes());
    import.extend([0; 4]);
    import.extend(u32::try_from(names.len()).unwrap_or_default().to_le_bytes());
    // Import type: code, by name.
    import.extend([0, 0, 4, 0]);
    import.extend(names);
    let mut index = [0, 0, 0, 1].to_vec();
    let place = archive::MAGIC.len()
        + size_of::<archive::Header>()
        + (9 + symbol.len()).next_multiple_of(2);
    index.extend(u32::try_from(place).unwrap_or_default().to_be_bytes());
    index.extend([symbol.as_bytes(), b"\0"].concat());
    let mut made = archive::MAGIC.to_vec();
    for (name, content) in [("/", index), (&*format!("{dll}/"), import)] {
        let name: String = name.chars().take(16).collect();
        made.extend(
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len())
                .bytes(),
        );
        made.extend(&content);
        made.resize(made.len().next_multiple_of(2), b'\n');
    }
    made
}
