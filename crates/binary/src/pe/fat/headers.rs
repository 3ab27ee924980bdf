//! Headers of a PE file for x86-64, as a whole.

use std::ops::Range;

use object::endian::LittleEndian as LE;
use object::pe::{ImageFileHeader, ImageOptionalHeader64, ImageSectionHeader};
use object::pod;

use crate::ReadAt;
use crate::pe::PeError;
use crate::pe::image::Image;

/// Linkers write up to two KiB. A limit, because a forged size would be read into memory.
const LARGEST: u32 = 1 << 16;

#[derive(Debug, Clone)]
pub(super) struct Headers {
    pub file: ImageFileHeader,
    pub optional: ImageOptionalHeader64,
    pub entries: Vec<ImageSectionHeader>,
    /// All bytes before the sections (`SizeOfHeaders`).
    pub bytes: Vec<u8>,
    /// Offset of the optional header.
    pub optional_at: usize,
    /// Offset of the section table.
    pub table_at: usize,
    /// Length of the file.
    pub len: u64,
}

impl Headers {
    pub fn read<R: ReadAt + ?Sized>(image: &Image<'_, R>) -> Result<Self, PeError> {
        let (file_at, table_at) = (image.header, image.table);
        let optional_at = file_at + size_of::<ImageFileHeader>() as u64;
        let optional: ImageOptionalHeader64 = image.record(optional_at, "the optional header")?;
        let file: ImageFileHeader = image.record(file_at, "the file header")?;
        let size = optional.size_of_headers.get(LE);
        let entry = size_of::<ImageSectionHeader>() as u64;
        let end = table_at + u64::from(file.number_of_sections.get(LE)) * entry;
        if size > LARGEST || u64::from(size) < end {
            let field_at =
                optional_at + std::mem::offset_of!(ImageOptionalHeader64, size_of_headers) as u64;
            return Err(PeError::Field {
                field: "SizeOfHeaders",
                offset: field_at,
                value: size.into(),
            });
        }
        let read = |index: u64| image.record(table_at + index * entry, "a section header");
        let entries = (0..file.number_of_sections.get(LE).into()).map(read);
        Ok(Self {
            file,
            optional,
            entries: entries.collect::<Result<_, _>>()?,
            bytes: image.bytes(0, size as usize, "the headers")?,
            optional_at: usize::try_from(optional_at).unwrap_or(usize::MAX),
            table_at: usize::try_from(table_at).unwrap_or(usize::MAX),
            len: image.len,
        })
    }

    /// Returns the header bytes, with the changed structures at their places.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.optional.size_of_headers.get(LE) as usize;
        let mut bytes = self.bytes.clone();
        bytes.resize(size, 0);
        let file_at = self.optional_at - size_of::<ImageFileHeader>();
        for (at, part) in [
            (file_at, pod::bytes_of(&self.file)),
            (self.optional_at, pod::bytes_of(&self.optional)),
            (self.table_at, pod::bytes_of_slice(&self.entries)),
        ] {
            bytes[at..at + part.len()].copy_from_slice(part);
        }
        bytes
    }

    pub fn file_alignment(&self) -> u64 {
        self.optional.file_alignment.get(LE).into()
    }

    /// Offset of the field for the checksum.
    pub fn checksum_at(&self) -> usize {
        self.optional_at + std::mem::offset_of!(ImageOptionalHeader64, check_sum)
    }

    /// Offset of the end of the sections in the file.
    pub fn sections_end(&self) -> u64 {
        let places = self.entries.iter().map(place).filter(|place| !place.is_empty());
        places.map(|place| place.end).max().unwrap_or(self.bytes.len() as u64)
    }

    /// Offset of the end of the section table.
    pub fn table_end(&self) -> usize {
        self.table_at + size_of_val(&*self.entries)
    }

    /// Address of the end of the last section in memory, aligned.
    pub fn memory_end(&self) -> u64 {
        let align = u64::from(self.optional.section_alignment.get(LE)).max(1);
        let ends = self.entries.iter().map(|entry| addresses(entry).end.next_multiple_of(align));
        ends.max().unwrap_or(0)
    }

    /// Returns the indices of the sections with this name.
    pub fn sections_named(&self, name: &str) -> Vec<usize> {
        let is_it = |index: &usize| self.entries[*index].name == padded(name);
        (0..self.entries.len()).filter(is_it).collect()
    }
}

/// Returns a name of at most eight bytes as it is stored.
pub(super) fn padded(name: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    bytes
}

pub(super) fn name(entry: &ImageSectionHeader) -> String {
    String::from_utf8_lossy(&entry.name).trim_end_matches('\0').to_owned()
}

/// Addresses in memory, relative to the image base.
pub(super) fn addresses(entry: &ImageSectionHeader) -> Range<u64> {
    let start = u64::from(entry.virtual_address.get(LE));
    // Old linkers write 0 as the size in memory.
    let size = match entry.virtual_size.get(LE) {
        0 => entry.size_of_raw_data.get(LE),
        size => size,
    };
    start..start + u64::from(size)
}

/// Place in the file; empty for a section of zeros.
pub(super) fn place(entry: &ImageSectionHeader) -> Range<u64> {
    let start = u64::from(entry.pointer_to_raw_data.get(LE));
    start..start + u64::from(entry.size_of_raw_data.get(LE))
}
