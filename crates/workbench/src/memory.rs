//! Memory image of a file after loading, read with goblin.

#![expect(clippy::cast_possible_truncation, reason = "files of some megabytes")]

use std::ops::Range;

use goblin::elf::program_header::PT_LOAD;
use goblin::elf::{Elf, ProgramHeader, SectionHeader};

/// File with its headers.
pub struct Memory<'b> {
    bytes: &'b [u8],
    pub elf: Elf<'b>,
}

impl<'b> Memory<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, elf: Elf::parse(bytes).unwrap() }
    }

    pub fn loads(&self) -> impl Iterator<Item = &ProgramHeader> {
        self.elf.program_headers.iter().filter(|segment| segment.p_type == PT_LOAD)
    }

    pub fn section(&self, name: &str) -> &SectionHeader {
        let is_it = |it: &&SectionHeader| self.elf.shdr_strtab.get_at(it.sh_name) == Some(name);
        self.elf.section_headers.iter().find(is_it).unwrap_or_else(|| panic!("no {name}"))
    }

    pub fn content(&self, name: &str) -> &'b [u8] {
        let section = self.section(name);
        &self.bytes[section.sh_offset as usize..][..section.sh_size as usize]
    }

    pub fn addresses(&self, name: &str) -> Range<u64> {
        let section = self.section(name);
        section.sh_addr..section.sh_addr + section.sh_size
    }

    /// Returns bytes of the memory, relocations not applied.
    pub fn bytes_at(&self, addresses: Range<u64>) -> Vec<u8> {
        let mut all = Vec::new();
        for address in addresses {
            let inside =
                |it: &&ProgramHeader| it.p_vaddr <= address && address < it.p_vaddr + it.p_memsz;
            let load = self.loads().find(inside);
            let load = load.unwrap_or_else(|| panic!("no memory at {address:#x}"));
            let at = address - load.p_vaddr;
            let in_file = at < load.p_filesz;
            all.push(if in_file { self.bytes[(load.p_offset + at) as usize] } else { 0 });
        }
        all
    }

    /// Returns the words that loaders fill with an address in the file: places and addresses.
    pub fn filled(&self) -> Vec<(u64, u64)> {
        let relative = |it: goblin::elf::Reloc| match it.r_sym {
            0 => it.r_addend.map(|to| (it.r_offset, to.cast_unsigned())),
            symbol => {
                let symbol = self.elf.dynsyms.get(symbol)?;
                (symbol.st_shndx != 0).then_some((it.r_offset, symbol.st_value))
            }
        };
        self.elf.dynrelas.iter().filter_map(relative).collect()
    }

    /// Returns the number in each record, and the address that it has after loading.
    pub fn records(&self) -> Vec<(u32, u64, u64)> {
        let filled = self.filled();
        let record = |at: u64| {
            let bytes = self.bytes_at(at..at + 24);
            let magic = u32::from_le_bytes(bytes[..4].try_into().unwrap());
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let to = filled.iter().find(|(place, _)| *place == at + 8).map(|(_, to)| *to);
            (magic, word(16), to.unwrap_or(word(8)))
        };
        self.addresses(".hipFatBinSegment").step_by(24).map(record).collect()
    }
}
