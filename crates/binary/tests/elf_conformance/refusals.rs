//! Refused edits (cases 38–40). `tests/elf_command.rs` checks that the program leaves refused files
//! unchanged.

use std::path::Path;

use super::tools::{Bench, entries, facts, have, longer, run, runs};
use binary::elf::{self, Edits, ElfError, ElfKind, RpathEdit};
use object::elf::{DT_STRSZ, DT_STRTAB, DT_VERNEED, DynamicTag};
use std::process::Command;

/// Returns the error of an edit that does not fit into a file's tables.
fn refusal(path: &Path) -> ElfError {
    let error = elf::edit(&fs_err::File::open(path).unwrap(), &longer()).unwrap_err();
    assert!(!error.to_string().is_empty());
    error
}

fn write_file(bench: &Bench, name: &str, data: &[u8]) -> std::path::PathBuf {
    let path = bench.path(name);
    fs_err::write(&path, data).unwrap();
    path
}

/// Program headers that fit into a page after the file header.
const MOST_HEADERS: usize = 73;

/// Offsets in the file header.
const E_IDENT_CLASS: usize = 4;
const E_IDENT_DATA: usize = 5;
const E_TYPE: usize = 16;
const E_MACHINE: usize = 18;
const E_SHOFF: usize = 40;
const E_PHENTSIZE: usize = 54;
const E_PHNUM: usize = 56;
const E_SHNUM: usize = 60;

#[test]
fn case_38_as_many_program_headers_as_a_page_holds() {
    if !have("38", &["g++", "readelf", "ld.bfd"]) {
        return;
    }
    let bench = Bench::new();
    let program = bench.program(&["-fuse-ld=bfd", "-fPIE", "-pie", "-DFATBIN"]);
    let data = fs_err::read(&program).unwrap();
    let with = |slots| {
        super::kpack::split(&data, super::kpack::Shape { slots, full: true, trailer: true })
    };
    let fits = write_file(&bench, "fits", &with(MOST_HEADERS - 1));
    fs_err::set_permissions(&fits, fs_err::metadata(&program).unwrap().permissions()).unwrap();
    runs(&fits);
    let edited = bench.relink(&fits);
    runs(&edited);
    assert!(usize::from(fs_err::read(&edited).unwrap()[E_PHNUM]) <= MOST_HEADERS);
    assert!(matches!(
        refusal(&write_file(&bench, "many", &with(MOST_HEADERS + 1))),
        ElfError::TooManyHeaders { count: 74 }
    ));
}

#[test]
fn case_39_links_and_read_only_files_are_edited_into_other_files() {
    use std::os::unix::fs::PermissionsExt;
    if !have("39", &["g++", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&[]);
    let (hard, soft) = (bench.path("hard.so"), bench.path("soft.so"));
    fs_err::hard_link(&library, &hard).unwrap();
    fs_err::os::unix::fs::symlink(&library, &soft).unwrap();
    fs_err::set_permissions(&library, std::fs::Permissions::from_mode(0o444)).unwrap();
    for path in [&hard, &soft, &library] {
        bench.loads(&bench.relink(path));
    }
}

#[test]
fn case_40_refusals_of_files_that_are_cut_short() {
    if !have("40", &["g++"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&[])).unwrap();
    assert!(matches!(refusal(&write_file(&bench, "empty.so", b"")), ElfError::NotElf));
    assert!(matches!(
        refusal(&write_file(&bench, "text.so", b"INPUT(libprobe.so.1)\n")),
        ElfError::NotElf
    ));
    for (name, len) in [("head.so", 40), ("sections.so", data.len() - 40), ("load.so", 4096 + 100)]
    {
        let error = refusal(&write_file(&bench, name, &data[..len]));
        assert!(
            matches!(error, ElfError::Truncated { have, need, .. } if have == len as u64 && need > have),
            "{name}: {error}"
        );
    }
}

#[test]
fn case_40_a_load_that_ends_after_the_file() {
    if !have("40", &["g++"]) {
        return;
    }
    let bench = Bench::new();
    let mut data = fs_err::read(bench.library(&[])).unwrap();
    // Without section headers, only the LOAD shows that the file is cut.
    data[E_SHOFF..E_SHOFF + 8].fill(0);
    data[E_SHNUM..E_SHNUM + 4].fill(0);
    let error = refusal(&write_file(&bench, "load.so", &data[..4096 + 100]));
    assert!(
        matches!(error, ElfError::Truncated { what: "a LOAD segment", have: 4196, .. }),
        "{error}"
    );
}

#[test]
fn case_40_refusals_by_header() {
    if !have("40", &["g++"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&[])).unwrap();
    let changed = |at: usize, value: u8| {
        let mut data = data.clone();
        data[at] = value;
        write_file(&bench, "changed.so", &data)
    };
    assert!(matches!(refusal(&changed(E_IDENT_CLASS, 1)), ElfError::Bits32 { machine: 62 }));
    assert!(matches!(refusal(&changed(E_IDENT_DATA, 2)), ElfError::BigEndian { machine: 0x3e00 }));
    assert!(matches!(refusal(&changed(E_MACHINE, 243)), ElfError::Machine { machine: 243 }));
    assert!(matches!(refusal(&changed(E_MACHINE, 224)), ElfError::CodeObject));
    assert!(matches!(refusal(&changed(E_TYPE, 1)), ElfError::Relocatable));
    assert!(matches!(refusal(&changed(E_TYPE, 4)), ElfError::Core));
    assert!(matches!(refusal(&changed(E_TYPE, 9)), ElfError::Header { field: "e_type", value: 9 }));
    assert!(matches!(
        refusal(&changed(E_PHENTSIZE, 55)),
        ElfError::Header { field: "e_phentsize", value: 55 }
    ));
}

#[test]
fn dynamic_loaders_are_refused_under_any_name() {
    if !have("40", &["g++"]) {
        return;
    }
    let bench = Bench::new();
    let interpreter = |path: &Path| facts(path).interpreter.unwrap();
    let mut loaders = vec![interpreter(&bench.program(&[]))];
    if have("36", &["musl-gcc"]) {
        let program = bench.compile("musl-gcc", "plain.c", "musl", &[]);
        loaders.push(interpreter(&program));
    }
    for loader in loaders {
        let copy = bench.path("library.so");
        fs_err::copy(loader, &copy).unwrap();
        assert!(matches!(refusal(&copy), ElfError::Loader));
        assert_eq!(facts(&copy).kind, ElfKind::Loader);
    }
}

/// Old linkers set the entry of a library to the start of its code, so only another entry makes a
/// loader.
#[test]
fn an_entry_at_the_start_of_the_code_makes_no_loader() {
    if !have("40", &["cc"]) {
        return;
    }
    let bench = Bench::new();
    let source =
        write_file(&bench, "two.c", b"int one(void) { return 1; } int two(void) { return 2; }");
    let kind = |entry: &str| {
        let target = bench.path("two.so");
        let entry = format!("-Wl,-e,{entry}");
        run(Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-nostdlib", "-fno-reorder-functions", &entry])
            .arg(&source)
            .arg("-o")
            .arg(&target));
        facts(&target).kind
    };
    assert_eq!([kind("one"), kind("two")], [ElfKind::SharedLibrary, ElfKind::Loader]);
}

#[test]
fn case_40_refusals_by_kind() {
    if !have("40", &["g++", "objcopy", "eu-strip", "llvm-strip"]) {
        return;
    }
    let bench = Bench::new();
    let program = bench.program(&["-static", "-no-pie"]);
    assert!(matches!(refusal(&program), ElfError::Static));
    assert!(matches!(refusal(&bench.program(&["-static-pie", "-fPIE"])), ElfError::StaticPie));
    let library = bench.library(&["-g"]);
    run(Command::new("objcopy")
        .arg("--only-keep-debug")
        .arg(&library)
        .arg(bench.path("binutils.debug")));
    run(Command::new("eu-strip")
        .arg("-g")
        .arg("-f")
        .arg(bench.path("elfutils.debug"))
        .arg("-o")
        .arg(bench.path("x"))
        .arg(&library));
    run(Command::new("llvm-strip")
        .arg("--only-keep-debug")
        .arg("-o")
        .arg(bench.path("llvm.debug"))
        .arg(&library));
    for name in ["binutils.debug", "elfutils.debug", "llvm.debug"] {
        assert!(matches!(refusal(&bench.path(name)), ElfError::DebugOnly), "{name}");
        assert_eq!(facts(&bench.path(name)).kind, ElfKind::DebugOnly, "{name}");
    }
}

#[test]
fn case_40_false_dynamic_sections() {
    if !have("40", &["g++"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&["-fuse-ld=bfd"])).unwrap();
    let set = |tag: DynamicTag, value: u64| {
        let tag = tag.0.cast_unsigned();
        let mut data = data.clone();
        let at = entry(&data, tag);
        data[at + 8..at + 16].copy_from_slice(&value.to_le_bytes());
        refusal(&write_file(&bench, "wrong.so", &data))
    };
    assert!(
        matches!(set(DT_STRTAB, 1 << 40), ElfError::NotFileBacked { field: "DT_STRTAB", address } if address == 1 << 40)
    );
    assert!(matches!(set(DT_STRSZ, u64::MAX), ElfError::NotFileBacked { field: "DT_STRTAB", .. }));
    assert!(matches!(set(DT_STRSZ, 1), ElfError::Dynamic { .. }));
    assert!(matches!(
        set(DT_VERNEED, 1 << 40),
        ElfError::NotFileBacked { field: "DT_VERNEED", .. }
    ));
}

/// Returns the offset of the dynamic entry of `tag`.
fn entry(data: &[u8], tag: u64) -> usize {
    let word = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let table = usize::try_from(word(32)).unwrap();
    let dynamic = (0..99).map(|index| table + 56 * index).find(|&at| data[at] == 2).unwrap();
    let start = usize::try_from(word(dynamic + 8)).unwrap();
    (0..99).map(|index| start + 16 * index).find(|&at| word(at) == tag).unwrap()
}

#[test]
fn case_40_no_cut_file_or_changed_byte_panics() {
    if !have("40", &["gcc", "g++"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&["-fuse-ld=bfd"])).unwrap();
    for len in (0..data.len()).step_by(97) {
        elf::facts(&data[..len]).ok();
        elf::edit(&data[..len], &longer()).unwrap_err();
    }
    let edits = Edits::rpath(RpathEdit::Append(entries()));
    for at in (0..4096).chain(entry(&data, 1)..entry(&data, 1) + 512) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut data = data.clone();
            data[at] = value;
            // Only a panic fails.
            elf::edit(&data, &edits).ok();
        }
    }
}
