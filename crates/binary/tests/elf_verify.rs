//! `elf::compare` and the editor on files with one changed field, which a loader would refuse,
//! crash on or misread.

use binary::elf::{self, Edited, Edits, ElfError, RpathEdit};

use crate::elf_mutations::property::loader::{self, Image, number, tag};

/// Returns a library that needs versions of the C library: one of the fuzzers' seeds.
fn library() -> Vec<u8> {
    let path = workbench::checkout().join("fuzz/seeds/bfd-notes.so");
    fs_err::read(path).unwrap()
}

/// Returns the library with a longer rpath.
fn edited(old: &Vec<u8>) -> Vec<u8> {
    let edits = Edits::rpath(RpathEdit::Append(vec!["$ORIGIN/../../another/directory".to_owned()]));
    let plan = elf::edit(old, &edits).unwrap();
    let mut new = Vec::new();
    std::io::copy(&mut Edited::new(old, &plan).reader(), &mut new).unwrap();
    new
}

fn set(bytes: &mut [u8], at: u64, len: usize, value: u64) {
    let at = usize::try_from(at).unwrap();
    bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
}

/// Returns `bytes` with a changed number in the field of `len` bytes at `at`.
fn changed(bytes: &[u8], at: u64, len: usize, change: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let old = number(&bytes, at, len).unwrap();
    set(&mut bytes, at, len, change(old));
    assert_ne!(number(&bytes, at, len), Some(old));
    bytes
}

#[test]
fn no_field_of_the_version_needs_can_change() {
    let old = library();
    let new = edited(&old);
    assert_eq!(elf::compare(&old, &new), Ok(()));
    let image = Image::map(&new).unwrap();
    let need = image.offset(image.entry(tag::VERNEED).unwrap()).unwrap();
    let name = need + number(&new, need + 8, 4).unwrap();
    let fields = [
        ("vn_version", need, 2),
        ("vn_cnt", need + 2, 2),
        ("vn_aux", need + 8, 4),
        ("vn_next", need + 12, 4),
        ("vna_hash", name, 4),
        ("vna_flags", name + 4, 2),
        ("vna_other", name + 6, 2),
        ("vna_name", name + 8, 4),
        ("vna_next", name + 12, 4),
    ];
    for (field, at, len) in fields {
        for flip in [1, 2, 16, 0x80] {
            let wrong = changed(&new, at, len, |old| old ^ flip);
            assert!(elf::compare(&old, &wrong).is_err(), "{field} with {flip:#x}");
        }
    }
}

#[test]
fn no_load_can_be_larger_or_aligned_otherwise() {
    let old = library();
    let new = edited(&old);
    let table = number(&new, 32, 8).unwrap();
    let count = number(&new, 56, 2).unwrap();
    let loads: Vec<_> = (0..count)
        .map(|index| table + 56 * index)
        .filter(|&at| number(&new, at, 4) == Some(1))
        .collect();
    assert!(loads.len() >= 3, "{loads:?}");
    for at in loads {
        let larger = changed(&new, at + 40, 8, |size| size + (1 << 20));
        assert!(elf::compare(&old, &larger).is_err(), "p_memsz of the LOAD at {at:#x}");
        let aligned = changed(&new, at + 48, 8, |align| align * 2);
        assert!(elf::compare(&old, &aligned).is_err(), "p_align of the LOAD at {at:#x}");
        // A new LOAD with code is suspicious.
        let code = changed(&new, at + 4, 4, |flags| flags ^ 1 | 2);
        assert!(elf::compare(&old, &code).is_err(), "p_flags of the LOAD at {at:#x}");
    }
}

#[test]
fn no_part_of_the_identification_can_change() {
    let old = library();
    let new = edited(&old);
    for (field, at) in [("EI_VERSION", 6), ("EI_OSABI", 7), ("EI_ABIVERSION", 8), ("padding", 15)] {
        let wrong = changed(&new, at, 1, |old| old + 1);
        assert!(elf::compare(&old, &wrong).is_err(), "{field}");
    }
}

#[test]
fn files_read_differently_by_loaders_and_editors_are_refused() {
    let old = library();
    let edits = Edits::rpath(RpathEdit::Set(vec!["/x".to_owned()]));
    let refused = |bytes: &Vec<u8>| elf::edit(bytes, &edits).unwrap_err();
    let header = |field: &str, error: ElfError| matches!(error, ElfError::Header { field: is, .. } if is == field);
    assert!(header("EI_VERSION", refused(&changed(&old, 6, 1, |_| 255))));

    let segment = |kind: u64| {
        let at = (0..20).map(|index| 64 + 56 * index);
        at.into_iter().find(|&at| number(&old, at, 4) == Some(kind)).unwrap()
    };
    let dynamic = segment(2);
    let elsewhere = changed(&old, dynamic + 16, 8, |address| address + 16);
    assert!(header("p_vaddr of PT_DYNAMIC", refused(&elsewhere)));
    let mut twice = old.clone();
    set(&mut twice, segment(4), 4, 2);
    assert!(header("count of PT_DYNAMIC entries", refused(&twice)));

    let image = Image::map(&old).unwrap();
    let start = image
        .offset(image.segments.iter().find(|it| it.kind == loader::DYNAMIC).unwrap().address)
        .unwrap();
    let entry = |wanted: u64| {
        let index = image.dynamic.iter().position(|entry| entry.0 == wanted).unwrap();
        start + 16 * index as u64
    };
    let second = changed(&old, entry(tag::GNU_HASH), 8, |_| tag::RELA);
    assert!(matches!(
        refused(&second),
        ElfError::Dynamic { field: "count of DT_RELA entries", value: 2 }
    ));
    let without = changed(&old, entry(tag::SYMTAB), 8, |_| 0x1_0000);
    assert!(matches!(
        refused(&without),
        ElfError::Dynamic { field: "count of DT_SYMTAB entries", value: 0 }
    ));
    let beyond = changed(&old, 64 + 56 + 16, 8, |_| u64::MAX);
    assert!(header("p_memsz", refused(&beyond)));
    let versions = image.entry(tag::VERSYM).unwrap();
    let over = changed(&old, entry(tag::VERNEED) + 8, 8, |_| versions);
    assert!(matches!(
        refused(&over),
        ElfError::Overlap { .. } | ElfError::Versions { .. } | ElfError::Dynamic { .. }
    ));
}

/// Thousands of equal headers are one fault.
#[test]
fn equal_headers_are_reported_once() {
    let mut bytes = library();
    let load: Vec<u8> = (0..20)
        .map(|index| 64 + 56 * index)
        .find(|&at| number(&bytes, at, 4) == Some(1))
        .map(|at| bytes[usize::try_from(at).unwrap()..][..56].to_vec())
        .unwrap();
    let count = number(&bytes, 56, 2).unwrap();
    let table = number(&bytes, 32, 8).unwrap();
    let mut headers =
        bytes[usize::try_from(table).unwrap()..][..usize::try_from(56 * count).unwrap()].to_vec();
    (0..20_000).for_each(|_| headers.extend(&load));
    let at = bytes.len() as u64;
    bytes.extend(&headers);
    set(&mut bytes, 32, 8, at);
    set(&mut bytes, 56, 2, count + 20_000);
    let found = elf::inherited_violations(&bytes).unwrap();
    assert!((1..20).contains(&found.len()), "{} faults", found.len());
}
