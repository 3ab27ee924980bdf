//! Libraries and programs of each linker (cases 1–11, 19, 20, 33).

use std::path::{Path, PathBuf};
use std::process::Command;

use super::tools::{Bench, facts, have, run, runs};
use binary::elf::{self, Edits, RpathEdit};

/// Linkers by their names for gcc's `-fuse-ld`, and as files.
const LINKERS: [(&str, &str); 4] =
    [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")];

fn library_case(case: &str, tools: &[&str], arguments: &[&str]) {
    library_case_with(case, tools, arguments, |_| true);
}

/// Fails if the library lacks the property of its case, because the linker's defaults changed.
fn library_case_with(
    case: &str,
    tools: &[&str],
    arguments: &[&str],
    has_property: impl Fn(&Path) -> bool,
) {
    if have(case, &[&["g++", "gcc", "readelf"], tools].concat()) {
        let bench = Bench::new();
        let library = bench.library(arguments);
        assert!(has_property(&library), "the library is not as in the name of case {case}");
        bench.loads(&library);
        bench.loads(&bench.relink(&library));
    }
}

#[test]
fn case_1_bfd_library_with_property_and_build_id_notes() {
    library_case(
        "1",
        &["ld.bfd"],
        &["-fuse-ld=bfd", "-fcf-protection", "-Wl,-z,ibt,-z,shstk", "-Wl,--build-id"],
    );
}

#[test]
fn case_2_bfd_library_without_build_id_and_with_both_hashes() {
    library_case(
        "2",
        &["ld.bfd"],
        &["-fuse-ld=bfd", "-Wl,--build-id=none", "-Wl,--hash-style=both"],
    );
}

#[test]
fn case_3_bfd_library_with_the_old_hash() {
    let arguments = ["-fuse-ld=bfd", "-Wl,--hash-style=sysv"];
    library_case_with("3", &["ld.bfd"], &arguments, |library| {
        let has = |name: &str| sections(library).iter().any(|(section, _)| section == name);
        has(".hash") && !has(".gnu.hash")
    });
}

#[test]
fn case_4_lld_library_with_runpath() {
    let arguments = ["-fuse-ld=lld", "-Wl,--enable-new-dtags,-rpath,$ORIGIN"];
    library_case_with("4", &["ld.lld"], &arguments, |library| {
        let facts = facts(library);
        facts.runpath.is_some() && facts.rpath.is_none()
    });
}

#[test]
fn case_5_lld_library_without_rpath() {
    library_case("5", &["ld.lld"], &["-fuse-ld=lld"]);
}

#[test]
fn case_6_lld_library_with_tbss_before_dynamic() {
    // The source's zeroed thread-local array is .tbss; relro places .dynamic right after it.
    let arguments = ["-fuse-ld=lld", "-Wl,-z,relro", "-Wl,--pack-dyn-relocs=none"];
    library_case_with("6", &["ld.lld"], &arguments, |library| {
        let sections = sections(library);
        let at = |name: &str| sections.iter().position(|(section, _)| section == name).unwrap();
        at(".tbss") < at(".dynamic")
    });
}

#[test]
fn case_7_mold_library() {
    library_case("7", &["mold"], &["-fuse-ld=mold"]);
}

#[test]
fn case_8_gold_library() {
    library_case("8", &["ld.gold"], &["-fuse-ld=gold"]);
}

fn programs(case: &str, arguments: &[&str]) {
    for (name, tool) in LINKERS {
        if have(case, &["g++", "readelf", tool]) {
            let bench = Bench::new();
            let linker = format!("-fuse-ld={name}");
            let program = bench.program(&[&[linker.as_str()], arguments].concat());
            runs(&program);
            runs(&bench.relink(&program));
        }
    }
}

#[test]
fn case_9_position_independent_programs_of_each_linker() {
    programs("9", &["-fPIE", "-pie"]);
}

#[test]
fn case_10_programs_at_fixed_addresses_of_each_linker() {
    programs("10", &["-fno-pie", "-no-pie"]);
}

#[test]
fn case_11_go_programs_that_call_c() {
    if !have("11", &["go", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let source = "package main\n\n// int answer(void) { return 42; }\nimport \"C\"\nimport \"fmt\"\n\nfunc main() {\n\tif C.answer() == 42 {\n\t\tfmt.Println(\"fine\")\n\t}\n}\n";
    fs_err::write(bench.path("main.go"), source).unwrap();
    // Go's own linker puts the section headers behind the program headers.
    for mode in ["external", "internal"] {
        let program = bench.path(mode);
        run(Command::new("go")
            .args(["build", &format!("-ldflags=-linkmode={mode}"), "-o"])
            .arg(&program)
            .arg(bench.path("main.go"))
            .env("GOCACHE", bench.path("cache")));
        assert_survives_stripping(&bench, &program);
    }
}

#[test]
fn case_11_rust_program() {
    if !have("11", &["rustc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    fs_err::write(bench.path("main.rs"), "fn main() { println!(\"fine\"); }\n").unwrap();
    let program = bench.path("program");
    run(Command::new("rustc").arg("-o").arg(&program).arg(bench.path("main.rs")));
    assert_survives_stripping(&bench, &program);
}

/// Edits a program, strips it, and edits it again.
fn assert_survives_stripping(bench: &Bench, program: &Path) {
    let edited = bench.relink(program);
    runs(&edited);
    for (stripper, arguments) in STRIPPERS.iter().filter(|(tool, _)| have("11", &[tool])) {
        let program = strip_copy(bench, stripper, arguments, &edited);
        runs(&program);
        runs(&bench.edit(&program, &longer_rpath()));
    }
}

/// Returns name and address of each section, by number, as readelf prints them.
fn sections(path: &Path) -> Vec<(String, u64)> {
    let text = run(Command::new("readelf").arg("-SW").arg(path));
    let lines = text.lines().filter_map(|line| line.split_once("] "));
    let fields = lines.map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
    let named = fields.filter_map(|it| {
        let number = |word: &&str| u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 16);
        let address = it.iter().find_map(number)?;
        Some((it[0].to_owned(), address))
    });
    named.collect()
}

/// Symbols of `.symtab`: type, number of the section, name, value.
fn symbols(path: &Path) -> Vec<(String, usize, String, u64)> {
    let text = run(Command::new("readelf").arg("-sW").arg(path));
    let (_, text) = text.split_once("'.symtab'").unwrap();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let numbered = lines.filter_map(|it| {
        let (index, value) = (it.get(6)?.parse().ok()?, u64::from_str_radix(it[1], 16).ok()?);
        Some((it[3].to_owned(), index, (*it.get(7).unwrap_or(&"")).to_owned(), value))
    });
    numbered.collect()
}

#[test]
fn case_19_symbols_follow_moved_sections() {
    for (name, tool) in LINKERS {
        if !have("19", &["g++", "readelf", tool]) {
            continue;
        }
        let bench = Bench::new();
        let linker = format!("-fuse-ld={name}");
        let arguments = [linker.as_str(), "-no-pie", "-fno-pie", "-Wl,--emit-relocs"];
        let program = bench.program(&arguments);
        let edited = bench.relink(&program);
        let (before, after) = (sections(&program), sections(&edited));
        let (old_symbols, new_symbols) = (symbols(&program), symbols(&edited));
        assert!(!old_symbols.is_empty());
        assert_eq!(old_symbols.len(), new_symbols.len(), "{name}");
        for (old, new) in old_symbols.into_iter().zip(new_symbols) {
            if old.0 == "NOTYPE" && old.2 != "_DYNAMIC" {
                // A section's number says nothing about `__ehdr_start` and the like.
                continue;
            }
            let from = before[old.1].1;
            assert_eq!(
                new.3.wrapping_sub(after[new.1].1),
                old.3.wrapping_sub(from),
                "{name} {new:?}"
            );
            assert_eq!((&new.0, new.1, &new.2), (&old.0, old.1, &old.2));
        }
        if name == "lld" {
            for (symbol, section) in [("_DYNAMIC", ".dynamic"), ("__abi_tag", ".note.ABI-tag")] {
                let symbol = symbols(&edited).into_iter().find(|it| it.2 == symbol).unwrap();
                assert_eq!(after[symbol.1], (section.to_owned(), symbol.3));
                assert_ne!(before[symbol.1].1, symbol.3);
            }
        }
    }
}

fn longer_rpath() -> Edits {
    Edits::rpath(RpathEdit::Append(vec!["/one/more/directory".repeat(20)]))
}

/// Commands that change files in place.
const STRIPPERS: [(&str, &[&str]); 4] = [
    ("strip", &[]),
    ("llvm-strip", &[]),
    ("eu-strip", &[]),
    ("objcopy", &["--remove-section=.comment"]),
];

fn strip_copy(bench: &Bench, tool: &str, arguments: &[&str], path: &Path) -> PathBuf {
    let copy = bench.path(&format!("{tool}-{}", path.file_name().unwrap().to_string_lossy()));
    fs_err::copy(path, &copy).unwrap();
    run(Command::new(tool).args(arguments).arg(&copy));
    copy
}

#[test]
fn case_19_edited_files_survive_strip_and_a_next_edit() {
    let more = longer_rpath();
    for (name, tool) in LINKERS {
        if !have("19", &["g++", "readelf", tool]) {
            continue;
        }
        let bench = Bench::new();
        let linker = format!("-fuse-ld={name}");
        let library = bench.relink(&bench.library(&[&linker]));
        for (stripper, arguments) in STRIPPERS.iter().filter(|(tool, _)| have("19", &[tool])) {
            let library = strip_copy(&bench, stripper, arguments, &library);
            bench.loads(&library);
            bench.loads(&bench.edit(&library, &more));
        }
        for kind in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
            let program = bench.relink(&bench.program(&[&linker, kind[0], kind[1]]));
            for (stripper, arguments) in STRIPPERS.iter().filter(|(tool, _)| have("19", &[tool])) {
                let program = strip_copy(&bench, stripper, arguments, &program);
                runs(&program);
                runs(&bench.edit(&program, &more));
            }
        }
    }
}

#[test]
fn case_20_large_pages() {
    for (name, tool) in LINKERS {
        let linker = format!("-fuse-ld={name}");
        library_case("20", &[tool], &[&linker, "-Wl,-z,max-page-size=0x200000"]);
    }
    programs("20", &["-fPIE", "-pie", "-Wl,-z,max-page-size=0x200000"]);
    programs("20", &["-fno-pie", "-no-pie", "-Wl,-z,max-page-size=0x200000"]);
}

#[test]
fn case_33_layouts_with_fewer_and_more_segments() {
    let layouts: [(&str, &str, &[&str]); 5] = [
        ("bfd", "ld.bfd", &["-Wl,-z,noseparate-code"]),
        ("lld", "ld.lld", &["-Wl,--no-rosegment"]),
        ("bfd", "ld.bfd", &["-Wl,-z,norelro"]),
        ("lld", "ld.lld", &["-Wl,-z,norelro"]),
        ("bfd", "ld.bfd", &["-Wl,-z,relro,-z,now"]),
    ];
    for (name, tool, arguments) in layouts {
        if have("33", &["g++", "gcc", "readelf", tool]) {
            let bench = Bench::new();
            let linker = format!("-fuse-ld={name}");
            let arguments = [&[linker.as_str()], arguments].concat();
            bench.loads(&bench.relink(&bench.library(&arguments)));
            runs(&bench.relink(&bench.program(&[&arguments[..], &["-fPIE", "-pie"]].concat())));
            runs(
                &bench.relink(&bench.program(&[&arguments[..], &["-fno-pie", "-no-pie"]].concat())),
            );
        }
    }
}

/// Offsets of the program headers' place and number in the ELF header, and the length of one of them.
const E_PHOFF: usize = 32;
const E_PHNUM: usize = 56;
const PHENTSIZE: usize = 56;

/// Sets the first byte of padding after the loader's name, so that the padding cannot be used.
fn block_padding(program: &Path) {
    let mut data = fs_err::read(program).unwrap();
    let word = |at: usize| {
        usize::try_from(u64::from_le_bytes(data[at..at + 8].try_into().unwrap())).unwrap()
    };
    let mut headers =
        (0..usize::from(data[E_PHNUM])).map(|index| word(E_PHOFF) + PHENTSIZE * index);
    let interpreter = headers.find(|&at| u32::from(data[at]) == object::elf::PT_INTERP.0).unwrap();
    let end = word(interpreter + 8) + word(interpreter + 32);
    assert_eq!(data[end], 0);
    data[end] = 0xcc;
    fs_err::write(program, data).unwrap();
}

#[test]
fn a_program_whose_table_has_to_move_keeps_it_where_old_kernels_look() {
    if !have("I2", &["g++", "readelf", "ld.lld"]) {
        return;
    }
    let bench = Bench::new();
    // The name's length leaves padding before the notes.
    let arguments = [
        "-fuse-ld=lld",
        "-fPIE",
        "-pie",
        "-Wl,--dynamic-linker,/lib64/../lib64/ld-linux-x86-64.so.2",
    ];
    let program = bench.program(&arguments);
    block_padding(&program);
    let edited = bench.relink(&program);
    let data = fs_err::read(&edited).unwrap();
    let word = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    // The first LOAD of lld is at address 0, so the table's address is its offset.
    let table = usize::try_from(word(E_PHOFF)).unwrap();
    assert!(table > 4096, "the table didn't move");
    let first = (u32::from(data[table]), word(table + 16));
    assert_eq!(first, (object::elf::PT_PHDR.0, word(E_PHOFF)));
    runs(&edited);
    runs(&bench.edit(&edited, &longer_rpath()));

    let large = bench.compile(
        "g++",
        "program.cpp",
        "large",
        &[&arguments[..], &["-DZEROS=4000000"]].concat(),
    );
    block_padding(&large);
    let error =
        elf::edit(&fs_err::File::open(&large).unwrap(), &super::tools::longer()).unwrap_err();
    assert!(
        matches!(error, elf::ElfError::OldKernel { padding } if padding > 3_000_000),
        "{error}"
    );
}

#[test]
fn facts_of_each_linkers_files() {
    for (name, tool) in LINKERS {
        if have("facts", &["g++", tool]) {
            let bench = Bench::new();
            let linker = format!("-fuse-ld={name}");
            let library = facts(&bench.library(&[&linker, "-Wl,-soname,libprobe.so.1"]));
            assert_eq!(
                (library.kind, library.soname.as_deref()),
                (elf::ElfKind::SharedLibrary, Some("libprobe.so.1"))
            );
            assert!(library.needed.contains(&"libstdc++.so.6".to_owned()));
            assert!(library.versions.iter().any(|need| need.library == "libc.so.6"
                && need.versions.contains(&"GLIBC_2.2.5".to_owned())));
            let programs = [
                (&["-fPIE", "-pie"], elf::ElfKind::Executable),
                (&["-fno-pie", "-no-pie"], elf::ElfKind::Executable),
            ];
            for (arguments, kind) in programs {
                let program = facts(&bench.program(&[&linker, arguments[0], arguments[1]]));
                assert_eq!(program.kind, kind);
                assert!(program.interpreter.is_some_and(|path| path.contains("ld-linux")));
            }
        }
    }
}
