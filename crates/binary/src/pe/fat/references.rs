//! Base relocations: words that loaders change when a file is not at its preferred address.

use std::collections::BTreeMap;
use std::ops::Range;

use object::endian::LittleEndian as LE;
use object::pe::{self, ImageBaseRelocation};

use super::headers::{Headers, addresses, place};
use crate::ReadAt;
use crate::fat::{ADDRESS_OFFSET, FatError, RECORD_SIZE};
use crate::pe::image::Image;

/// Bytes that one block of relocations covers.
const PAGE: u64 = 4096;
const WORD: usize = 8;

/// Targets of the records' pointers, by their addresses.
pub(super) type Pointers = BTreeMap<u64, u64>;

/// Returns the pointers of the records. Refuses any other relocation that changes bundles or records,
/// and every relocation other than a record's that leads into bundles.
pub(super) fn pointers<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    headers: &Headers,
    code: &Range<u64>,
    table: &Range<u64>,
) -> Result<Pointers, FatError> {
    let mut pointers = Pointers::new();
    let base = headers.optional.image_base.get(LE);
    let touches = |word: u64, range: &Range<u64>| {
        word < range.end && range.start < word.saturating_add(WORD as u64)
    };
    let blocks = blocks(image)?;
    // Linkers write at most one block for each page. Forged tables could have millions, and each costs a
    // read of its page.
    if blocks.len() as u64 > headers.memory_end() / PAGE {
        return Err(FatError::Unreadable);
    }
    for (page, entries) in blocks {
        // The last word of a page can continue in the next one, so that a word more is read.
        let memory = memory(image, headers, page, PAGE + WORD as u64)?;
        for entry in entries {
            let (kind, inside) = (entry >> 12, usize::from(entry & 0xfff));
            if kind == pe::IMAGE_REL_BASED_ABSOLUTE.0 {
                continue;
            }
            let address = page + inside as u64;
            let wrong = FatError::Relocation { address };
            if kind != pe::IMAGE_REL_BASED_DIR64.0 {
                return Err(wrong);
            }
            let mut word = [0; WORD];
            word.copy_from_slice(&memory[inside..inside + WORD]);
            let target = u64::from_le_bytes(word).wrapping_sub(base);
            let is_pointer = table.contains(&address)
                && (address - table.start) % RECORD_SIZE as u64 == ADDRESS_OFFSET;
            let is_elsewhere = !touches(address, table) && !touches(address, code);
            if is_pointer {
                if pointers.insert(address, target).is_some() {
                    return Err(wrong);
                }
            } else if !is_elsewhere || code.contains(&target) {
                return Err(wrong);
            }
        }
    }
    Ok(pointers)
}

/// Addresses of pages, each with its entries.
fn blocks<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Vec<(u64, Vec<u16>)>, FatError> {
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_BASERELOC) else {
        return Ok(Vec::new());
    };
    let part = "the base relocations";
    let size = u64::from(image.directory_size(from)?);
    let (mut offset, end) = image.place(address, part, from)?;
    let header = size_of::<ImageBaseRelocation>() as u64;
    let end = offset.checked_add(size).filter(|last| *last <= end).ok_or(FatError::Unreadable)?;
    let mut blocks = Vec::new();
    while offset + header <= end {
        let block: ImageBaseRelocation = image.record(offset, part)?;
        let size = u64::from(block.size_of_block.get(LE));
        // A size of 0 ends the table for loaders.
        if size == 0 {
            break;
        }
        if size < header || size > end - offset || size % 2 != 0 {
            return Err(FatError::Unreadable);
        }
        let rest = usize::try_from(size - header).map_err(|_| FatError::Unreadable)?;
        let bytes = image.bytes(offset + header, rest, part)?;
        let entries = bytes.chunks_exact(2).map(|entry| u16::from_le_bytes([entry[0], entry[1]]));
        blocks.push((block.virtual_address.get(LE).into(), entries.collect()));
        offset += size;
    }
    Ok(blocks)
}

/// Returns bytes of the memory before relocation; zeros where no section has bytes.
pub(super) fn memory<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    headers: &Headers,
    address: u64,
    size: u64,
) -> Result<Vec<u8>, FatError> {
    let index = |at: u64| usize::try_from(at - address).map_err(|_| FatError::Unreadable);
    let mut memory = vec![0; usize::try_from(size).map_err(|_| FatError::Unreadable)?];
    for entry in &headers.entries {
        let (inside, file) = (addresses(entry), place(entry));
        // Bytes of the file after the end of the section are padding, and are not loaded.
        let end = inside.end.min(inside.start + (file.end - file.start));
        let (from, to) = (inside.start.max(address), end.min(address + size));
        if from < to {
            let bytes = image.bytes(
                file.start + (from - inside.start),
                index(to)? - index(from)?,
                "a section",
            )?;
            memory[index(from)?..index(to)?].copy_from_slice(&bytes);
        }
    }
    Ok(memory)
}
