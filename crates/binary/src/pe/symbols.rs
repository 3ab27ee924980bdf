//! Exported and imported functions ("The .edata Section", "The .idata Section", "Delay-Load Import
//! Tables").

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use object::endian::LittleEndian as LE;
use object::pe;

use super::error::PeError;
use super::facts::{PeTable, dll_name, tables};
use super::image::Image;
use crate::ReadAt;

/// Ordinals have 16 bits.
const MOST_FUNCTIONS: u32 = 1 << 16;
/// Limit of imports of one file: a small file can have many, because its tables can share bytes.
const MOST_IMPORTED: usize = 1 << 18;

/// Functions of a PE file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeSymbols {
    /// Exported functions.
    pub exports: Exports,
    /// Imported functions of each DLL, in order, then delay imports.
    pub imports: Vec<PeImport>,
}

/// Functions imported from one DLL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeImport {
    /// Name of the DLL.
    pub library: String,
    /// Loaded at the first call.
    pub delayed: bool,
    /// Functions and data.
    pub symbols: Vec<PeSymbol>,
}

/// Function or variable in an import or a forwarder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeSymbol {
    /// Name.
    Name(String),
    /// Number.
    Ordinal(u16),
}

/// Export that is a function of another DLL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarder {
    /// Name of the DLL, with its ending.
    pub library: String,
    /// Function of that DLL.
    pub symbol: PeSymbol,
}

/// Export table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// Hashes of the names with indices, sorted. No names, because a DLL can have 65,536.
    names: Vec<(u64, u32)>,
    base: u32,
    /// Address by index; 0 for an index without an export.
    functions: Vec<u32>,
    /// Sorted by index.
    forwarders: Vec<(u32, Forwarder)>,
}

impl fmt::Display for PeSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ordinal(number) => write!(f, "#{number}"),
        }
    }
}

impl Exports {
    /// Returns whether the loader finds the symbol.
    pub fn defines(&self, symbol: &PeSymbol) -> bool {
        self.index(symbol).is_some()
    }

    /// Returns the function of another DLL that an importer of the symbol gets.
    pub fn forwarder(&self, symbol: &PeSymbol) -> Option<&Forwarder> {
        let index = self.index(symbol)?;
        let position = self.forwarders.binary_search_by_key(&index, |(at, _)| *at).ok()?;
        Some(&self.forwarders[position].1)
    }

    /// Returns all exports that are functions of other DLLs.
    pub fn forwarders(&self) -> impl Iterator<Item = &Forwarder> {
        self.forwarders.iter().map(|(_, forwarder)| forwarder)
    }

    /// Returns the addresses of functions and data, relative to the image base.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u32> {
        self.functions.iter().copied().filter(|address| *address != 0)
    }

    /// Returns the number of names.
    pub fn name_count(&self) -> usize {
        self.names.len()
    }

    fn index(&self, symbol: &PeSymbol) -> Option<u32> {
        let index = match symbol {
            PeSymbol::Name(name) => {
                let hash = hash(name.as_bytes());
                let position = self.names.partition_point(|(other, _)| *other < hash);
                self.names.get(position).filter(|(other, _)| *other == hash)?.1
            }
            PeSymbol::Ordinal(number) => u32::from(*number).checked_sub(self.base)?,
        };
        let is_function = self.functions.get(usize::try_from(index).ok()?);
        is_function.is_some_and(|address| *address != 0).then_some(index)
    }
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Reads the functions; `None` without a PE signature.
pub fn symbols(file: &(impl ReadAt + ?Sized)) -> Result<Option<PeSymbols>, PeError> {
    let Some(image) = Image::read(file)? else { return Ok(None) };
    let (mut imports, mut budget) = (Vec::new(), MOST_IMPORTED);
    for table in tables(&image)? {
        let symbols = imported_symbols(&image, &table, &mut budget)?;
        imports.push(PeImport { library: table.library, delayed: table.delayed, symbols });
    }
    Ok(Some(PeSymbols { exports: exports(&image)?, imports }))
}

fn imported_symbols<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    table: &PeTable,
    budget: &mut usize,
) -> Result<Vec<PeSymbol>, PeError> {
    let (part, mut symbols) = ("the import lookup table", Vec::new());
    if table.thunks == 0 {
        return Ok(symbols);
    }
    let (start, end) = image.place(table.thunks, part, table.from)?;
    // Only 32-bit files have absolute addresses.
    let (size, by_number) = if image.base.is_some() { (4, 1 << 31) } else { (8, 1 << 63) };
    let mut offset = start;
    loop {
        if offset + size > end || *budget == 0 {
            return Err(PeError::Endless { what: part, offset: start });
        }
        let mut entry = [0; 8];
        let bytes = image.bytes(offset, usize::try_from(size).unwrap_or(8), part)?;
        entry[..bytes.len()].copy_from_slice(&bytes);
        let entry = u64::from_le_bytes(entry);
        if entry == 0 {
            return Ok(symbols);
        }
        symbols.push(if entry & by_number != 0 {
            PeSymbol::Ordinal(u16::try_from(entry & 0xffff).unwrap_or_default())
        } else {
            // Old delay-load tables have absolute addresses.
            let address = u32::try_from(entry).unwrap_or(u32::MAX).wrapping_sub(table.base);
            // A hint of two bytes precedes the name.
            let name = image.symbol(address.saturating_add(2), "an imported name", offset)?;
            PeSymbol::Name(name)
        });
        *budget -= 1;
        offset += size;
    }
}

pub(super) fn exports<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Exports, PeError> {
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) else {
        return Ok(Exports::default());
    };
    let (table_at, _) = image.place(address, "the export directory's address", from)?;
    let table: pe::ImageExportDirectory = image.record(table_at, "the export directory")?;
    let (functions, names) = (table.number_of_functions.get(LE), table.number_of_names.get(LE));
    for (field, offset, value) in
        [("NumberOfFunctions", 20, functions), ("NumberOfNames", 24, names)]
    {
        if value > MOST_FUNCTIONS {
            return Err(PeError::Field { field, offset: table_at + offset, value: value.into() });
        }
    }
    let directory = address..address.saturating_add(image.directory_size(from)?);
    let mut exports = Exports { base: table.base.get(LE), ..Exports::default() };
    let rvas = read_array(
        image,
        table.address_of_functions.get(LE),
        functions,
        4,
        "AddressOfFunctions",
        table_at,
    )?;
    for (index, bytes) in (0..functions).zip(rvas.chunks_exact(4)) {
        let rva = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        exports.functions.push(rva);
        if directory.contains(&rva) {
            let text = image.symbol(rva, "a forwarder", table_at)?;
            exports.forwarders.extend(forwarder(&text).map(|it| (index, it)));
        }
    }
    let addresses =
        read_array(image, table.address_of_names.get(LE), names, 4, "AddressOfNames", table_at)?;
    let numbers = read_array(
        image,
        table.address_of_name_ordinals.get(LE),
        names,
        2,
        "AddressOfNameOrdinals",
        table_at,
    )?;
    for (address, number) in addresses.chunks_exact(4).zip(numbers.chunks_exact(2)) {
        let address = u32::from_le_bytes([address[0], address[1], address[2], address[3]]);
        let name = image.symbol(address, "an exported name", table_at)?;
        let index = u16::from_le_bytes([number[0], number[1]]);
        exports.names.push((hash(name.as_bytes()), index.into()));
    }
    exports.names.sort_unstable();
    Ok(exports)
}

/// Parses `NTDLL.RtlAllocateHeap` or `OTHER.#12`. The last dot separates, because a DLL's name can have
/// dots.
fn forwarder(text: &str) -> Option<Forwarder> {
    let (library, symbol) = text.rsplit_once('.')?;
    let symbol = match symbol.strip_prefix('#').map(str::parse) {
        Some(Ok(number)) => PeSymbol::Ordinal(number),
        _ => PeSymbol::Name(symbol.to_owned()),
    };
    Some(Forwarder { library: dll_name(library), symbol })
}

fn read_array<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    address: u32,
    count: u32,
    size: u32,
    field: &'static str,
    from: u64,
) -> Result<Vec<u8>, PeError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let (start, end) = image.place(address, field, from)?;
    let len = u64::from(count) * u64::from(size);
    if start + len > end {
        let container = "its section";
        return Err(PeError::Truncated { what: field, offset: start, len, container, end });
    }
    image.bytes(start, usize::try_from(len).unwrap_or(usize::MAX), field)
}
