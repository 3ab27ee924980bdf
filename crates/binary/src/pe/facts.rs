use object::endian::LittleEndian as LE;
use object::pe;
use object::pod::Pod;
use serde::{Deserialize, Serialize};

use super::error::PeError;
use super::image::Image;
use super::version::{PeVersion, version};
use crate::{Machine, ReadAt};

/// Limit of DLLs in one table, so that a damaged file cannot make the reader run for long; real files
/// have at most a few hundred.
const MOST_LIBRARIES: usize = 4096;

/// Role of a PE file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PeKind {
    /// Loaded by other files (`IMAGE_FILE_DLL`): DLLs and Python extension modules.
    Library,
    /// Started as a process, with or without a console.
    Program,
    /// Any other subsystem, such as `IMAGE_SUBSYSTEM_NATIVE` or EFI.
    Native,
}

/// Kind, name and dependencies of a PE file.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PeFacts {
    /// Role of the file.
    pub kind: PeKind,
    /// Processor that the file is built for.
    pub machine: Machine,
    /// Name in the export directory.
    pub name: Option<String>,
    /// DLLs loaded at start, in order.
    pub imports: Vec<String>,
    /// DLLs loaded at the first call of one of their functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delayed: Vec<String>,
    /// Version in the resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<PeVersion>,
}

/// Reads the facts; `None` without a PE signature.
pub fn facts(file: &(impl ReadAt + ?Sized)) -> Result<Option<PeFacts>, PeError> {
    let Some(image) = Image::read(file)? else { return Ok(None) };
    let (delayed, imports): (Vec<PeTable>, Vec<_>) =
        tables(&image)?.into_iter().partition(|table| table.delayed);
    let names = |tables: Vec<PeTable>| tables.into_iter().map(|table| table.library).collect();
    Ok(Some(PeFacts {
        kind: kind(&image),
        machine: image.machine,
        name: own_name(&image)?,
        imports: names(imports),
        delayed: names(delayed),
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

/// Returns the file's own name in its "Export Directory Table".
fn own_name<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Option<String>, PeError> {
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) else {
        return Ok(None);
    };
    let (offset, _) = image.place(address, "the export directory's address", from)?;
    let table: pe::ImageExportDirectory = image.record(offset, "the export directory")?;
    match table.name.get(LE) {
        0 => Ok(None),
        name => image.name(name, "the export directory's Name", offset + 12).map(Some),
    }
}

/// Imports of one DLL.
pub(super) struct PeTable {
    pub library: String,
    pub delayed: bool,
    /// Address of the lookup table; 0 if the file has none.
    pub thunks: u32,
    /// Subtracted from addresses in old delay-load tables.
    pub base: u32,
    /// Offset of the entry.
    pub from: u64,
}

/// Reads the import directory, then the delay-load directory.
pub(super) fn tables<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Vec<PeTable>, PeError> {
    // The loader stops at the first entry without a name or without `FirstThunk`.
    let read = |entry: &pe::ImageImportDescriptor| {
        let first = entry.first_thunk.get(LE);
        let name = if first == 0 { 0 } else { entry.name.get(LE) };
        // Borland's linker writes only `FirstThunk`.
        let lookup = entry.original_first_thunk.get(LE);
        (Ok(name), if lookup == 0 { first } else { lookup }, 0)
    };
    let (part, index) = ("the import directory", pe::IMAGE_DIRECTORY_ENTRY_IMPORT);
    let mut tables = table(image, index, part, 12, read)?;
    let base = image.base.unwrap_or(0);
    let read = |entry: &pe::ImageDelayloadDescriptor| {
        let (name, thunks) = (entry.dll_name_rva.get(LE), entry.import_name_table_rva.get(LE));
        // Old linkers wrote absolute addresses and left `IMAGE_DELAYLOAD_RVA_BASED` clear.
        if entry.attributes.get(LE) & pe::IMAGE_DELAYLOAD_RVA_BASED != 0 || name == 0 {
            return (Ok(name), thunks, 0);
        }
        // An address below the base is invalid, but is not the end of the table. An invalid lookup
        // table is an error only for readers of symbols.
        let relative = |address: u32| address.checked_sub(base);
        let thunks = if thunks == 0 { 0 } else { relative(thunks).unwrap_or(u32::MAX) };
        (relative(name).ok_or(name), thunks, base)
    };
    let (part, index) = ("the delay-load directory", pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT);
    let delayed = table(image, index, part, 4, read)?;
    tables.extend(delayed.into_iter().map(|table| PeTable { delayed: true, ..table }));
    Ok(tables)
}

/// Returns the name of the DLL that the loader looks for: a name without a dot gets an ending
/// (`LdrLoadDll`; Wine's `build_import_name`).
pub(super) fn dll_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.dll") }
}

/// Reads a table up to an entry without a name. `read` returns the address of the name, the address of
/// the lookup table, and the base to subtract from addresses in that table; or, as an error, the
/// invalid value of the name's field. `field` is the offset of this field in an entry, for errors.
fn table<T: Pod, R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    index: usize,
    what: &'static str,
    field: u64,
    read: impl Fn(&T) -> (Result<u32, u32>, u32, u32),
) -> Result<Vec<PeTable>, PeError> {
    let Some((address, from)) = image.directory(index) else { return Ok(Vec::new()) };
    let (start, end) = image.place(address, what, from)?;
    let (mut tables, mut offset, len) = (Vec::new(), start, size_of::<T>() as u64);
    loop {
        if offset + len > end || tables.len() == MOST_LIBRARIES {
            return Err(PeError::Endless { what, offset: start });
        }
        let entry: T = image.record(offset, what)?;
        let (name, thunks, base) = read(&entry);
        let name = name.map_err(|value| PeError::Field {
            field: what,
            offset: offset + field,
            value: value.into(),
        })?;
        if name == 0 {
            return Ok(tables);
        }
        let library = dll_name(&image.name(name, what, offset + field)?);
        tables.push(PeTable { library, delayed: false, thunks, base, from: offset });
        offset += len;
    }
}
