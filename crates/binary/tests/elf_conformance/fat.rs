//! Files whose device code was extracted (case 41 of the editor's specification): of each linker, with
//! large pages, stripped, and edited afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::tools::{Bench, have, longer, output, run};
use crate::fat_libraries::emptied;
use binary::elf::{Edits, RpathEdit};
use workbench::code_object::{bundle, code, compressed};
use workbench::memory::Memory;

const LINKERS: [(&str, &str); 4] =
    [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")];
const LIBRARY: &[&str] = &["-shared", "-fPIC"];
const PROGRAMS: [&[&str]; 2] =
    [&["-DPROGRAM", "-fPIE", "-pie"], &["-DPROGRAM", "-fno-pie", "-no-pie"]];
/// Makes the symbols of the bundles hidden, as by default.
const HIDDEN: &str = r#"-DVISIBILITY=".hidden one\n.hidden again\n.hidden two\n""#;
/// Leaves the symbols of the bundles dynamic, as with `-fgpu-rdc`.
const DYNAMIC: &str = "-DVISIBILITY=\"\"";
/// Output of `code()` in `fat.cpp`: its records lead to the bundles, or to the marker.
const TO_BUNDLES: &str = "1";
const TO_MARKERS: &str = "2";
const MARKER: &[u8] = b"marker";

/// Commands that change files in place.
const STRIPPERS: [(&str, &[&str]); 6] = [
    ("strip", &[]),
    ("strip", &["-g"]),
    ("llvm-strip", &[]),
    ("eu-strip", &[]),
    ("objcopy", &["--remove-section=.comment"]),
    ("llvm-objcopy", &["--remove-section=.comment"]),
];

/// Writes the bundles of the two units of `fat.cpp`; the first has `size` bytes of code.
fn write_bundles(bench: &Bench, size: usize) {
    let one = bundle(&[("gpu90", code(0x21, size))]);
    let two = bundle(&[("gpu90", code(0x21, 500)), ("gpu100", code(0x23, 500))]);
    fs_err::write(bench.path("one.bin"), one).unwrap();
    fs_err::write(bench.path("two.bin"), compressed(&two)).unwrap();
}

fn compiled(bench: &Bench, name: &str, arguments: &[&str]) -> PathBuf {
    bench.compile("g++", "fat.cpp", name, &[arguments, &["-g"]].concat())
}

/// Loads or runs a file, and checks the targets of its records. A file is run if its name contains
/// "program", and loaded otherwise; so copies keep the name.
fn assert_works(bench: &Bench, file: &Path, expected: &str) {
    if file.file_name().unwrap().to_string_lossy().contains("program") {
        assert_eq!(run(&mut Command::new(file)), format!("fine\n{expected}\n"), "{file:?}");
        return;
    }
    let loader = bench.path("fat-loader");
    if !loader.exists() {
        bench.compile("gcc", "fat_loader.c", "fat-loader", &["-ldl"]);
    }
    assert_eq!(run(Command::new(loader).arg(file)), format!("{expected}\n"), "{file:?}");
}

/// Removes the bundles of a file. Checks that the result is smaller than `size_limit`, works, and leads to
/// the marker.
fn remove_bundles(bench: &Bench, file: &Path, size_limit: usize) -> PathBuf {
    assert_works(bench, file, TO_BUNDLES);
    let old = fs_err::read(file).unwrap();
    let new = emptied(&old, MARKER);
    assert!(new.len() < size_limit, "{}: {} bytes", file.display(), new.len());
    let (before, after) = (Memory::new(&old), Memory::new(&new));
    assert_eq!(after.content(".rocm_kpack_ref"), MARKER);
    assert!(after.loads().count() <= before.loads().count() + 1, "{:?}", after.elf);
    let target = file.with_file_name(format!("split-{}", file.file_name().unwrap().display()));
    fs_err::write(&target, new).unwrap();
    fs_err::set_permissions(&target, fs_err::metadata(file).unwrap().permissions()).unwrap();
    assert_works(bench, &target, TO_MARKERS);
    assert_eq!(super::tools::complaints(&target), super::tools::complaints(file));
    target
}

/// Edits and strips a file without bundles, and edits the stripped ones. Only the first stripper also strips
/// the edited file.
fn assert_survives_tools(bench: &Bench, split: &Path) {
    let edited = bench.edit(split, &appended("/first/directory"));
    assert_works(bench, &edited, TO_MARKERS);
    for (number, (tool, arguments)) in STRIPPERS.iter().enumerate() {
        if !have("41", &[tool]) {
            continue;
        }
        let files = if number == 0 { [split, &edited].to_vec() } else { vec![split] };
        for file in files {
            let name = format!("{number}-{}", file.file_name().unwrap().display());
            let copy = file.with_file_name(name);
            fs_err::copy(file, &copy).unwrap();
            run(Command::new(tool).args(*arguments).arg(&copy));
            assert_works(bench, &copy, TO_MARKERS);
            let (old, new) = (fs_err::metadata(file).unwrap(), fs_err::metadata(&copy).unwrap());
            // Strippers align sections anew, but must not bring back the removed bytes.
            assert!(new.len() <= old.len() + 8192, "{tool}: {} bytes", new.len());
            assert_works(bench, &bench.edit(&copy, &appended("/one/more/directory")), TO_MARKERS);
        }
    }
}

fn appended(directory: &str) -> Edits {
    Edits::rpath(RpathEdit::Append(vec![directory.repeat(20)]))
}

#[test]
fn case_41_files_of_each_linker_without_their_device_code() {
    for (name, tool) in LINKERS {
        if !have("41", &["g++", "gcc", "readelf", tool]) {
            continue;
        }
        let bench = Bench::new();
        write_bundles(&bench, 300_000);
        let linker = format!("-fuse-ld={name}");
        for (kind, arguments) in [LIBRARY, PROGRAMS[0], PROGRAMS[1]].into_iter().enumerate() {
            for (symbols, visibility) in [HIDDEN, DYNAMIC].into_iter().enumerate() {
                // Programs resolve their own symbols when they are linked, so DYNAMIC makes no difference.
                if kind > 0 && symbols > 0 {
                    continue;
                }
                let file = ["libfat.so", "program-pie", "program"][kind];
                let file = format!("{symbols}-{file}");
                let arguments = [arguments, &[&linker, visibility]].concat();
                let split = remove_bundles(&bench, &compiled(&bench, &file, &arguments), 250_000);
                assert_survives_tools(&bench, &split);
            }
        }
    }
}

#[test]
fn case_41_large_pages_and_other_layouts() {
    let layouts: [(&str, usize); 6] = [
        ("-Wl,-z,max-page-size=0x10000", 300_000),
        ("-Wl,-z,max-page-size=0x200000", 5_000_000),
        ("-Wl,-z,noseparate-code", 300_000),
        ("-Wl,-z,norelro", 300_000),
        ("-Wl,-z,pack-relative-relocs", 300_000),
        ("-Wl,--hash-style=both", 300_000),
    ];
    for (name, tool) in LINKERS {
        for (layout, size) in layouts {
            // gold lacks noseparate-code and pack-relative-relocs. Some versions of mold omit
            // GLIBC_ABI_DT_RELR, which packed relative relocations need.
            let lacks = ["mold", "gold"].contains(&name) && layout.contains("relative")
                || name == "gold" && layout.contains("separate");
            if lacks || !have("41", &["g++", "gcc", "readelf", tool]) {
                continue;
            }
            let bench = Bench::new();
            write_bundles(&bench, size);
            let linker = format!("-fuse-ld={name}");
            let file =
                compiled(&bench, "libfat.so", &[LIBRARY, &[&linker, HIDDEN, layout]].concat());
            let old = fs_err::metadata(&file).unwrap().len();
            let split = remove_bundles(&bench, &file, usize::try_from(old).unwrap() - size / 3);
            assert_survives_tools(&bench, &split);
        }
    }
}

#[test]
fn case_41_files_that_were_stripped_or_edited_before() {
    if !have("41", &["g++", "gcc", "readelf", "strip"]) {
        return;
    }
    let bench = Bench::new();
    write_bundles(&bench, 300_000);
    let file = compiled(&bench, "libfat.so", &[LIBRARY, &[HIDDEN]].concat());
    assert_survives_tools(&bench, &remove_bundles(&bench, &bench.edit(&file, &longer()), 250_000));
    run(Command::new("strip").arg(&file));
    assert_survives_tools(&bench, &remove_bundles(&bench, &file, 100_000));
    if have("41", &["patchelf"]) {
        let path = "$ORIGIN/".repeat(40);
        run(Command::new("patchelf").args(["--set-rpath", &path]).arg(&file));
        assert_works(&bench, &remove_bundles(&bench, &file, 100_000), TO_MARKERS);
    }
}

#[test]
fn case_41_debuggers_find_functions_and_lines() {
    if !have("41", &["g++", "gcc", "readelf", "gdb"]) {
        return;
    }
    let bench = Bench::new();
    write_bundles(&bench, 300_000);
    let file = compiled(&bench, "libfat.so", &[LIBRARY, &[HIDDEN]].concat());
    let split = remove_bundles(&bench, &file, 250_000);
    let gdb_output = |file: &Path| {
        let commands = ["info line probe", "info scope probe", "disassemble probe"];
        let commands = commands.iter().flat_map(|command| ["-ex", command]);
        let done = output(Command::new("gdb").args(["-batch", "-nx"]).args(commands).arg(file));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    assert_eq!(gdb_output(&split), gdb_output(&file));
    assert!(gdb_output(&file).contains("library.cpp"), "{}", gdb_output(&file));
}
