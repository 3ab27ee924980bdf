//! ELF header, program headers and section headers as native integers.

use object::elf::{
    self, FileHeader64, ProgramFlags, ProgramHeader64, ProgramType, SectionHeader64, SectionType,
};
use object::endian::{LittleEndian as LE, U32, U64};
use object::pod;

use super::error::ElfError;
use crate::ReadAt;

pub(super) const SEGMENT_SIZE: u64 = size_of::<ProgramHeader64<LE>>() as u64;
pub(super) const SECTION_SIZE: u64 = size_of::<SectionHeader64<LE>>() as u64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: elf::FileType,
    pub segments_at: u64,
    pub sections_at: u64,
    pub segment_count: u64,
    pub section_count: u64,
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

/// A forged header allocates nothing.
pub(super) fn read_bytes(
    file: &(impl ReadAt + ?Sized),
    have: u64,
    at: u64,
    len: u64,
    what: &'static str,
) -> Result<Vec<u8>, ElfError> {
    let need = at.saturating_add(len);
    let size = usize::try_from(len).ok().filter(|_| need <= have);
    let mut bytes = vec![0; size.ok_or(ElfError::Truncated { what, need, have })?];
    file.read_exact_at(at, &mut bytes).map_err(|source| ElfError::Read { what, source })?;
    Ok(bytes)
}

/// Ignores an incomplete record at the end.
pub(super) fn records<T: pod::Pod>(bytes: &[u8]) -> &[T] {
    pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).map_or(&[], |(records, _)| records)
}

impl Header {
    pub(super) fn read(file: &(impl ReadAt + ?Sized), have: u64) -> Result<Self, ElfError> {
        let bytes =
            read_bytes(file, have, 0, size_of::<FileHeader64<LE>>() as u64, "the ELF header")?;
        let (raw, _) =
            pod::from_bytes::<FileHeader64<LE>>(&bytes).map_err(|()| ElfError::NotElf)?;
        let mut header = Self {
            kind: raw.e_type.get(LE),
            segments_at: raw.e_phoff.get(LE),
            sections_at: raw.e_shoff.get(LE),
            segment_count: raw.e_phnum.get(LE).into(),
            section_count: raw.e_shnum.get(LE).into(),
        };
        check_entry_size(
            "e_phentsize",
            raw.e_phentsize.get(LE),
            header.segment_count,
            SEGMENT_SIZE,
        )?;
        check_entry_size("e_shentsize", raw.e_shentsize.get(LE), header.sections_at, SECTION_SIZE)?;
        header.take_large_counts(file, have)?;
        Ok(header)
    }

    /// Reads counts too large for the header from section 0 (gABI, "ELF Header").
    fn take_large_counts(
        &mut self,
        file: &(impl ReadAt + ?Sized),
        have: u64,
    ) -> Result<(), ElfError> {
        let many_segments = self.segment_count == u64::from(elf::PN_XNUM);
        if self.sections_at == 0 || (self.section_count != 0 && !many_segments) {
            return Ok(());
        }
        let bytes = read_bytes(file, have, self.sections_at, SECTION_SIZE, "section header 0")?;
        let first = records::<SectionHeader64<LE>>(&bytes).first().map(Section::from);
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
        have: u64,
    ) -> Result<Vec<Segment>, ElfError> {
        let len = self.segment_count.saturating_mul(SEGMENT_SIZE);
        let bytes = read_bytes(file, have, self.segments_at, len, "the program header table")?;
        Ok(records::<ProgramHeader64<LE>>(&bytes).iter().map(Segment::from).collect())
    }

    pub(super) fn sections(
        &self,
        file: &(impl ReadAt + ?Sized),
        have: u64,
    ) -> Result<Vec<Section>, ElfError> {
        if self.sections_at == 0 {
            return Ok(Vec::new());
        }
        let len = self.section_count.saturating_mul(SECTION_SIZE);
        let bytes = read_bytes(file, have, self.sections_at, len, "the section header table")?;
        Ok(records::<SectionHeader64<LE>>(&bytes).iter().map(Section::from).collect())
    }
}

fn check_entry_size(
    field: &'static str,
    size: u16,
    exists: u64,
    expected: u64,
) -> Result<(), ElfError> {
    let value = u64::from(size);
    if exists == 0 || value == expected { Ok(()) } else { Err(ElfError::Header { field, value }) }
}

impl From<&ProgramHeader64<LE>> for Segment {
    fn from(raw: &ProgramHeader64<LE>) -> Self {
        Self {
            kind: raw.p_type.get(LE),
            flags: raw.p_flags.get(LE),
            offset: raw.p_offset.get(LE),
            address: raw.p_vaddr.get(LE),
            physical: raw.p_paddr.get(LE),
            file_size: raw.p_filesz.get(LE),
            memory_size: raw.p_memsz.get(LE),
            align: raw.p_align.get(LE),
        }
    }
}

impl Segment {
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

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let raw = ProgramHeader64 {
            p_type: object::endian::U32::new(LE, self.kind),
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

impl From<&SectionHeader64<LE>> for Section {
    fn from(raw: &SectionHeader64<LE>) -> Self {
        Self {
            name: raw.sh_name.get(LE),
            kind: raw.sh_type.get(LE),
            flags: raw.sh_flags.get(LE).0,
            address: raw.sh_addr.get(LE),
            offset: raw.sh_offset.get(LE),
            size: raw.sh_size.get(LE),
            link: raw.sh_link.get(LE),
            info: raw.sh_info.get(LE),
            align: raw.sh_addralign.get(LE),
            entry_size: raw.sh_entsize.get(LE),
        }
    }
}

impl Section {
    pub(super) fn is_allocated(&self) -> bool {
        self.flags & elf::SHF_ALLOC.0 != 0
    }

    pub(super) fn has_bytes(&self) -> bool {
        self.kind != elf::SHT_NOBITS && self.kind != elf::SHT_NULL && self.size > 0
    }

    pub(super) fn file_end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

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
