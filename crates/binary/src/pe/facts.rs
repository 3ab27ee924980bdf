//! What a catalog remembers of a PE file.

use object::endian::LittleEndian as LE;
use object::pe;
use object::pod::Pod;
use serde::{Deserialize, Serialize};

use super::error::PeError;
use super::image::Image;
use super::version::{PeVersion, version};
use crate::{Machine, ReadAt};

/// No file imports from more DLLs; the largest of today's need some hundred.
const MOST_IMPORTS: usize = 4096;

/// What a PE file is to a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PeKind {
    /// Loaded by others (`IMAGE_FILE_DLL`): DLLs, and extension modules of Python.
    Library,
    /// Started by people, with a console or without.
    Program,
    /// For the system itself: a driver, or what firmware starts.
    Native,
}

/// A file's kind, its name, and what it needs to be loaded.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PeFacts {
    /// What it is.
    pub kind: PeKind,
    /// The processor it is for.
    pub machine: Machine,
    /// What its export directory calls it.
    pub name: Option<String>,
    /// The DLLs that are loaded with it, in order.
    pub imports: Vec<String>,
    /// The DLLs that are loaded when they are first called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delayed: Vec<String>,
    /// What its resources call its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<PeVersion>,
}

/// The facts of `file`; `None` when it has no signature of a PE file: data, or a program of DOS.
///
/// # Errors
/// When it says that it is PE, and is cut short or contradicts the format.
pub fn facts(file: &(impl ReadAt + ?Sized)) -> Result<Option<PeFacts>, PeError> {
    let Some(image) = Image::read(file)? else { return Ok(None) };
    Ok(Some(PeFacts {
        kind: kind(&image),
        machine: image.machine,
        name: own_name(&image)?,
        imports: imports(&image)?,
        delayed: delayed(&image)?,
        version: version(&image)?,
    }))
}

fn kind<R: ?Sized>(image: &Image<'_, R>) -> PeKind {
    let windows = [pe::IMAGE_SUBSYSTEM_WINDOWS_GUI, pe::IMAGE_SUBSYSTEM_WINDOWS_CUI];
    if image.flags.0 & pe::IMAGE_FILE_DLL.0 != 0 {
        PeKind::Library
    } else if windows.contains(&image.subsystem) {
        PeKind::Program
    } else {
        PeKind::Native
    }
}

/// The name in the export directory, whose fourth word it is ("Export Directory Table").
fn own_name<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Option<String>, PeError> {
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) else {
        return Ok(None);
    };
    let (at, _) = image.place(address, "the export directory's address", from)?;
    let table: pe::ImageExportDirectory = image.record(at, "the export directory")?;
    match table.name.get(LE) {
        0 => Ok(None),
        name => image.name(name, "the export directory's Name", at + 12).map(Some),
    }
}

fn imports<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Vec<String>, PeError> {
    // The loader stops at the first entry that lacks one of the two.
    let read = |entry: &pe::ImageImportDescriptor| {
        if entry.first_thunk.get(LE) == 0 { 0 } else { entry.name.get(LE) }
    };
    table(image, pe::IMAGE_DIRECTORY_ENTRY_IMPORT, "the import directory", 12, read)
}

fn delayed<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Vec<String>, PeError> {
    // Without the lowest bit, words are addresses and not relative: so linkers of the last century made them.
    let base = image.base.unwrap_or(0);
    let read = |entry: &pe::ImageDelayloadDescriptor| {
        let name = entry.dll_name_rva.get(LE);
        let relative = entry.attributes.get(LE) & pe::IMAGE_DELAYLOAD_RVA_BASED != 0;
        // An address below the base leads nowhere, and ends no table.
        if relative || name == 0 { name } else { name.checked_sub(base).unwrap_or(u32::MAX) }
    };
    table(image, pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, "the delay-load directory", 4, read)
}

/// The names that the entries of a table lead to, up to the entry without one. The name's field is
/// `field` bytes from each entry's start.
fn table<T: Pod, R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    index: usize,
    what: &'static str,
    field: u64,
    read: impl Fn(&T) -> u32,
) -> Result<Vec<String>, PeError> {
    let Some((address, from)) = image.directory(index) else { return Ok(Vec::new()) };
    let (start, end) = image.place(address, what, from)?;
    let (mut names, mut at, len) = (Vec::new(), start, size_of::<T>() as u64);
    loop {
        if at + len > end || names.len() == MOST_IMPORTS {
            return Err(PeError::Endless { what, offset: start });
        }
        let entry: T = image.record(at, what)?;
        match read(&entry) {
            0 => return Ok(names),
            name => names.push(image.name(name, what, at + field)?),
        }
        at += len;
    }
}
