//! Version resources ("The .rsrc Section" in "PE Format"; `VS_VERSIONINFO`).
//!
//! Windows loads files with damaged resources, so they are not an error: the file has no version.

use object::endian::{LittleEndian as LE, U32};
use object::pe::{self, ImageResourceDataEntry, ImageResourceDirectory};
use object::pod;
use serde::{Deserialize, Serialize};

use super::error::PeError;
use super::image::Image;
use crate::ReadAt;

const VERSIONS: u32 = 16;
const MOST_ENTRIES: u16 = 1024;
const LARGEST: u32 = 64 << 10;
const LONGEST: usize = 64;
const SIGNATURE: u32 = 0xfeef_04bd;

/// Versions in the resources of a file.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PeVersion {
    /// File version: the text `FileVersion`, or the four numbers.
    pub file: String,
    /// Version of the product: the text `ProductVersion`, or the four numbers.
    pub product: String,
}

pub(super) fn version<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
) -> Result<Option<PeVersion>, PeError> {
    match statement(image) {
        Ok(bytes) => Ok(bytes.and_then(|bytes| parse(&bytes))),
        Err(error @ PeError::Read { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}

fn statement<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Option<Vec<u8>>, PeError> {
    let part = "the resources";
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_RESOURCE) else {
        return Ok(None);
    };
    let (start, _) = image.place(address, part, from)?;
    let Some(names) = child(image, start, 0, Some(VERSIONS))? else { return Ok(None) };
    let Some(languages) =
        below(names).map(|offset| child(image, start, offset, None)).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let Some(found) =
        below(languages).map(|offset| child(image, start, offset, None)).transpose()?.flatten()
    else {
        return Ok(None);
    };
    if below(found).is_some() {
        return Ok(None);
    }
    let entry: ImageResourceDataEntry = image.record(start + u64::from(found), part)?;
    let size = entry.size.get(LE);
    let (offset, end) =
        image.place(entry.offset_to_data.get(LE), part, start + u64::from(found))?;
    if size > LARGEST || offset + u64::from(size) > end {
        return Ok(None);
    }
    image.bytes(offset, size as usize, part).map(Some)
}

/// `None` for data, which lacks the highest bit.
fn below(entry: u32) -> Option<u32> {
    (entry & pe::IMAGE_RESOURCE_DATA_IS_DIRECTORY != 0)
        .then_some(entry & !pe::IMAGE_RESOURCE_DATA_IS_DIRECTORY)
}

fn child<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    start: u64,
    offset: u32,
    wanted: Option<u32>,
) -> Result<Option<u32>, PeError> {
    let (part, offset) = ("the resources", start + u64::from(offset));
    let table: ImageResourceDirectory = image.record(offset, part)?;
    let named = table.number_of_named_entries.get(LE);
    let count = named.saturating_add(table.number_of_id_entries.get(LE)).min(MOST_ENTRIES);
    for index in 0..u64::from(count) {
        let entry = offset + size_of::<ImageResourceDirectory>() as u64 + 8 * index;
        let number: U32<LE> = image.record(entry, part)?;
        let leads: U32<LE> = image.record(entry + 4, part)?;
        if wanted.is_none_or(|wanted| number.get(LE) == wanted) {
            return Ok(Some(leads.get(LE)));
        }
    }
    Ok(None)
}

struct Block<'b> {
    key: String,
    value: &'b [u8],
    /// For texts in UTF-16 units.
    words: usize,
    blocks: &'b [u8],
}

fn block(bytes: &[u8]) -> Option<(Block<'_>, &[u8])> {
    let half =
        |at: usize| Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let (len, words) = (half(0)?, half(2)?);
    let block = bytes.get(..len).filter(|_| len > 6)?;
    let key = block[6..].chunks_exact(2).position(|word| word == [0, 0])?;
    let value = (6 + 2 * (key + 1)).next_multiple_of(4);
    // Lengths of texts are in UTF-16 units.
    let bytes_of_value = if half(4)? == 1 { 2 * words } else { words };
    let end = (value + bytes_of_value).min(block.len());
    let rest = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    let value = block.get(value..end).unwrap_or_default();
    let blocks = block.get(end.next_multiple_of(4)..).unwrap_or_default();
    Some((Block { key: text(&block[6..6 + 2 * key]), value, words, blocks }, rest))
}

fn blocks(mut bytes: &[u8]) -> impl Iterator<Item = Block<'_>> {
    std::iter::from_fn(move || {
        let (block, rest) = block(bytes)?;
        bytes = rest;
        Some(block)
    })
}

fn text(words: &[u8]) -> String {
    let words = words.chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]));
    char::decode_utf16(words).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn parse(bytes: &[u8]) -> Option<PeVersion> {
    let (whole, _) = block(bytes)?;
    let words: Vec<u32> = pod::slice_from_all_bytes::<U32<LE>>(whole.value)
        .map(|words| words.iter().map(|word| word.get(LE)).collect())
        .unwrap_or_default();
    let numbers = |at: usize| match words[..] {
        [SIGNATURE, ..] if words.len() > at + 1 => {
            let [high, low] = [words[at], words[at + 1]];
            let parts = [high >> 16, high & 0xffff, low >> 16, low & 0xffff];
            let any = parts.iter().any(|part| *part != 0);
            any.then(|| parts.map(|part| part.to_string()).join("."))
        }
        _ => None,
    };
    let texts = || {
        let tables = blocks(whole.blocks).filter(|block| block.key == "StringFileInfo");
        tables.flat_map(|table| blocks(table.blocks)).flat_map(|table| blocks(table.blocks))
    };
    let called = |key: &str| {
        let block = texts().find(|block| block.key == key)?;
        let text = text(&block.value[..block.value.len().min(2 * block.words)]);
        let text = text.split('\0').next().unwrap_or_default().trim().to_owned();
        let good = !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_control);
        good.then_some(text)
    };
    let file = called("FileVersion").or_else(|| numbers(2));
    let product = called("ProductVersion").or_else(|| numbers(4));
    let file = file.or_else(|| product.clone())?;
    Some(PeVersion { product: product.unwrap_or_else(|| file.clone()), file })
}

pub(super) fn numbered(version: [u16; 4]) -> Vec<u8> {
    let key: Vec<u8> = "VS_VERSION_INFO\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let [a, b, c, d] = version.map(u32::from);
    let numbers = [a << 16 | b, c << 16 | d];
    // Structure version 1.0; masks, system, kind and date stay 0.
    let words = [[SIGNATURE, 0x0001_0000].to_vec(), numbers.to_vec(), numbers.to_vec(), vec![0; 7]];
    let value: Vec<u8> = words.concat().into_iter().flat_map(u32::to_le_bytes).collect();
    let mut made = Vec::new();
    let start = (6 + key.len()).next_multiple_of(4);
    for half in [start + value.len(), value.len(), 0] {
        made.extend(u16::try_from(half).unwrap_or_default().to_le_bytes());
    }
    made.extend(key);
    made.resize(start, 0);
    made.extend(value);
    made
}
