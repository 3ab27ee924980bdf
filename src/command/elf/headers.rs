//! Program headers, read with `object`: the editor does not expose them.

use fs_err::File;
use object::elf::{FileHeader32, FileHeader64, ProgramFlags, ProgramType};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{self, ReadCache, ReadRef};
use object::{Endianness, FileKind};

#[derive(Debug, Clone)]
pub struct Segment {
    pub kind: ProgramType,
    pub flags: ProgramFlags,
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

#[derive(Debug, Clone)]
pub struct Headers {
    pub table_at: u64,
    pub segments: Vec<Segment>,
}

/// Supports both classes and byte orders.
pub fn read(file: &File) -> read::Result<Headers> {
    let cache = ReadCache::new(file.file());
    match FileKind::parse(&cache)? {
        FileKind::Elf32 => of_class::<FileHeader32<Endianness>, _>(&cache),
        _ => of_class::<FileHeader64<Endianness>, _>(&cache),
    }
}

fn of_class<'data, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    data: R,
) -> read::Result<Headers> {
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    Ok(Headers {
        table_at: header.e_phoff(endian).into(),
        segments: segments.iter().map(|segment| segment_of(segment, endian)).collect(),
    })
}

fn segment_of<H: ProgramHeader>(raw: &H, endian: H::Endian) -> Segment {
    Segment {
        kind: raw.p_type(endian),
        flags: raw.p_flags(endian),
        offset: raw.p_offset(endian).into(),
        address: raw.p_vaddr(endian).into(),
        file_size: raw.p_filesz(endian).into(),
        memory_size: raw.p_memsz(endian).into(),
        align: raw.p_align(endian).into(),
    }
}
