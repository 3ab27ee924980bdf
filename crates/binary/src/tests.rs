mod import_library;
mod version;

use object::pe;

use super::pe::stub::{
    ADDRESS, DIRECTORIES, FILE_HEADER, Maker, OFFSET, OPTIONAL, SECTIONS, Stub, stub,
};
use super::pe::{PeError, PeFacts, PeKind, PeVersion, facts};
use super::{Binary, BinaryKind, Facts, Format, Machine, ReadAt, read};

fn dll(name: &str, imports: &[&str], delayed: &[&str]) -> Vec<u8> {
    let (kind, machine) = (PeKind::Library, Machine::X86_64);
    stub(&Stub { kind, machine, name, imports, delayed, version: Some([7, 2, 1, 65000]) })
}

fn whole() -> Vec<u8> {
    dll("blas.dll", &["KERNEL32.dll", "amdhip64_7.dll"], &["solver.dll"])
}

#[test]
fn reads_name_and_imports_of_dll() {
    let found = facts(&whole()).unwrap().unwrap();
    let expected = PeFacts {
        kind: PeKind::Library,
        machine: Machine::X86_64,
        name: Some("blas.dll".to_owned()),
        imports: vec!["KERNEL32.dll".to_owned(), "amdhip64_7.dll".to_owned()],
        delayed: vec!["solver.dll".to_owned()],
        version: Some(PeVersion { file: "7.2.1.65000".into(), product: "7.2.1.65000".into() }),
    };
    assert_eq!(found, expected);
    // Cross-check with the reader of `object`.
    let bytes = whole();
    let file = object::read::pe::PeFile64::parse(&*bytes).unwrap();
    let mut names = Vec::new();
    let table = file.import_table().unwrap().unwrap();
    let mut descriptors = table.descriptors().unwrap();
    while let Some(descriptor) = descriptors.next().unwrap() {
        names.push(table.name(descriptor.name.get(object::LittleEndian)).unwrap().to_owned());
    }
    assert_eq!(names, [b"KERNEL32.dll".to_vec(), b"amdhip64_7.dll".to_vec()]);
    assert_eq!(
        file.nt_headers().file_header.machine.get(object::LittleEndian),
        pe::IMAGE_FILE_MACHINE_AMD64
    );
}

#[test]
fn reads_facts_of_pe_and_elf_and_none_of_other_files() {
    let read = |bytes: &[u8]| read(bytes).unwrap();
    let pe = read(&whole()).unwrap();
    let Facts { format, kind, name, needs, delayed, search, versions, .. } = pe.facts();
    assert_eq!((format, kind, name), (Format::Pe, BinaryKind::Library, Some("blas.dll")));
    assert_eq!((needs.len(), delayed, versions.len()), (2, &["solver.dll".to_owned()][..], 0));
    assert!(search.before.is_none() && search.after.is_none());
    assert_eq!(pe.facts().all_needs().count(), 3);
    let made = crate::elf::forward::forwarding_library(
        crate::elf::stub::StubMachine::X86_64,
        "libblas.so",
        "libblas.so.4",
        "$ORIGIN/../lib",
    );
    let elf = read(&made.unwrap()).unwrap();
    let facts = elf.facts();
    assert_eq!((facts.format, facts.kind), (Format::Elf, BinaryKind::Library));
    assert_eq!((facts.name, facts.needs), (Some("libblas.so"), &["libblas.so.4".to_owned()][..]));
    let directories = facts.search.before.unwrap().to_strings();
    assert_eq!((directories, facts.machine), (vec!["$ORIGIN/../lib".to_owned()], Machine::X86_64));
    assert!(matches!((pe, elf), (Binary::Pe(_), Binary::Elf(_))));
    for other in [
        &b""[..],
        b"M",
        b"MZ",
        b"MZ is how this text begins, which goes on for longer than a header does.",
        b"#!/bin/sh\n",
    ] {
        assert_eq!(read(other), None);
    }
}

#[test]
fn distinguishes_programs_drivers_and_machines() {
    let with = |changes: &[(usize, u16)]| {
        let mut made = Maker { bytes: whole() };
        for (at, value) in changes {
            made.half(*at, *value);
        }
        let found = facts(&made.bytes).unwrap().unwrap();
        (found.kind, found.machine)
    };
    let (flags, system) = (FILE_HEADER + 18, OPTIONAL + 68);
    assert_eq!(with(&[(flags, 0x22)]).0, PeKind::Program);
    assert_eq!(with(&[(flags, 0x22), (system, 2)]).0, PeKind::Program);
    assert_eq!(with(&[(flags, 0x22), (system, 1)]).0, PeKind::Native);
    assert_eq!(with(&[(FILE_HEADER, 0xaa64)]).1, Machine::Aarch64);
    let other = Machine::Other { number: 0x14c, bits: 64, big_endian: false };
    assert_eq!(with(&[(FILE_HEADER, 0x14c)]).1, other);
}

fn refused(change: impl Fn(&mut Maker)) -> String {
    let mut made = Maker { bytes: whole() };
    change(&mut made);
    facts(&made.bytes).unwrap_err().to_string()
}

#[test]
fn errors_name_field_and_offset() {
    let import = DIRECTORIES + 8;
    let messages = [
        refused(|made| made.half(OPTIONAL, 0x107)),
        refused(|made| made.word(OPTIONAL + 108, 17)),
        refused(|made| made.half(FILE_HEADER + 16, 100)),
        refused(|made| made.half(FILE_HEADER + 2, 97)),
        refused(|made| made.word(import, 0x9000)),
        refused(|made| made.word(SECTIONS + 16, u32::MAX)),
        refused(|made| made.word(SECTIONS + 12, u32::MAX)),
        // The import table begins four bytes before the end of a section without padding.
        refused(|made| {
            let len = u32::from_le_bytes(made.bytes[SECTIONS + 8..][..4].try_into().unwrap());
            made.bytes.truncate((OFFSET + len) as usize);
            made.word(SECTIONS + 16, len);
            made.word(import, ADDRESS + len - 4);
        }),
        refused(|made| {
            let at = made.bytes.windows(8).position(|at| at == b"KERNEL32").unwrap();
            made.write_at(at, b"KERN\x1b[2J");
        }),
        refused(|made| {
            let at = made.bytes.windows(8).position(|at| at == b"KERNEL32").unwrap();
            made.write_at(at, b"\0");
        }),
        refused(|made| made.bytes.truncate(OPTIONAL + 50)),
        refused(|made| made.bytes.truncate(SECTIONS + 20)),
        refused(|made| made.bytes.truncate(OFFSET as usize + 20)),
    ];
    let expected = [
        "Magic at 0x98 has the invalid value 0x107",
        "NumberOfRvaAndSizes at 0x104 has the invalid value 0x11",
        "NumberOfRvaAndSizes at 0x104 has the invalid value 0x10",
        "NumberOfSections at 0x86 has the invalid value 0x61",
        "the import directory at 0x110 points to address 0x9000, which is in no section",
    ];
    assert_eq!(messages[..5], expected);
    let section = "a section at 0x400 ends at 0x1000003ff, but the file ends at 0x";
    assert!(messages[5].starts_with(section), "{}", messages[5]);
    assert_eq!(messages[6], "VirtualAddress at 0x194 has the invalid value 0xffffffff");
    assert!(
        messages[7].starts_with("the import directory at ")
            && messages[7].ends_with("has no end within its limit"),
        "{}",
        messages[7]
    );
    let name = "is empty, too long or not printable";
    assert!(messages[8].ends_with(name) && messages[9].ends_with(name), "{messages:?}");
    assert!(messages[10].contains("the optional header at 0x98"), "{}", messages[10]);
    assert!(messages[11].contains("a section header at 0x188"), "{}", messages[11]);
    assert!(messages[12].contains("a section at 0x400"), "{}", messages[12]);
}

#[test]
fn limits_tables_without_a_terminator() {
    let endless = refused(|made| {
        // Descriptors fill the section, all with a name: no terminator.
        let name = made.bytes.windows(8).position(|at| at == b"KERNEL32").unwrap();
        let name = u32::try_from(name).unwrap() - OFFSET + ADDRESS;
        let start = u32::try_from(made.bytes.len()).unwrap() - OFFSET + ADDRESS;
        for _ in 0..5000 {
            let words = [0, 0, 0, name, ADDRESS].map(u32::to_le_bytes);
            made.append(&words.concat());
        }
        let len = u32::try_from(made.bytes.len()).unwrap() - OFFSET;
        made.word(SECTIONS + 8, len);
        made.word(SECTIONS + 16, len);
        made.word(DIRECTORIES + 8, start);
    });
    assert!(endless.ends_with("has no end within its limit"), "{endless}");
}

#[test]
fn no_byte_makes_the_reader_panic() {
    let bytes = whole();
    for end in 0..bytes.len() {
        let _ = facts(&bytes[..end]);
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = facts(&changed);
            let last = bytes.len().min(at + 4);
            changed[at..last].fill(value);
            let _ = facts(&changed);
        }
    }
}

#[test]
fn reads_tables_only() {
    struct Long(Vec<u8>);
    impl ReadAt for Long {
        fn len(&self) -> std::io::Result<u64> {
            Ok(u64::from(OFFSET) + (1 << 31))
        }
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> std::io::Result<()> {
            assert!(buf.len() <= 300, "{} bytes at {offset:#x}", buf.len());
            let start = usize::try_from(offset).unwrap();
            let have = self.0.get(start..).unwrap_or_default();
            let count = have.len().min(buf.len());
            buf[..count].copy_from_slice(&have[..count]);
            buf[count..].fill(0);
            Ok(())
        }
    }
    let mut made = Maker { bytes: whole() };
    made.word(SECTIONS + 8, 1 << 31);
    made.word(SECTIONS + 16, 1 << 31);
    assert_eq!(facts(&Long(made.bytes)).unwrap().unwrap().imports.len(), 2);
    let unread = PeError::Read { what: "x", source: std::io::ErrorKind::Other.into() };
    assert!(super::BinaryError::from(unread).into_io().is_ok());
}
