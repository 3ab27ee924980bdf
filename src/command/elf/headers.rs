//! The tables of headers, read with `object`: what the editor keeps to itself, for people and
//! for a second opinion.

use fs_err::File;
use object::elf::{
    self, DynamicTag, FileHeader32, FileHeader64, ProgramFlags, ProgramType, SectionType,
};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::read::{self, ReadCache, ReadRef};
use object::{Endianness, FileKind};

/// A program header.
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

/// A section header.
#[derive(Debug, Clone)]
pub struct Section {
    pub kind: SectionType,
    pub allocated: bool,
    pub address: u64,
    pub size: u64,
}

/// The tables of one file; those that it doesn't have are empty.
#[derive(Debug, Clone)]
pub struct Headers {
    /// The fields of the file header that don't say where tables are.
    pub fields: [(&'static str, u64); 5],
    /// Where the program header table stands in the file.
    pub table_at: u64,
    pub segments: Vec<Segment>,
    pub sections: Vec<Section>,
    /// The dynamic entries before the first `DT_NULL`.
    pub dynamic: Vec<(DynamicTag, u64)>,
}

/// Reads the tables of a file of either class and byte order.
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
    let sections = header.section_headers(endian, data)?;
    let mut dynamic = Vec::new();
    for segment in segments {
        for entry in segment.dynamic(endian, data)?.unwrap_or_default() {
            dynamic.push((entry.tag(endian), entry.val(endian)));
        }
    }
    dynamic.truncate(
        dynamic.iter().position(|(tag, _)| *tag == elf::DT_NULL).unwrap_or(dynamic.len()),
    );
    Ok(Headers {
        fields: [
            ("e_type", header.e_type(endian).0.into()),
            ("e_machine", header.e_machine(endian).0.into()),
            ("e_version", header.e_version(endian).into()),
            ("e_entry", header.e_entry(endian).into()),
            ("e_flags", header.e_flags(endian).0.into()),
        ],
        table_at: header.e_phoff(endian).into(),
        segments: segments.iter().map(|segment| segment_of(segment, endian)).collect(),
        sections: sections.iter().map(|section| section_of(section, endian)).collect(),
        dynamic,
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

fn section_of<H: SectionHeader>(raw: &H, endian: H::Endian) -> Section {
    Section {
        kind: raw.sh_type(endian),
        allocated: raw.sh_flags(endian).0 & elf::SHF_ALLOC.0 != 0,
        address: raw.sh_addr(endian).into(),
        size: raw.sh_size(endian).into(),
    }
}

impl Segment {
    /// Whether the system maps it.
    pub fn is_load(&self) -> bool {
        self.kind == elf::PT_LOAD
    }

    /// The place in the file of `address`, and how many bytes of the segment there are from it on.
    fn bytes_from(&self, address: u64) -> Option<(u64, u64)> {
        let inside = address.checked_sub(self.address)?;
        let left = self.file_size.checked_sub(inside).filter(|left| *left > 0)?;
        Some((self.offset.checked_add(inside)?, left))
    }
}

impl Headers {
    /// The LOAD segments, in the table's order.
    pub fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.is_load())
    }

    /// The place in the file of `address`, and how many bytes of its LOAD there are from it on.
    pub fn bytes_from(&self, address: u64) -> Option<(u64, u64)> {
        self.loads().find_map(|load| load.bytes_from(address))
    }

    /// The value of the dynamic entry that loaders take for `tag`.
    pub fn entry(&self, tag: DynamicTag) -> Option<u64> {
        self.dynamic.iter().rfind(|(other, _)| *other == tag).map(|(_, value)| *value)
    }
}
