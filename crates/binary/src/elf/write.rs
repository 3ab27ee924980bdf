//! Writer of small 64-bit little-endian ELF files.

use object::elf::{
    self, FileHeader64, FileType, Machine, ProgramFlags, ProgramHeader64, ProgramType,
    SectionFlags, SectionHeader64, SectionType,
};
use object::pod::bytes_of;
use object::{LittleEndian as LE, U16, U32, U64};
use serde::{Deserialize, Serialize};

use base::hash::Sha256;

/// Machine for which programs and libraries can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum StubMachine {
    /// x86-64 (`EM_X86_64`).
    #[serde(rename = "x86-64")]
    X86_64,
    /// 64-bit ARM, little-endian (`EM_AARCH64`).
    #[serde(rename = "aarch64")]
    Aarch64,
}

impl StubMachine {
    /// All machines.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// `None` for unsupported machines.
    pub fn of(machine: super::Machine) -> Option<Self> {
        match machine {
            super::Machine::X86_64 => Some(Self::X86_64),
            super::Machine::Aarch64 => Some(Self::Aarch64),
            super::Machine::Other { .. } => None,
        }
    }

    /// Returns the processor.
    pub fn machine(self) -> super::Machine {
        match self {
            Self::X86_64 => super::Machine::X86_64,
            Self::Aarch64 => super::Machine::Aarch64,
        }
    }

    fn e_machine(self) -> Machine {
        match self {
            Self::X86_64 => elf::EM_X86_64,
            Self::Aarch64 => elf::EM_AARCH64,
        }
    }

    fn page_size(self) -> u64 {
        match self {
            Self::X86_64 => 0x1000,
            Self::Aarch64 => 0x1_0000,
        }
    }
}

pub(super) struct Section {
    name: &'static str,
    kind: SectionType,
    flags: SectionFlags,
    align: u64,
    entry_size: u64,
    link: &'static str,
    info: u32,
    bytes: Vec<u8>,
}

impl Section {
    pub(super) fn new(name: &'static str, kind: SectionType, align: u64, bytes: Vec<u8>) -> Self {
        Self { name, kind, flags: elf::SHF_ALLOC, align, entry_size: 0, link: "", info: 0, bytes }
    }

    pub(super) fn flag(mut self, flag: SectionFlags) -> Self {
        self.flags = SectionFlags(self.flags.0 | flag.0);
        self
    }

    /// `info` depends on the type of the section (gABI, "Sections").
    pub(super) fn table(mut self, entry_size: usize, link: &'static str, info: u32) -> Self {
        (self.entry_size, self.link, self.info) = (entry_size as u64, link, info);
        self
    }

    pub(super) fn build_id() -> Self {
        let mut bytes = [4u32, BUILD_ID_LEN, elf::NT_GNU_BUILD_ID.0].map(u32::to_le_bytes).concat();
        bytes.extend(b"GNU\0");
        bytes.extend([0; BUILD_ID_LEN as usize]);
        Self::new(BUILD_ID, elf::SHT_NOTE, 4, bytes)
    }

    fn has_flag(&self, flag: SectionFlags) -> bool {
        self.flags.0 & flag.0 != 0
    }
}

pub(super) const BUILD_ID: &str = ".note.gnu.build-id";
/// Length of a SHA-1, as in linkers' build IDs.
const BUILD_ID_LEN: u32 = 20;
const SECTION_NAMES: &str = ".shstrtab";

pub(super) struct Segment {
    kind: ProgramType,
    flags: ProgramFlags,
    span: Span,
}

enum Span {
    /// Up to the end of this section.
    HeadersTo(&'static str),
    Section(&'static str),
    Nothing,
}

impl Segment {
    pub(super) fn load_to(last: &'static str, flags: ProgramFlags) -> Self {
        Self { kind: elf::PT_LOAD, flags, span: Span::HeadersTo(last) }
    }

    pub(super) fn in_section(
        kind: ProgramType,
        section: &'static str,
        flags: ProgramFlags,
    ) -> Self {
        Self { kind, flags, span: Span::Section(section) }
    }

    /// Forbids an executable stack.
    pub(super) fn stack() -> Self {
        Self { kind: elf::PT_GNU_STACK, flags: READ_WRITE, span: Span::Nothing }
    }
}

pub(super) const READ_WRITE: ProgramFlags = ProgramFlags(elf::PF_R.0 | elf::PF_W.0);
pub(super) const READ_EXECUTE: ProgramFlags = ProgramFlags(elf::PF_R.0 | elf::PF_X.0);

#[derive(Clone, Copy, Default)]
struct Range {
    offset: u64,
    address: u64,
    size: u64,
}

/// Writable sections are one page higher in memory than in the file: segments share file pages, but
/// no memory pages.
pub(super) struct Image {
    machine: StubMachine,
    kind: FileType,
    base: u64,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    ranges: Vec<Range>,
}

impl Image {
    pub(super) fn place(
        machine: StubMachine,
        kind: FileType,
        base: u64,
        segments: Vec<Segment>,
        mut sections: Vec<Section>,
    ) -> Self {
        sections.push(section_names(&sections));
        let mut end = (size_of::<FileHeader64<LE>>()
            + segments.len() * size_of::<ProgramHeader64<LE>>()) as u64;
        let mut ranges = Vec::new();
        for section in &sections {
            let offset = end.next_multiple_of(section.align);
            let page = if section.has_flag(elf::SHF_WRITE) { machine.page_size() } else { 0 };
            let address = if section.has_flag(elf::SHF_ALLOC) { base + offset + page } else { 0 };
            ranges.push(Range { offset, address, size: section.bytes.len() as u64 });
            end = offset + section.bytes.len() as u64;
        }
        Self { machine, kind, base, segments, sections, ranges }
    }

    pub(super) fn address(&self, name: &str) -> u64 {
        self.range(name).address
    }

    pub(super) fn fill(&mut self, name: &str, bytes: Vec<u8>) {
        let index = self.index(name);
        assert_eq!(self.sections[index].bytes.len(), bytes.len(), "{name} has its place already");
        self.sections[index].bytes = bytes;
    }

    /// `entry` is 0 for a library.
    pub(super) fn finish(self, entry: u64) -> Vec<u8> {
        let mut out = bytes_of(&self.file_header(entry)).to_vec();
        for segment in &self.segments {
            out.extend(bytes_of(&self.program_header(segment)));
        }
        for (section, range) in self.sections.iter().zip(&self.ranges) {
            out.resize(narrow(range.offset), 0);
            out.extend(&section.bytes);
        }
        out.resize(narrow(self.section_headers()), 0);
        out.extend([0; size_of::<SectionHeader64<LE>>()]);
        for (section, range) in self.sections.iter().zip(&self.ranges) {
            out.extend(bytes_of(&self.section_header(section, *range)));
        }
        self.sign(&mut out);
        out
    }

    /// Fills in the start of the SHA-256 of the file with a zero build ID.
    fn sign(&self, out: &mut [u8]) {
        let note = self.range(BUILD_ID);
        let end: usize = narrow(note.offset + note.size);
        let start = end - BUILD_ID_LEN as usize;
        let sha256 = Sha256::of(out);
        out[start..end].copy_from_slice(&sha256.as_bytes()[..end - start]);
    }

    fn index(&self, name: &str) -> usize {
        let index = self.sections.iter().position(|section| section.name == name);
        index.unwrap_or_else(|| panic!("{name} is one of the sections that were placed"))
    }

    fn range(&self, name: &str) -> Range {
        self.ranges[self.index(name)]
    }

    fn section_headers(&self) -> u64 {
        let names = self.range(SECTION_NAMES);
        (names.offset + names.size).next_multiple_of(8)
    }

    fn program_header(&self, segment: &Segment) -> ProgramHeader64<LE> {
        let (range, align) = match segment.span {
            Span::HeadersTo(last) => {
                let last = self.range(last);
                (
                    Range { offset: 0, address: self.base, size: last.offset + last.size },
                    self.machine.page_size(),
                )
            }
            Span::Section(name) if segment.kind == elf::PT_LOAD => {
                (self.range(name), self.machine.page_size())
            }
            Span::Section(name) => (self.range(name), self.sections[self.index(name)].align),
            Span::Nothing => (Range::default(), 16),
        };
        ProgramHeader64 {
            p_type: U32::new(LE, segment.kind),
            p_flags: U32::new(LE, segment.flags),
            p_offset: U64::new(LE, range.offset),
            p_vaddr: U64::new(LE, range.address),
            p_paddr: U64::new(LE, range.address),
            p_filesz: U64::new(LE, range.size),
            p_memsz: U64::new(LE, range.size),
            p_align: U64::new(LE, align),
        }
    }

    fn section_header(&self, section: &Section, range: Range) -> SectionHeader64<LE> {
        // Header 0 is the null section.
        let link = if section.link.is_empty() { 0 } else { self.index(section.link) + 1 };
        let names = &self.sections[self.index(SECTION_NAMES)].bytes;
        SectionHeader64 {
            sh_name: U32::new(LE, narrow(name_offset(names, section.name))),
            sh_type: U32::new(LE, section.kind),
            sh_flags: U64::new(LE, section.flags),
            sh_addr: U64::new(LE, range.address),
            sh_offset: U64::new(LE, range.offset),
            sh_size: U64::new(LE, range.size),
            sh_link: U32::new(LE, narrow(link)),
            sh_info: U32::new(LE, section.info),
            sh_addralign: U64::new(LE, section.align),
            sh_entsize: U64::new(LE, section.entry_size),
        }
    }

    fn file_header(&self, entry: u64) -> FileHeader64<LE> {
        let e_ident = elf::Ident {
            magic: elf::ELFMAG,
            class: elf::ELFCLASS64,
            data: elf::ELFDATA2LSB,
            version: elf::EV_CURRENT,
            os_abi: elf::ELFOSABI_SYSV,
            abi_version: 0,
            padding: [0; 7],
        };
        FileHeader64 {
            e_ident,
            e_type: U16::new(LE, self.kind),
            e_machine: U16::new(LE, self.machine.e_machine()),
            e_version: U32::new(LE, elf::EV_CURRENT.0.into()),
            e_entry: U64::new(LE, entry),
            e_phoff: U64::new(LE, size_of::<FileHeader64<LE>>() as u64),
            e_shoff: U64::new(LE, self.section_headers()),
            e_flags: U32::new(LE, elf::FileFlags(0)),
            e_ehsize: U16::new(LE, narrow(size_of::<FileHeader64<LE>>())),
            e_phentsize: U16::new(LE, narrow(size_of::<ProgramHeader64<LE>>())),
            e_phnum: U16::new(LE, narrow(self.segments.len())),
            e_shentsize: U16::new(LE, narrow(size_of::<SectionHeader64<LE>>())),
            e_shnum: U16::new(LE, narrow(self.sections.len() + 1)),
            e_shstrndx: U16::new(LE, elf::SymbolSection(narrow(self.index(SECTION_NAMES) + 1))),
        }
    }
}

fn section_names(sections: &[Section]) -> Section {
    let names = sections.iter().map(|section| section.name).chain([SECTION_NAMES]);
    let bytes = names.fold(vec![0], |bytes, name| [&bytes, name.as_bytes(), &[0]].concat());
    let mut table = Section::new(SECTION_NAMES, elf::SHT_STRTAB, 1, bytes);
    table.flags = SectionFlags(0);
    table
}

fn name_offset(table: &[u8], name: &str) -> usize {
    let terminated = [b"\0", name.as_bytes(), b"\0"].concat();
    let position = table.windows(terminated.len()).position(|window| window == terminated);
    position.map_or(0, |before| before + 1)
}

/// Files written here have a few KB.
fn narrow<T>(value: impl TryInto<T, Error: std::fmt::Debug>) -> T {
    value.try_into().expect("sizes and counts in a file of a few KB")
}
