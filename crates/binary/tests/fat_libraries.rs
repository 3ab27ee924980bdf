//! Device code taken out of libraries: unusual ones are refused, and each byte that differs is noticed.

use binary::device_code::Bundle;
use binary::fat::{Emptied, Fat, prove};
use goblin::elf::SectionHeader;
use goblin::elf::section_header::SHT_NOBITS;
use workbench::code_object::{bundle, code};
use workbench::fat_library::{BUNDLES, Library, OF_MARKER, Place};
use workbench::memory::Memory;

/// Returns the reason for which a library's code cannot be removed, if any.
fn stuck(library: &Library) -> Option<String> {
    let file = library.bytes();
    let fat = match Fat::read(&file) {
        Ok(fat) => fat,
        Err(error) => return Some(error.to_string()),
    };
    fat.emptying(&file, &lengths(&file, &fat), b"marker").err().map(|error| error.to_string())
}

fn lengths(file: &Vec<u8>, fat: &Fat) -> Vec<u64> {
    let length =
        |place: &std::ops::Range<u64>| Bundle::read(file, place.start, place.end).unwrap().length();
    fat.bundles().iter().map(length).collect()
}

#[test]
fn unusual_libraries_are_refused() {
    assert_eq!(stuck(&Library::of_two_units()), None);
    let expect = |library: Library, expected: &str| {
        let why = stuck(&library).expect(expected);
        assert!(why.contains(expected), "{expected:?} in {why:?}");
    };
    let change = |place: Place, bytes: &[u8]| Library::of_two_units().changed(place, bytes);
    let one = BUNDLES as u64;
    expect(Library { machine: 183, ..Library::of_two_units() }, "a processor other than x86-64");
    expect(
        change(Place::Header(16), &[1, 0]),
        "neither a library nor a dynamically linked program",
    );
    // Names of sections: .hip_fatbin is renamed; a second section gets its name.
    let place_of = |name: &str| {
        Library::of_two_units().bytes().windows(name.len()).rposition(|at| at == name.as_bytes())
    };
    let first = place_of("\0.dynstr\0").unwrap();
    let code = place_of(".hip_fatbin").unwrap() - first;
    expect(change(Place::Names(code + 1), b"x"), "0 sections `.hip_fatbin`");
    let records = place_of(".hipFatBinSegment").unwrap() - first;
    expect(change(Place::Names(records + 4), b"x"), "0 sections `.hipFatBinSegment`");
    expect(change(Place::Record(0), &OF_MARKER.to_le_bytes()), "already edited");
    expect(change(Place::Record(24 + 4), &[2]), "is invalid or already edited");
    expect(change(Place::Record(16), &[1]), "is invalid or already edited");
    // A relocation that is not relative, a missing one, and an additional one into the code.
    expect(change(Place::Relocation(24 + 8), &[1]), "points to or changes its offload bundles");
    expect(
        change(Place::Relocation(24), &8_u64.to_le_bytes()),
        "points to or changes its offload bundles",
    );
    expect(Library { other: one + 16, ..Library::of_two_units() }, "the relocation at address");
    // The first bundle has two records, and the second none.
    let twice = change(Place::Relocation(48 + 16), &one.to_le_bytes());
    expect(twice, "is in no offload bundle with a record");
    let outside = change(Place::Relocation(48 + 16), &8_u64.to_le_bytes());
    expect(outside, "an offload bundle outside of `.hip_fatbin`");
    expect(
        Library { symbol: Some(one + 8), ..Library::of_two_units() },
        "a symbol, an export or an entry",
    );
    expect(
        Library { symbol: Some(one - 4), ..Library::of_two_units() },
        "a symbol, an export or an entry",
    );
    for symbol in [8, one] {
        assert_eq!(stuck(&Library { symbol: Some(symbol), ..Library::of_two_units() }), None);
    }
    // A relocation by a symbol of a bundle, other than a record's; and an unreadable symbol table.
    let named = Library { symbol: Some(one), ..Library::of_two_units() };
    expect(named.changed(Place::Relocation(8), &[1, 0, 0, 0, 1]), "the relocation at address");
    let far = Library::of_two_units().changed(Place::Dynamic(3 * 16 + 8), &[0, 0, 0xff, 0xff]);
    expect(far, "its relocations, symbols, or the records of its offload bundles cannot be read");
    let end = Library::of_two_units().starts()[1] - BUNDLES - 1;
    expect(change(Place::Bundle(end), &[1]), "is in no offload bundle");
}

#[test]
fn proofs_find_each_byte_that_differs() {
    let library = Library::of_two_units();
    let (old, marker) = (library.bytes(), b"marker");
    let fat = Fat::read(&old).unwrap();
    let new = emptied(&old, marker);
    assert_eq!(
        fat.emptying(&old, &lengths(&old, &fat), marker).unwrap().new_len(),
        new.len() as u64
    );
    prove(&old, &new, marker).unwrap();
    assert!(prove(&old, &new, b"narker").is_err());
    assert!(prove(&old, &old, marker).is_err());
    let memory = Memory::new(&new);
    // Padding is in no section, and loaders fill in the records' addresses.
    let sections = memory.elf.section_headers.iter().filter(|it| it.sh_type != SHT_NOBITS);
    let used = |at: usize| {
        let inside =
            |it: &SectionHeader| (it.sh_offset..it.sh_offset + it.sh_size).contains(&(at as u64));
        sections.clone().any(inside) || at < 232 || at >= new.len() - 64 * 11
    };
    let kept = (0..new.len()).filter(|at| used(*at) || (BUNDLES..BUNDLES + 4096).contains(at));
    let accepted: Vec<String> = kept
        .filter(|at| {
            let mut other = new.clone();
            other[*at] ^= 0x40;
            prove(&old, &other, marker).is_ok()
        })
        .map(|at| format!("{at:#x}"))
        .collect();
    assert!(accepted.is_empty(), "{accepted:?}");
}

/// Returns a copy of the library whose section headers precede the section names, with headers more
/// at the end: `more` copies of the last one, which is that of the names.
fn with_last_headers_again(library: &[u8], more: usize) -> Vec<u8> {
    let word = |at: usize| {
        usize::try_from(u64::from_le_bytes(library[at..at + 8].try_into().unwrap())).unwrap()
    };
    let (table, last) = (word(40), library.len() - 64);
    let (names, size) = (word(last + 24), word(last + 32));
    let count = (library.len() - table) / 64 + more;
    let mut new = library[..names].to_vec();
    new.resize(names.next_multiple_of(8), 0);
    let (new_table, new_names) = (new.len(), new.len() + count * 64);
    new.extend(&library[table..]);
    (0..more).for_each(|_| new.extend(&library[last..]));
    new.extend(&library[names..names + size]);
    for header in count - more - 1..count {
        let at = new_table + header * 64 + 24;
        new[at..at + 8].copy_from_slice(&(new_names as u64).to_le_bytes());
    }
    new[40..48].copy_from_slice(&(new_table as u64).to_le_bytes());
    new[60..62].copy_from_slice(&u16::try_from(count).unwrap().to_le_bytes());
    new
}

#[test]
fn names_that_two_sections_share_stay_where_they_are() {
    let old = Library::of_two_units().bytes();
    // Without a second section, the names and the headers are written again in the same place.
    let in_place = emptied(&with_last_headers_again(&old, 0), b"marker");
    let shared = emptied(&with_last_headers_again(&old, 1), b"marker");
    assert!(shared.len() > in_place.len() + 64, "{} {}", shared.len(), in_place.len());
}

#[test]
fn more_sections_than_the_header_can_count_are_refused() {
    let many = with_last_headers_again(&Library::of_two_units().bytes(), 0xff00 - 1 - 10);
    let fat = Fat::read(&many).unwrap();
    let error = fat.emptying(&many, &lengths(&many, &fat), b"marker").unwrap_err();
    assert_eq!(error.to_string(), "it has 65279 sections, and another one is not supported");
}

/// Returns the library without its bundles, which is proven.
pub fn emptied(old: &Vec<u8>, marker: &[u8]) -> Vec<u8> {
    let fat = Fat::read(old).unwrap();
    let emptying = fat.emptying(old, &lengths(old, &fat), marker).unwrap();
    let mut new = Vec::new();
    std::io::Read::read_to_end(&mut Emptied::new(old, &emptying).reader(), &mut new).unwrap();
    prove(old, &new, marker).unwrap();
    new
}

/// Moves the names of sections behind the section headers, and gives their bytes to a second
/// section.
fn with_shared_names(mut file: Vec<u8>) -> Vec<u8> {
    let number = |bytes: &[u8]| usize::from_le_bytes(bytes[..8].try_into().unwrap());
    let mut headers = file.split_off(number(&file[40..]));
    let last = headers.len() - 64;
    let (offset, size) = (number(&headers[last + 24..]), number(&headers[last + 32..]));
    let names = file.split_off(offset)[..size].to_vec();
    file.resize(offset.next_multiple_of(8), 0);
    let (table, place) = (file.len(), file.len() + headers.len() + 64);
    headers[last + 24..last + 32].copy_from_slice(&place.to_le_bytes());
    let second = [&[0, 0, 0, 0, 1, 0, 0, 0], &headers[last + 8..]].concat();
    headers.extend(second);
    file[40..48].copy_from_slice(&table.to_le_bytes());
    file[60] += 1;
    [file, headers, names].concat()
}

#[test]
fn keeps_a_section_that_shares_the_names_of_sections() {
    let old = with_shared_names(Library::of_two_units().bytes());
    let new = emptied(&old, b"marker");
    let shared = |file: &Vec<u8>, from_end: usize| {
        let elf = goblin::elf::Elf::parse(file).unwrap();
        let section = &elf.section_headers[elf.section_headers.len() - from_end];
        file[section.file_range().unwrap()].to_vec()
    };
    // The last section of the new file is the marker.
    assert_eq!(shared(&new, 2), shared(&old, 1));
}

#[test]
fn without_room_for_a_header_the_pages_become_zeros_that_take_no_memory() {
    let code = bundle(&[("gpu90", code(0x21, (3 << 20) - 99))]);
    let old = Library { is_crowded: true, ..Library::new(&[code]) }.bytes();
    let fat = Fat::read(&old).unwrap();
    let emptying = fat.emptying(&old, &lengths(&old, &fat), b"marker").unwrap();
    assert_eq!(emptying.freed(), 0);
    assert!(emptying.memory_size() < 4096, "{}", emptying.memory_size());
    let new = emptied(&old, b"marker");
    assert_eq!(new.len() as u64, emptying.new_len());
    let bundles = &new[BUNDLES..BUNDLES + (3 << 20)];
    assert!(bundles.starts_with(b"marker\0") && bundles[6..].iter().all(|byte| *byte == 0));
}
