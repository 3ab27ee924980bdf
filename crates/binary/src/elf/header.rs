//! ELF header, program headers and section headers as native integers.

use object::Endianness;
use object::elf::{
    self, FileHeader32, FileHeader64, ProgramFlags, ProgramHeader32, ProgramHeader64, ProgramType,
    SectionHeader32, SectionHeader64, SectionType,
};
use object::endian::{LittleEndian as LE, U32, U64};
use object::pod;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::error::ElfError;
use super::format::Format;
use crate::ReadAt;

pub(super) const SEGMENT_SIZE: u64 = size_of::<ProgramHeader64<LE>>() as u64;
pub(super) const SECTION_SIZE: u64 = size_of::<SectionHeader64<LE>>() as u64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: elf::FileType,
    pub entry: u64,
    pub segments_at: u64,
    pub sections_at: u64,
    pub segment_count: u64,
    pub section_count: u64,
    pub flags: u32,
    pub format: Format,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub kind: ProgramType,
    pub flags: ProgramFlags,
    pub offset: u64,
    pub address: u64,
    pub physical: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub align: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub name: u32,
    pub kind: SectionType,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
}

/// Reads `len` bytes. Checks the bounds before allocating, because a forged header can ask for
/// exabytes.
pub(super) fn read_bytes(
    file: &(impl ReadAt + ?Sized),
    file_len: u64,
    offset: u64,
    len: u64,
    part: &'static str,
) -> Result<Vec<u8>, ElfError> {
    let end = offset.saturating_add(len);
    let size = usize::try_from(len).ok().filter(|_| end <= file_len);
    let truncated = ElfError::Truncated { what: part, need: end, have: file_len };
    let mut bytes = vec![0; size.ok_or(truncated)?];
    let read = file.read_exact_at(offset, &mut bytes);
    read.map_err(|source| ElfError::Read { what: part, source })?;
    Ok(bytes)
}

impl Header {
    pub(super) fn read(
        file: &(impl ReadAt + ?Sized),
        file_len: u64,
        format: Format,
    ) -> Result<Self, ElfError> {
        let bytes = read_bytes(file, file_len, 0, format.header_size(), "the ELF header")?;
        let mut header = if format.wide {
            Self::parse::<FileHeader64<Endianness>>(&bytes, format)?
        } else {
            Self::parse::<FileHeader32<Endianness>>(&bytes, format)?
        };
        header.take_large_counts(file, file_len)?;
        Ok(header)
    }

    fn parse<H: FileHeader<Endian = Endianness>>(
        bytes: &[u8],
        format: Format,
    ) -> Result<Self, ElfError> {
        let (raw, _) = pod::from_bytes::<H>(bytes).map_err(|()| ElfError::NotElf)?;
        let endian = format.endian;
        let header = Self {
            kind: raw.e_type(endian),
            entry: raw.e_entry(endian).into(),
            segments_at: raw.e_phoff(endian).into(),
            sections_at: raw.e_shoff(endian).into(),
            segment_count: raw.e_phnum(endian).into(),
            section_count: raw.e_shnum(endian).into(),
            flags: raw.e_flags(endian).0,
            format,
        };
        let segment_size = raw.e_phentsize(endian);
        let section_size = raw.e_shentsize(endian);
        let [has_segments, has_sections] =
            [header.segment_count, header.sections_at].map(|it| it != 0);
        check_entry_size("e_phentsize", segment_size, has_segments, format.segment_size())?;
        check_entry_size("e_shentsize", section_size, has_sections, format.section_size())?;
        Ok(header)
    }

    /// Reads counts too large for the header from section 0 (gABI, "ELF Header").
    fn take_large_counts(
        &mut self,
        file: &(impl ReadAt + ?Sized),
        file_len: u64,
    ) -> Result<(), ElfError> {
        let many_segments = self.segment_count == u64::from(elf::PN_XNUM);
        if self.sections_at == 0 || (self.section_count != 0 && !many_segments) {
            return Ok(());
        }
        let size = self.format.section_size();
        let bytes = read_bytes(file, file_len, self.sections_at, size, "section header 0")?;
        let first = parse_sections(&bytes, self.format).into_iter().next();
        let first = first.ok_or(ElfError::Header { field: "e_shoff", value: self.sections_at })?;
        if many_segments && first.info != 0 {
            self.segment_count = first.info.into();
        }
        if self.section_count == 0 {
            self.section_count = first.size;
        }
        Ok(())
    }

    pub(super) fn segments(
        &self,
        file: &(impl ReadAt + ?Sized),
        file_len: u64,
    ) -> Result<Vec<Segment>, ElfError> {
        let len = self.segment_count.saturating_mul(self.format.segment_size());
        let bytes = read_bytes(file, file_len, self.segments_at, len, "the program header table")?;
        Ok(self.format.map_records::<ProgramHeader64<Endianness>, ProgramHeader32<Endianness>, _>(
            &bytes,
            Segment::from_raw,
            Segment::from_raw,
        ))
    }

    pub(super) fn sections(
        &self,
        file: &(impl ReadAt + ?Sized),
        file_len: u64,
    ) -> Result<Vec<Section>, ElfError> {
        if self.sections_at == 0 {
            return Ok(Vec::new());
        }
        let len = self.section_count.saturating_mul(self.format.section_size());
        let bytes = read_bytes(file, file_len, self.sections_at, len, "the section header table")?;
        Ok(parse_sections(&bytes, self.format))
    }
}

fn parse_sections(bytes: &[u8], format: Format) -> Vec<Section> {
    format.map_records::<SectionHeader64<Endianness>, SectionHeader32<Endianness>, _>(
        bytes,
        Section::from_raw,
        Section::from_raw,
    )
}

fn check_entry_size(
    field: &'static str,
    size: u16,
    is_present: bool,
    expected: u64,
) -> Result<(), ElfError> {
    let value = u64::from(size);
    if !is_present || value == expected { Ok(()) } else { Err(ElfError::Header { field, value }) }
}

impl Segment {
    fn from_raw<P: ProgramHeader<Endian = Endianness>>(raw: &P, endian: Endianness) -> Self {
        Self {
            kind: raw.p_type(endian),
            flags: raw.p_flags(endian),
            offset: raw.p_offset(endian).into(),
            address: raw.p_vaddr(endian).into(),
            physical: raw.p_paddr(endian).into(),
            file_size: raw.p_filesz(endian).into(),
            memory_size: raw.p_memsz(endian).into(),
            align: raw.p_align(endian).into(),
        }
    }

    pub(super) fn is_load(&self) -> bool {
        self.kind == elf::PT_LOAD
    }

    pub(super) fn allows(&self, flags: ProgramFlags) -> bool {
        self.flags.0 & flags.0 == flags.0
    }

    pub(super) fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.file_size)
    }

    pub(super) fn memory_end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }

    pub(super) fn offset_of(&self, address: u64, len: u64) -> Option<u64> {
        let inside = address.checked_sub(self.address)?;
        (inside.checked_add(len)? <= self.file_size).then(|| self.offset.checked_add(inside))?
    }

    /// Bytes in a 64-bit little-endian file, the only format that is edited.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let raw = ProgramHeader64 {
            p_type: U32::new(LE, self.kind),
            p_flags: U32::new(LE, self.flags),
            p_offset: U64::new(LE, self.offset),
            p_vaddr: U64::new(LE, self.address),
            p_paddr: U64::new(LE, self.physical),
            p_filesz: U64::new(LE, self.file_size),
            p_memsz: U64::new(LE, self.memory_size),
            p_align: U64::new(LE, self.align),
        };
        pod::bytes_of(&raw).to_vec()
    }
}

impl Section {
    fn from_raw<S: SectionHeader<Endian = Endianness>>(raw: &S, endian: Endianness) -> Self {
        Self {
            name: raw.sh_name(endian),
            kind: raw.sh_type(endian),
            flags: raw.sh_flags(endian).0,
            address: raw.sh_addr(endian).into(),
            offset: raw.sh_offset(endian).into(),
            size: raw.sh_size(endian).into(),
            link: raw.sh_link(endian),
            info: raw.sh_info(endian),
            align: raw.sh_addralign(endian).into(),
            entry_size: raw.sh_entsize(endian).into(),
        }
    }

    pub(super) fn is_allocated(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }

    pub(super) fn has_bytes(&self) -> bool {
        self.kind != elf::SHT_NOBITS && self.kind != elf::SHT_NULL && self.size > 0
    }

    pub(super) fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Bytes in a 64-bit little-endian file, the only format that is edited.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let raw = SectionHeader64 {
            sh_name: U32::new(LE, self.name),
            sh_type: U32::new(LE, self.kind),
            sh_flags: U64::new(LE, elf::SectionFlags(self.flags)),
            sh_addr: U64::new(LE, self.address),
            sh_offset: U64::new(LE, self.offset),
            sh_size: U64::new(LE, self.size),
            sh_link: U32::new(LE, self.link),
            sh_info: U32::new(LE, self.info),
            sh_addralign: U64::new(LE, self.align),
            sh_entsize: U64::new(LE, self.entry_size),
        };
        pod::bytes_of(&raw).to_vec()
    }
}
