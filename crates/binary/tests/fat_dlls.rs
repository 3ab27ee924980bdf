//! Device code taken out of DLLs: unusual ones are refused, and each byte that differs is noticed.

use std::io::Read;
use std::process::Command;

use binary::device_code::{Bundle, CodeForm, forms};
use binary::fat::{Emptied, Fat, prove};
use binary::{Binary, read};
use fs_err as fs;
use workbench::code_object::{bundle, code};
use workbench::fat_dll::{
    BASE, Dll, FILE_HEADER, OPTIONAL, Place, RUNTIME, SECTIONS, TABLE, checksum, memory, places,
};
use workbench::fat_library::OF_MARKER;
use workbench::skips::has;
use workbench::tool;

const MARKER: &[u8] = b"marker";
const CHECKSUM: usize = OPTIONAL + 64;

fn emptied(old: &Vec<u8>, marker: &[u8]) -> Result<Vec<u8>, String> {
    let fat = Fat::read(old).map_err(|error| error.to_string())?;
    let length = |place: std::ops::Range<u64>| {
        Bundle::read(old, place.start, place.end).map(|bundle| bundle.length())
    };
    let lengths: Result<Vec<u64>, _> = fat.bundles().into_iter().map(length).collect();
    let lengths = lengths.map_err(|error| error.to_string())?;
    let emptying = fat.emptying(old, &lengths, marker).map_err(|error| error.to_string())?;
    let mut new = Vec::new();
    Emptied::new(old, &emptying).reader().read_to_end(&mut new).unwrap();
    assert_eq!(new.len() as u64, emptying.new_len());
    prove(old, &new, marker).unwrap();
    Ok(new)
}

fn place_named<'p>(places: &'p [Place], name: &str) -> &'p Place {
    places.iter().find(|place| place.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Compares the memory of the sections that stay, apart from records and debug data.
fn check_memory(old: &[u8], new: &[u8]) {
    let (before, after) = (places(old), places(new));
    assert_eq!(after.len(), before.len() + 1);
    for (was, now) in before.iter().zip(&after) {
        assert_eq!((&was.name, &was.memory), (&now.name, &now.memory));
        if !was.name.starts_with(".hip") {
            let (mut was_bytes, mut now_bytes) = (memory(old, was), memory(new, now));
            if was.name == ".rdata" {
                was_bytes[0x58..0x5c].fill(0);
                now_bytes[0x58..0x5c].fill(0);
            }
            assert!(was_bytes == now_bytes && was.flags == now.flags, "{}", was.name);
        }
    }
    let (gone, marker) = (place_named(&after, ".hip_fat"), after.last().unwrap());
    assert_eq!((&gone.file, gone.flags), (&(0..0), 0x4000_0080));
    assert_eq!((&*marker.name, marker.flags), (".kpackrf", 0x4000_0040));
    assert_eq!(memory(new, marker), MARKER);
    // Sections follow each other, in memory and in the file.
    let word = |at: usize| u32::from_le_bytes(new[at..at + 4].try_into().unwrap()) as usize;
    let mut end = 0x1000;
    for place in &after {
        assert_eq!(place.memory.start, end, "{}", place.name);
        end = place.memory.end.next_multiple_of(0x1000);
    }
    assert_eq!(word(OPTIONAL + 56), end);
    let mut end = word(OPTIONAL + 60);
    for place in after.iter().filter(|place| !place.file.is_empty()) {
        assert_eq!(place.file.start, end, "{}", place.name);
        end = place.file.end;
    }
    let records = memory(new, place_named(&after, ".hipFatB"));
    for (number, record) in records.chunks(24).enumerate() {
        let pointer = BASE + marker.memory.start as u64;
        let expected = [
            &OF_MARKER.to_le_bytes()[..],
            &1_u32.to_le_bytes(),
            &pointer.to_le_bytes(),
            &(number as u64).to_le_bytes(),
        ];
        assert_eq!(record, expected.concat());
    }
    // The debug directory leads to its data.
    let tables = place_named(&after, ".rdata").file.start;
    assert_eq!(&new[word(tables + 0x58)..][..4], b"RSDS");
}

#[test]
fn dlls_lose_their_bundles() {
    let two = Dll::of_two_units();
    let symbols = Dll { has_symbols: true, has_checksum: true, ..two.clone() };
    for dll in [two, symbols.clone(), Dll { behind: vec![0; 40], ..symbols }] {
        let old = dll.bytes();
        let new = emptied(&old, MARKER).unwrap();
        check_memory(&old, &new);
        // The bundles leave, and the marker takes the smallest number of bytes.
        let bundles = place_named(&places(&old), ".hip_fat").file.len();
        assert_eq!(new.len(), old.len() - bundles + 0x200);
        let facts = |bytes: &Vec<u8>| match read(bytes).unwrap().unwrap() {
            Binary::Pe(facts) => *facts,
            Binary::Elf(_) => panic!("an ELF file"),
        };
        assert_eq!(facts(&old), facts(&new));
        assert_eq!(Fat::read(&old).unwrap().needs().unwrap(), [RUNTIME]);
        assert_eq!(forms(&new).unwrap(), [CodeForm::Archive].into());
        assert!(!forms(&old).unwrap().contains(&CodeForm::Archive));
        let again = emptied(&new, MARKER).unwrap_err();
        assert!(again.contains("`.hip_fat` is empty"), "{again}");
    }
}

#[test]
fn symbols_and_checksums_are_right() {
    let dll = Dll { has_symbols: true, has_checksum: true, ..Dll::of_two_units() };
    let mut new = emptied(&dll.bytes(), MARKER).unwrap();
    let word = |at: usize| u32::from_le_bytes(new[at..at + 4].try_into().unwrap());
    let symbols = word(FILE_HEADER + 8) as usize;
    assert_eq!((&new[symbols..symbols + 3], &new[symbols + 22..]), (&b"one"[..], &b"abc\0"[..]));
    let sum = word(CHECKSUM);
    new[CHECKSUM..CHECKSUM + 4].fill(0);
    assert_eq!(sum, checksum(&new));
}

#[test]
fn headers_without_room_grow() {
    for empty in 5..25 {
        let dll = Dll { empty, has_checksum: true, ..Dll::of_two_units() };
        let old = dll.bytes();
        let new = emptied(&old, MARKER).unwrap();
        check_memory(&old, &new);
        let used = TABLE + 40 * (SECTIONS + empty);
        let more = (used + 40).next_multiple_of(0x200) - used.next_multiple_of(0x200);
        let bundles = place_named(&places(&old), ".hip_fat").file.len();
        assert_eq!(new.len(), old.len() - bundles + 0x200 + more, "{empty}");
    }
    // 96 sections, the most that loaders accept.
    let full = Dll { empty: 90, ..Dll::of_two_units() }.bytes();
    let expected = "it has 96 sections, and another one is not supported";
    assert_eq!(emptied(&full, MARKER).unwrap_err(), expected);
}

#[test]
fn unusual_dlls_are_refused() {
    let two = Dll::of_two_units;
    let expect = |dll: Dll, expected: &str| {
        let Err(why) = emptied(&dll.bytes(), MARKER) else { panic!("no {expected:?}") };
        assert!(why.contains(expected), "{expected:?} in {why:?}");
    };
    let change = |at: usize, bytes: &[u8]| two().changed(at, bytes);
    let word = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
    let (dll, entry) = (two(), |index: usize| TABLE + 40 * index);
    let directory = |index: usize| OPTIONAL + 112 + 8 * index;
    expect(change(FILE_HEADER, &[0x64, 0xaa]), "a processor other than x86-64");
    let driver = change(OPTIONAL + 68, &[1]).changed(FILE_HEADER + 18, &[0x22, 0]);
    expect(driver, "neither a library nor a dynamically linked program");
    expect(change(entry(3), b".hip_fax"), "0 sections `.hip_fat` instead of one");
    expect(change(entry(2), b".hip_fat"), "2 sections `.hip_fat` instead of one");
    expect(change(entry(2), b".hipFatC"), "0 sections `.hipFatB` instead of one");
    expect(change(entry(2) + 8, &[47]), "have 47 bytes, not a multiple of 24");
    expect(change(entry(2) + 16, &word(0)), "`.hipFatB` is empty or not loaded as it is");
    // The bundles are longer in memory than in the file, begin between two units of the file, are
    // those of another section, or are beyond the end of the file.
    expect(change(entry(3) + 16, &word(0x200)), "`.hip_fat` is empty or not loaded as it is");
    expect(change(entry(3) + 20, &word(dll.bundles_at() + 8)), "section `.hip_fat` overlaps");
    expect(change(entry(3) + 20, &word(dll.records_at())), "section `.hip_fat` overlaps");
    expect(change(entry(3) + 20, &word(1 << 20)), "a section at 0x100000 ends at");
    expect(change(entry(3) + 12, &word(0x3000)), "section `.hip_fat` overlaps");
    expect(change(entry(4) + 12, &word(0x4000)), "section `.data` overlaps");
    expect(
        change(OPTIONAL + 32, &word(0x200)),
        "SectionAlignment at 0xb8 has the invalid value 0x200",
    );
    expect(
        change(OPTIONAL + 36, &word(0x201)),
        "FileAlignment at 0xbc has the invalid value 0x201",
    );
    expect(
        change(OPTIONAL + 56, &word(0x1000)),
        "SizeOfImage at 0xd0 has the invalid value 0x1000",
    );
    expect(
        change(OPTIONAL + 60, &word(0x200)),
        "SizeOfHeaders at 0xd4 has the invalid value 0x200",
    );
    let records = dll.records_at();
    expect(change(records, &OF_MARKER.to_le_bytes()), "already edited");
    expect(change(records + 24 + 4, &[2]), "is invalid or already edited");
    expect(change(records + 16, &[1]), "is invalid or already edited");
    // The pointer of the second record leads out of the bundles, or to the first one.
    let outside = change(records + 24 + 8, &(BASE + 0x1000).to_le_bytes());
    expect(outside, "an offload bundle outside of `.hip_fat`");
    let twice = change(records + 24 + 8, &(BASE + u64::from(dll.starts()[0])).to_le_bytes());
    expect(twice, "is in no offload bundle with a record");
    // It has no relocation, two, one of another kind, or one in the wrong place.
    let relocation = dll.relocations_at() + 8 + 2;
    expect(change(relocation, &[0, 0]), "the offload bundle of the record at address 0x3018");
    expect(change(relocation, &[8, 0xa0]), "the relocation at address 0x3008");
    expect(change(relocation, &[0x20, 0x30]), "the relocation at address 0x3020");
    expect(change(relocation, &[0x1c, 0xa0]), "the relocation at address 0x301c");
    expect(change(relocation + 6, &word(9)), "its relocations, symbols, or the records");
    let bundle_at = dll.starts()[1];
    expect(Dll { other: bundle_at + 16, ..two() }, "the relocation at address");
    expect(Dll { export: bundle_at, ..two() }, "a symbol, an export or an entry");
    expect(change(directory(2), &[word(bundle_at as usize), word(16)].concat()), "another table");
    expect(change(directory(2), &[word(0x3000), word(16)].concat()), "another table");
    let code_at = word(dll.bundles_at() + 100);
    expect(change(dll.tables_at() + 0x58, &code_at), "another table or section overlaps");
    let signature = [word(0x9000), word(16)].concat();
    expect(change(directory(4), &signature), "its signature (Authenticode)");
    let end = dll.bundles_at() + (dll.starts()[1] - dll.starts()[0]) as usize - 1;
    expect(change(end, &[1]), "is in no offload bundle");
    // Bytes for another program follow the sections, or the symbols.
    expect(Dll { behind: b"PK".to_vec(), ..two() }, "it has 2 bytes behind its sections");
    let symbols = Dll { behind: b"PK".to_vec(), has_symbols: true, ..two() };
    expect(symbols, "it has 28 bytes behind its sections");
    // A table of the binder is where another section would be.
    expect(change(entry(SECTIONS) + 4, &[1]), "its section headers cannot be extended");
    let text = [&b"MZ"[..], &[0; 200]].concat();
    assert_eq!(emptied(&text, MARKER).unwrap_err(), "it is neither an ELF nor a PE file");
}

#[test]
fn programs_at_fixed_addresses_need_no_relocations() {
    let dll = Dll::of_two_units().changed(FILE_HEADER + 18, &[0x23, 0]);
    let dll = dll.changed(OPTIONAL + 112 + 8 * 5, &[0; 8]);
    let old = dll.bytes();
    check_memory(&old, &emptied(&old, MARKER).unwrap());
}

#[test]
fn proofs_find_each_byte_that_differs() {
    let symbols = Dll { has_symbols: true, has_checksum: true, ..Dll::of_two_units() };
    for dll in [Dll::of_two_units(), symbols, Dll { empty: 9, ..Dll::of_two_units() }] {
        let old = dll.bytes();
        let (fat, new) = (Fat::read(&old).unwrap(), emptied(&old, MARKER).unwrap());
        assert!(prove(&old, &new, b"narker").is_err());
        assert!(prove(&old, &old, MARKER).is_err());
        let accepted: Vec<String> = (0..new.len())
            .filter(|at| {
                let mut other = new.clone();
                other[*at] ^= 0x40;
                fat.prove(&old, &other, MARKER).is_ok()
            })
            .map(|at| format!("{at:#x}"))
            .collect();
        assert!(accepted.is_empty(), "{accepted:?}");
        for other in [[&new[..], &[0]].concat(), new[..new.len() - 1].to_vec()] {
            assert!(prove(&old, &other, MARKER).is_err());
        }
    }
}

/// Each change gives a right edit or an error.
#[test]
fn damaged_dlls_are_refused_or_right() {
    let dll = Dll { has_symbols: true, has_checksum: true, ..Dll::of_two_units() };
    let old = dll.bytes();
    for length in (0..old.len()).step_by(101) {
        assert!(emptied(&old[..length].to_vec(), MARKER).is_err(), "{length}");
    }
    let tables = dll.tables_at()..dll.tables_at() + 0x100;
    let relocations = dll.relocations_at()..dll.relocations_at() + 24;
    let places = (0x3c..0x40).chain(FILE_HEADER..TABLE + 40 * SECTIONS);
    let (mut right, mut refused) = (0, 0);
    for at in places.chain(tables).chain(relocations) {
        for change in [0x01, 0x40, 0x80, 0xff] {
            let mut other = old.clone();
            other[at] ^= change;
            match emptied(&other, MARKER) {
                Ok(_) => right += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(right > 500 && refused > 500, "{right} {refused}");
    // A proof of a damaged file is an error, too.
    let (fat, new) = (Fat::read(&old).unwrap(), emptied(&old, MARKER).unwrap());
    for at in (0x3c..0x40).chain(FILE_HEADER..TABLE + 40 * (SECTIONS + 1)) {
        for change in [0x01, 0x80, 0xff] {
            let mut other = new.clone();
            other[at] ^= change;
            assert!(fat.prove(&old, &other, MARKER).is_err(), "{at:#x}");
        }
    }
}

const COMPILER: &str = "x86_64-w64-mingw32-gcc";
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";
const STRIP: &str = "x86_64-w64-mingw32-strip";
const UNITS: &str = r#"
__asm__(".section .hip_fatbin,\"dr\"\n.balign 4096\none: .incbin \"one.bin\"\n"
        ".balign 4096\ntwo: .incbin \"two.bin\"\n.text\n");
extern const char one[], two[];
struct record { unsigned magic, version; const void *bundle; unsigned long long number; };
__attribute__((section(".hipFatBinSegment"), used, aligned(8))) struct record records[] = {
    {0x48495046, 1, one, 0}, {0x48495046, 1, two, 0}};
__declspec(dllexport) const struct record *record(int at) { return &records[at]; }
"#;

#[test]
fn dlls_of_mingw_lose_their_bundles() {
    let what = "device code of DLLs that MinGW makes";
    if ![COMPILER, OBJDUMP, STRIP].iter().all(|tool| has(tool, what)) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        tool::run(Command::new(program).args(arguments).current_dir(dir.path()))
    };
    let file = |name: &str| dir.path().join(name);
    fs::write(file("one.bin"), bundle(&[("gpu90", code(0x21, 9000))])).unwrap();
    fs::write(file("two.bin"), bundle(&[("gpu90", code(0x21, 300))])).unwrap();
    fs::write(file("units.c"), UNITS).unwrap();
    // With symbols, GNU's linker writes long names of sections elsewhere, unless told not to.
    let symbols = "-Wl,--disable-long-section-names";
    for options in
        [&["-s"][..], &[symbols], &["-s", "-Wl,--file-alignment,4096"], &["-s", "-Wl,--build-id"]]
    {
        let link = ["-shared", "-o", "fat.dll", "units.c", "-Wl,--dynamicbase"];
        run(COMPILER, &[&link, options].concat());
        let old = fs::read(file("fat.dll")).unwrap();
        let new = emptied(&old, MARKER).unwrap();
        assert!(new.len() + 12_000 < old.len(), "{} {}", new.len(), old.len());
        fs::write(file("new.dll"), &new).unwrap();
        // Imports, exports, relocations and functions are the same to this reader.
        let tables = |name: &str| {
            let text = run(OBJDUMP, &["-p", name]);
            text.split_once("The Data Directory").unwrap().1.to_owned()
        };
        let differs = |(old, new): &(&str, &str)| old != new;
        let (before, after) = (tables("fat.dll"), tables("new.dll"));
        assert_eq!(before.lines().zip(after.lines()).find(differs), None, "{options:?}");
        assert_eq!(before.lines().count(), after.lines().count());
        run(STRIP, &["new.dll"]);
        let stripped = fs::read(file("new.dll")).unwrap();
        assert_eq!(forms(&stripped).unwrap(), [CodeForm::Archive].into(), "{options:?}");
    }
}
