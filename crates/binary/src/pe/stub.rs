//! Builder of small PE32+ files for demos and tests.

use object::pe;

use super::facts::PeKind;
use super::version::numbered;
use crate::Machine;

pub(crate) const ADDRESS: u32 = 0x1000;
pub(crate) const OFFSET: u32 = 0x400;
const FILE_ALIGNMENT: usize = 0x200;

pub(crate) const SIGNATURE: usize = 0x80;
pub(crate) const FILE_HEADER: usize = SIGNATURE + 4;
pub(crate) const OPTIONAL: usize = FILE_HEADER + 20;
pub(crate) const DIRECTORIES: usize = OPTIONAL + 112;
pub(crate) const SECTIONS: usize = DIRECTORIES + 16 * 8;

const RETURN_0_X86_64: &[u8] = &[0x31, 0xc0, 0xc3];
const RETURN_0_AARCH64: &[u8] = &[0x00, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6];

/// Properties of a stub.
#[derive(Debug, Clone, Copy)]
pub struct Stub<'s> {
    /// Role.
    pub kind: PeKind,
    /// `Aarch64`; all others build x86-64.
    pub machine: Machine,
    /// Name in the export directory.
    pub name: &'s str,
    /// DLLs loaded at start.
    pub imports: &'s [&'s str],
    /// Delay imports.
    pub delayed: &'s [&'s str],
    /// Version.
    pub version: Option<[u16; 4]>,
}

/// Builds the file ("PE Format").
pub fn stub(wanted: &Stub<'_>) -> Vec<u8> {
    let mut made = Maker { bytes: vec![0; OFFSET as usize] };
    let (machine, code) = match wanted.machine {
        Machine::Aarch64 => (pe::IMAGE_FILE_MACHINE_ARM64, RETURN_0_AARCH64),
        _ => (pe::IMAGE_FILE_MACHINE_AMD64, RETURN_0_X86_64),
    };
    let entry = made.append(code);
    made.align();
    let called = made.append(&[wanted.name.as_bytes(), b"\0"].concat());
    let mut export = vec![0; 40];
    export[12..16].copy_from_slice(&called.to_le_bytes());
    made.align();
    let export = made.append(&export);
    // No functions are imported: the function tables are empty.
    let empty = made.append(&[0; 16]);
    let import = made.table(wanted.imports, 20, 12, &[(0, empty), (16, empty)]);
    let delay = made.table(wanted.delayed, 32, 4, &[(0, 1), (12, empty), (16, empty)]);
    let resources = wanted.version.map(|version| made.resources(&numbered(version)));
    let is_dll = wanted.kind == PeKind::Library;
    made.write_at(0, b"MZ");
    made.word(0x3c, size(SIGNATURE));
    made.write_at(SIGNATURE, b"PE\0\0");
    made.half(FILE_HEADER, machine.0);
    made.half(FILE_HEADER + 2, 1);
    made.half(FILE_HEADER + 16, 112 + 16 * 8);
    // Flags: executable, large address aware, and DLL.
    made.half(FILE_HEADER + 18, if is_dll { 0x2022 } else { 0x0022 });
    made.half(OPTIONAL, 0x20b);
    made.word(OPTIONAL + 16, if is_dll { 0 } else { entry });
    made.word(OPTIONAL + 24, 0x8000_0000);
    made.word(OPTIONAL + 28, 1);
    made.word(OPTIONAL + 32, ADDRESS);
    made.word(OPTIONAL + 36, size(FILE_ALIGNMENT));
    for version in [40, 48] {
        made.half(OPTIONAL + version, 6);
    }
    made.word(OPTIONAL + 60, OFFSET);
    made.half(OPTIONAL + 68, pe::IMAGE_SUBSYSTEM_WINDOWS_CUI.0);
    for reserve in [72, 80, 88, 96] {
        made.word(OPTIONAL + reserve, 0x10_0000);
    }
    made.word(OPTIONAL + 108, 16);
    let tables = [(0, export, 40), (1, import, 20 * (wanted.imports.len() + 1))];
    for (index, address, len) in
        tables.into_iter().chain([(13, delay, 32 * (wanted.delayed.len() + 1))])
    {
        made.word(DIRECTORIES + 8 * index, address);
        made.word(DIRECTORIES + 8 * index + 4, size(len));
    }
    if let Some((address, len)) = resources {
        made.word(DIRECTORIES + 8 * pe::IMAGE_DIRECTORY_ENTRY_RESOURCE, address);
        made.word(DIRECTORIES + 8 * pe::IMAGE_DIRECTORY_ENTRY_RESOURCE + 4, len);
    }
    let len = made.bytes.len() - OFFSET as usize;
    made.bytes.resize(made.bytes.len().next_multiple_of(FILE_ALIGNMENT), 0);
    let raw = made.bytes.len() - OFFSET as usize;
    made.word(OPTIONAL + 56, ADDRESS + size(len.next_multiple_of(ADDRESS as usize)));
    made.write_at(SECTIONS, b".text\0\0\0");
    for (at, value) in [(8, size(len)), (12, ADDRESS), (16, size(raw)), (20, OFFSET)] {
        made.word(SECTIONS + at, value);
    }
    // Section flags: code, data, executable, readable, writable.
    made.word(SECTIONS + 36, 0xe000_0060);
    made.bytes
}

fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

pub(crate) struct Maker {
    pub bytes: Vec<u8>,
}

impl Maker {
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub fn word(&mut self, at: usize, value: u32) {
        self.write_at(at, &value.to_le_bytes());
    }

    pub fn half(&mut self, at: usize, value: u16) {
        self.write_at(at, &value.to_le_bytes());
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
    }

    pub fn append(&mut self, bytes: &[u8]) -> u32 {
        let address = ADDRESS + size(self.bytes.len()) - OFFSET;
        self.bytes.extend(bytes);
        address
    }

    fn resources(&mut self, statement: &[u8]) -> (u32, u32) {
        self.align();
        let data = self.append(statement);
        self.align();
        let mut made = Vec::new();
        for (number, leads) in [(16_u32, 0x8000_0018_u32), (1, 0x8000_0030), (1033, 72)] {
            made.extend([0; 14]);
            made.extend([1, 0]);
            made.extend(number.to_le_bytes());
            made.extend(leads.to_le_bytes());
        }
        for word in [data, size(statement.len()), 0, 0] {
            made.extend(word.to_le_bytes());
        }
        (self.append(&made), size(made.len()))
    }

    /// The name's address is at offset `field`; `more` has other words.
    fn table(&mut self, names: &[&str], size: usize, field: usize, more: &[(usize, u32)]) -> u32 {
        let names: Vec<u32> =
            names.iter().map(|name| self.append(&[name.as_bytes(), b"\0"].concat())).collect();
        let mut table = vec![0; size * (names.len() + 1)];
        for (entry, name) in table.chunks_mut(size).zip(&names) {
            entry[field..field + 4].copy_from_slice(&name.to_le_bytes());
            for (at, word) in more {
                entry[*at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        self.align();
        self.append(&table)
    }
}
