//! Headers and dynamic tables of a file.

use object::elf::{self, DynamicTag, FileType, ProgramType};
use serde::{Deserialize, Serialize};

use super::dynamic::{Dynamic, Strings};
use super::error::ElfError;
use super::format::Format;
use super::header::{Header, Section, Segment, read_bytes};
use super::versions::{Table, VersionTable};
use crate::device_code::isa_number;
use crate::{Machine, ReadAt};

/// Kind of an ELF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ElfKind {
    /// `ET_DYN` with a dynamic section, loaded by other files.
    SharedLibrary,
    /// `ET_DYN` that the kernel starts without `PT_INTERP` and that needs no library: a dynamic
    /// loader. It reads its own dynamic section before it can handle a new entry or address there.
    Loader,
    /// Program started by the dynamic loader (`PT_INTERP`).
    Executable,
    /// `ET_EXEC` without `PT_INTERP`.
    StaticExecutable,
    /// `ET_DYN` without `PT_INTERP`, with `DF_1_PIE` or not dynamic.
    StaticPie,
    /// `ET_REL`.
    Relocatable,
    /// `ET_CORE`.
    Core,
    /// GPU program (`EM_AMDGPU`).
    CodeObject,
    /// Separate debug information: a program's headers without its bytes.
    DebugOnly,
    /// 32-bit, big-endian, or for an unsupported machine.
    Foreign,
}

impl ElfKind {
    /// Returns whether edits apply; other files are copied unchanged.
    pub fn is_editable(self) -> bool {
        match self {
            Self::SharedLibrary | Self::Executable => true,
            Self::Loader
            | Self::StaticExecutable
            | Self::StaticPie
            | Self::Relocatable
            | Self::Core
            | Self::CodeObject
            | Self::DebugOnly
            | Self::Foreign => false,
        }
    }
}

impl ElfKind {
    /// Returns whether other files can need it.
    pub fn is_library(self) -> bool {
        matches!(self, Self::SharedLibrary | Self::Loader)
    }

    /// Returns whether this is a host program or library.
    pub fn runs_on_hosts(self) -> bool {
        match self {
            Self::SharedLibrary
            | Self::Loader
            | Self::Executable
            | Self::StaticExecutable
            | Self::StaticPie => true,
            Self::Relocatable | Self::Core | Self::CodeObject | Self::DebugOnly | Self::Foreign => {
                false
            }
        }
    }
}

/// Headers and dynamic tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElfInfo {
    pub(super) file_len: u64,
    pub(super) kind: ElfKind,
    pub(super) machine: Machine,
    pub(super) header: Option<Header>,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section>,
    pub(super) dynamic: Option<Dynamic>,
    pub(super) strings: Option<Strings>,
    pub(super) needs: VersionTable,
    pub(super) definitions: VersionTable,
    pub(super) interpreter: Option<Vec<u8>>,
    pub(super) isa_level: Option<u8>,
    pub(super) isa_number: Option<u32>,
}

/// Reads headers, and for editable machines the tables. Edits read by it; [`read_any`] judges.
pub fn inspect(file: &(impl ReadAt + ?Sized)) -> Result<ElfInfo, ElfError> {
    read(file, |_| false)
}

/// Reads like [`inspect`], with the tables of programs and libraries for every processor.
///
/// Processors that this crate does not edit can have tables of their own form, so a file whose
/// tables `of` cannot read is [`ElfKind::Foreign`], not broken.
pub fn read_any<T>(
    file: &(impl ReadAt + ?Sized),
    of: impl Fn(&ElfInfo) -> Result<T, ElfError>,
) -> Result<T, ElfError> {
    let any = read(file, |number| number != elf::EM_AMDGPU.0);
    any.and_then(|info| of(&info)).or_else(|_| of(&inspect(file)?))
}

fn read(file: &(impl ReadAt + ?Sized), takes: impl Fn(u16) -> bool) -> Result<ElfInfo, ElfError> {
    let file_len =
        file.len().map_err(|source| ElfError::Read { what: "the file's length", source })?;
    let (machine, kind) = identify(file, file_len)?;
    let mut info = ElfInfo::bare(file_len, machine);
    match (machine, kind) {
        (Machine::Other { number, bits: 64, big_endian: false }, _)
            if number == elf::EM_AMDGPU.0 =>
        {
            info.kind = ElfKind::CodeObject;
            info.isa_number = isa_number(file).ok();
        }
        (Machine::Other { number, .. }, elf::ET_EXEC | elf::ET_DYN) if takes(number) => {
            info.read_tables(file)?;
        }
        (Machine::Other { .. }, _) => info.kind = ElfKind::Foreign,
        (_, elf::ET_REL) => info.kind = ElfKind::Relocatable,
        (_, elf::ET_CORE) => info.kind = ElfKind::Core,
        (_, elf::ET_EXEC | elf::ET_DYN) => info.read_tables(file)?,
        (_, other) => return Err(ElfError::Header { field: "e_type", value: other.0.into() }),
    }
    Ok(info)
}

/// Reads only fields with equal offsets in all classes (gABI).
fn identify(file: &(impl ReadAt + ?Sized), have: u64) -> Result<(Machine, FileType), ElfError> {
    if have < 4 || read_bytes(file, have, 0, 4, "the magic number")? != elf::ELFMAG {
        return Err(ElfError::NotElf);
    }
    let start = read_bytes(file, have, 0, 20, "the ELF header")?;
    let bits = match elf::FileClass(start[4]) {
        elf::ELFCLASS32 => 32,
        elf::ELFCLASS64 => 64,
        other => return Err(ElfError::Header { field: "EI_CLASS", value: other.0.into() }),
    };
    let big_endian = match elf::DataEncoding(start[5]) {
        elf::ELFDATA2LSB => false,
        elf::ELFDATA2MSB => true,
        other => return Err(ElfError::Header { field: "EI_DATA", value: other.0.into() }),
    };
    if start[6] != elf::EV_CURRENT.0 {
        return Err(ElfError::Header { field: "EI_VERSION", value: start[6].into() });
    }
    let half = |at: usize| {
        let bytes = [start[at], start[at + 1]];
        if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    };
    Ok((Machine::new(half(18), bits, big_endian), FileType(half(16))))
}

impl Machine {
    pub(crate) fn new(number: u16, bits: u8, big_endian: bool) -> Self {
        match (elf::Machine(number), bits, big_endian) {
            (elf::EM_X86_64, 64, false) => Self::X86_64,
            (elf::EM_AARCH64, 64, false) => Self::Aarch64,
            _ => Self::Other { number, bits, big_endian },
        }
    }

    /// Largest base page size in bytes.
    pub(super) fn page(self) -> u64 {
        match self {
            Self::Aarch64 => 0x10000,
            Self::X86_64 | Self::Other { .. } => 0x1000,
        }
    }
}

impl ElfInfo {
    fn bare(file_len: u64, machine: Machine) -> Self {
        Self {
            file_len,
            kind: ElfKind::Foreign,
            machine,
            header: None,
            segments: Vec::new(),
            sections: Vec::new(),
            dynamic: None,
            strings: None,
            needs: VersionTable::default(),
            definitions: VersionTable::default(),
            interpreter: None,
            isa_level: None,
            isa_number: None,
        }
    }

    /// Kind.
    pub fn kind(&self) -> ElfKind {
        self.kind
    }

    /// Processor.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    pub(super) fn format(&self) -> Format {
        Format::for_machine(self.machine)
    }

    /// 64-bit words in `DT_HASH` (s390x ABI).
    pub(super) fn has_wide_hash(&self) -> bool {
        matches!(self.machine, Machine::Other { number, bits: 64, .. } if number == elf::EM_S390.0)
    }

    /// Returns `e_flags` (32-bit ARM: version and kind of the ABI).
    pub fn flags(&self) -> u32 {
        self.header.as_ref().map_or(0, |header| header.flags)
    }

    fn read_tables(&mut self, file: &(impl ReadAt + ?Sized)) -> Result<(), ElfError> {
        let header = Header::read(file, self.file_len, self.format())?;
        self.segments = header.segments(file, self.file_len)?;
        self.sections = header.sections(file, self.file_len)?;
        if self.is_debug_only() {
            self.kind = ElfKind::DebugOnly;
        } else {
            self.check_loads()?;
            self.read_dynamic(file)?;
            self.kind = self.classify(&header);
            self.isa_level = self.read_isa_level(file)?;
        }
        self.header = Some(header);
        Ok(())
    }

    /// Recognizes files emptied by binutils and LLVM (segments) or elfutils (only sections, marked
    /// `SHT_NOBITS`).
    fn is_debug_only(&self) -> bool {
        let Some(dynamic) = self.segment(elf::PT_DYNAMIC) else {
            let mut code = self
                .sections
                .iter()
                .filter(|section| section.flags & elf::SHF_EXECINSTR.0 != 0)
                .peekable();
            let emptied =
                self.loads().next().is_some() && self.loads().all(|load| load.file_size == 0);
            return emptied
                || (code.peek().is_some() && code.all(|section| section.kind == elf::SHT_NOBITS));
        };
        // `.tbss` takes no address space.
        let takes_room = |section: &Section| {
            section.is_allocated() && section.flags & elf::SHF_TLS.0 == 0 && section.size > 0
        };
        let section = self
            .sections
            .iter()
            .find(|section| takes_room(section) && section.address == dynamic.address);
        dynamic.file_size == 0 || section.is_some_and(|section| section.kind == elf::SHT_NOBITS)
    }

    fn check_loads(&self) -> Result<(), ElfError> {
        let size = |load: &Segment| load.memory_size.max(load.file_size);
        if let Some(load) = self.loads().find(|it| it.address.checked_add(size(it)).is_none()) {
            return Err(ElfError::Header { field: "p_memsz", value: size(load) });
        }
        let need =
            self.loads().map(|load| load.offset.saturating_add(load.file_size)).max().unwrap_or(0);
        let truncated = ElfError::Truncated { what: "a LOAD segment", need, have: self.file_len };
        if need > self.file_len { Err(truncated) } else { Ok(()) }
    }

    fn classify(&self, header: &Header) -> ElfKind {
        let has_loader = self.segment(elf::PT_INTERP).is_some();
        let has_name = self.tag(elf::DT_SONAME).is_some();
        let is_pie = self.tag(elf::DT_FLAGS_1).is_some_and(|flags| flags & elf::DF_1_PIE.0 != 0);
        match (header.kind, has_loader) {
            (elf::ET_EXEC, true) => ElfKind::Executable,
            (elf::ET_EXEC, false) => ElfKind::StaticExecutable,
            (_, true) if is_pie || !has_name => ElfKind::Executable,
            (_, false) if is_pie || self.dynamic.is_none() => ElfKind::StaticPie,
            (_, false) if self.starts_at(header.entry) => ElfKind::Loader,
            _ => ElfKind::SharedLibrary,
        }
    }

    /// Returns whether the kernel can start the file at `entry`. Zero is no entry (gABI), even if a segment of code begins
    /// at address zero. Old linkers give each library the start of its code as its entry.
    fn starts_at(&self, entry: u64) -> bool {
        let is_code = |load: &Segment| {
            let code = load.address..load.address.saturating_add(load.file_size);
            load.flags.0 & elf::PF_X.0 != 0 && code.contains(&entry)
        };
        let is_start = |section: &Section| {
            section.flags & elf::SHF_EXECINSTR.0 != 0 && section.address == entry
        };
        entry != 0
            && self.tag(elf::DT_NEEDED).is_none()
            && self.loads().any(is_code)
            && !self.sections.iter().any(is_start)
    }

    fn read_dynamic(&mut self, file: &(impl ReadAt + ?Sized)) -> Result<(), ElfError> {
        if let Some(segment) = self.segment(elf::PT_INTERP) {
            let mut name = read_bytes(
                file,
                self.file_len,
                segment.offset,
                segment.file_size,
                "the interpreter's name",
            )?;
            name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
            self.interpreter = Some(name);
        }
        let Some(segment) = self.segment(elf::PT_DYNAMIC) else { return Ok(()) };
        self.dynamic = Some(Dynamic::read(file, self.file_len, segment, self.format())?);
        self.strings = self.read_strings(file)?;
        self.needs = self.read_versions(file, Table::Need, elf::DT_VERNEED, elf::DT_VERNEEDNUM)?;
        self.definitions =
            self.read_versions(file, Table::Definition, elf::DT_VERDEF, elf::DT_VERDEFNUM)?;
        Ok(())
    }

    fn read_strings(&self, file: &(impl ReadAt + ?Sized)) -> Result<Option<Strings>, ElfError> {
        let Some(address) = self.tag(elf::DT_STRTAB) else { return Ok(None) };
        let size = self
            .tag(elf::DT_STRSZ)
            .ok_or(ElfError::Dynamic { field: "DT_STRTAB without DT_STRSZ", value: address })?;
        let offset = self
            .offset_of(address, size)
            .ok_or(ElfError::NotFileBacked { field: "DT_STRTAB", address })?;
        let bytes = read_bytes(file, self.file_len, offset, size, "the dynamic string table")?;
        Ok(Some(Strings { offset, address, bytes }))
    }

    fn read_versions(
        &self,
        file: &(impl ReadAt + ?Sized),
        table: Table,
        at: DynamicTag,
        count: DynamicTag,
    ) -> Result<VersionTable, ElfError> {
        match (self.tag(at), self.tag(count)) {
            (Some(address), Some(count)) if count > 0 => {
                let (place, endian) = ((address, count), self.format().endian);
                VersionTable::read(file, self.file_len, &self.segments, table, place, endian)
            }
            _ => Ok(VersionTable::default()),
        }
    }

    pub(super) fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.is_load())
    }

    pub(super) fn segment(&self, kind: ProgramType) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    pub(super) fn tag(&self, tag: DynamicTag) -> Option<u64> {
        self.dynamic.as_ref()?.get(tag)
    }

    /// File offset, and the bytes left in the LOAD.
    pub(super) fn bytes_from(&self, address: u64) -> Option<(u64, u64)> {
        let load = self.loads().find(|load| load.offset_of(address, 1).is_some())?;
        Some((load.offset_of(address, 1)?, load.address + load.file_size - address))
    }

    pub(super) fn offset_of(&self, address: u64, len: u64) -> Option<u64> {
        self.loads().find_map(|load| load.offset_of(address, len))
    }
}
