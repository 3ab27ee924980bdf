//! Edits of rpath, SONAME, NEEDED (cases 22–27).

use std::io::Read;
use std::process::Command;

use super::tools::{Bench, assert_repeats, complaints, facts, have, run, runs, write_edited};
use binary::elf::{self, Edited, Edits, ReadAt, Rename, RpathEdit};

#[test]
fn case_22_of_both_tags_one_is_left() {
    if !have("22", &["g++", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&["-Wl,--enable-new-dtags,-rpath,/run:/path,-soname,old/path"]);
    // No linker writes both: the SONAME's entry becomes the second tag.
    retag(&library, 14, 15);
    let before = facts(&library);
    assert_eq!(
        (before.rpath.as_deref(), before.runpath.as_deref()),
        (Some("old/path"), Some("/run:/path"))
    );
    let edited = bench.edit(&library, &Edits::rpath(RpathEdit::Convert));
    let after = facts(&edited);
    assert_eq!((after.rpath.as_deref(), after.runpath.as_deref()), (Some("/run:/path"), None));
    assert_eq!(fs_err::metadata(&edited).unwrap().len(), fs_err::metadata(&library).unwrap().len());
    bench.loads(&edited);
    let added = facts(&bench.relink(&library)).rpath.unwrap();
    assert!(added.starts_with("/run:/path:$ORIGIN/"), "{added}");
}

/// Changes a tag of the dynamic section in place.
fn retag(path: &std::path::Path, from: u64, to: u64) {
    let mut data = fs_err::read(path).unwrap();
    let word = |data: &[u8], at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let table = usize::try_from(word(&data, 32)).unwrap();
    let dynamic = (0..99).map(|index| table + 56 * index).find(|&at| data[at] == 2).unwrap();
    let start = usize::try_from(word(&data, dynamic + 8)).unwrap();
    let entry =
        (0..99).map(|index| start + 16 * index).find(|&at| word(&data, at) == from).unwrap();
    data[entry..entry + 8].copy_from_slice(&to.to_le_bytes());
    fs_err::write(path, data).unwrap();
}

#[test]
fn case_23_the_same_value_costs_one_byte() {
    if !have("23", &["g++", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&["-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib"]);
    let before = fs_err::read(&library).unwrap();
    for rpath in [
        RpathEdit::Convert,
        RpathEdit::Set(vec!["$ORIGIN/lib".to_owned()]),
        RpathEdit::Append(vec!["$ORIGIN/lib".to_owned()]),
    ] {
        let edited = fs_err::read(bench.edit(&library, &Edits::rpath(rpath))).unwrap();
        let changed: Vec<_> = before.iter().zip(&edited).filter(|(old, new)| old != new).collect();
        assert_eq!((edited.len(), changed), (before.len(), vec![(&29, &15)]));
    }
}

#[test]
fn case_24_an_rpath_that_a_symbol_name_ends() {
    if !have("24", &["g++", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&["-DNAMED_LIB", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib"]);
    let edited = bench.edit(&library, &Edits::rpath(RpathEdit::Set(vec!["/elsewhere".to_owned()])));
    let symbols = run(Command::new("readelf").args(["-W", "--dyn-syms"]).arg(&edited));
    assert!(symbols.lines().any(|line| line.ends_with(" lib")), "{symbols}");
    assert_eq!(facts(&edited).rpath.as_deref(), Some("/elsewhere"));
    bench.loads(&edited);
    // A value that is the end of another name needs no space.
    let shared = bench.edit(&library, &Edits::rpath(RpathEdit::Set(vec!["lib".to_owned()])));
    assert_eq!(fs_err::metadata(shared).unwrap().len(), fs_err::metadata(library).unwrap().len());
}

/// Makes three libraries with versioned symbols, and a fourth that needs a version of each.
fn family(bench: &Bench) -> std::path::PathBuf {
    let dir = bench.path("");
    let compile = |arguments: &[&str]| {
        run(Command::new("gcc").args(["-shared", "-fPIC", "-xc"]).args(arguments).current_dir(&dir))
    };
    for name in ["one", "two", "three"] {
        fs_err::write(dir.join("part.c"), format!("int {name}(void) {{ return 14; }}\n")).unwrap();
        fs_err::write(
            dir.join("part.map"),
            format!("{}_1.0 {{ global: {name}; }};\n", name.to_uppercase()),
        )
        .unwrap();
        let soname = format!("-Wl,-soname,lib{name}.so.1");
        compile(&[
            "part.c",
            "-Wl,--version-script=part.map",
            &soname,
            "-o",
            &format!("lib{name}.so.1"),
        ]);
    }
    let source = "int one(void), two(void), three(void); int probe(void) { return one() + two() + three(); }\n";
    fs_err::write(dir.join("all.c"), source).unwrap();
    let rpath = format!("-Wl,-rpath,{}", dir.display());
    let libraries = ["-xnone", "libone.so.1", "libtwo.so.1", "libthree.so.1"];
    compile(
        &[&["all.c", &rpath, "-Wl,-soname,liball.so.1", "-o", "liball.so.1"], &libraries[..]]
            .concat(),
    );
    bench.path("liball.so.1")
}

fn rename(from: &str, to: &str) -> Rename {
    Rename { from: from.to_owned(), to: to.to_owned() }
}

#[test]
fn case_25_soname_needed_and_version_needs_together() {
    if !have("25", &["gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = family(&bench);
    bench.loads(&library);
    let names = [
        ("libone.so.1", "librenamed_one_with_a_long_name.so.1"),
        ("libtwo.so.1", "libtwo_other.so.1"),
    ];
    let mut edits =
        Edits { soname: Some("liball_renamed.so.1".to_owned()), ..super::tools::longer() };
    for (from, to) in names {
        let part = bench
            .edit(&bench.path(from), &Edits { soname: Some(to.to_owned()), ..Edits::default() });
        fs_err::rename(part, bench.path(to)).unwrap();
        fs_err::remove_file(bench.path(from)).unwrap();
        edits.needed.push(rename(from, to));
    }
    let edited = bench.edit(&library, &edits);
    let after = facts(&edited);
    assert_eq!(after.soname.as_deref(), Some("liball_renamed.so.1"));
    for (from, to) in names {
        assert!(
            after.needed.contains(&to.to_owned()) && !after.needed.contains(&from.to_owned()),
            "{:?}",
            after.needed
        );
        assert!(after.versions.iter().any(|need| need.library == to), "{:?}", after.versions);
    }
    bench.loads(&edited);
}

#[test]
fn case_26_the_third_of_three_version_needs() {
    if !have("26", &["gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = family(&bench);
    let before = facts(&library);
    let third = before.versions.last().unwrap().library.clone();
    let edits = Edits { needed: vec![rename(&third, "libthird.so.9")], ..Edits::default() };
    let after = facts(&bench.edit(&library, &edits));
    let libraries = |facts: &elf::ElfFacts| {
        facts.versions.iter().map(|need| need.library.clone()).collect::<Vec<_>>()
    };
    let expected: Vec<_> = libraries(&before)
        .into_iter()
        .map(|name| if name == third { "libthird.so.9".to_owned() } else { name })
        .collect();
    assert!(expected.len() >= 3);
    assert_eq!(libraries(&after), expected);
    assert!(after.needed.contains(&"libthird.so.9".to_owned()));
}

#[test]
fn case_27_a_hundred_growing_edits() {
    for (arguments, slots) in [
        (&["-fuse-ld=bfd"], "ld.bfd"),
        (&["-fuse-ld=gold"], "ld.gold"),
        (&["-fuse-ld=lld"], "ld.lld"),
        (&["-fuse-ld=mold"], "mold"),
    ] {
        if !have("27", &["g++", "gcc", "readelf", slots]) {
            continue;
        }
        let bench = Bench::new();
        let path = bench.library(arguments);
        let mut data = fs_err::read(&path).unwrap();
        let mut sizes = Vec::new();
        let mut counts = Vec::new();
        for round in 0..100 {
            let edits =
                Edits::rpath(RpathEdit::Set(vec![format!("/round/{round:03}/of/a/hundred")]));
            let plan = elf::edit(&data, &edits).unwrap();
            write_edited(&data, &plan, &path);
            data = fs_err::read(&path).unwrap();
            sizes.push(data.len());
            counts.push(data[56]);
        }
        assert_repeats(
            &path,
            &Edits::rpath(RpathEdit::Set(vec!["/round/099/of/a/hundred".to_owned()])),
        );
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        // Each string has 26 bytes with its end; the slack of the first edit is used first.
        assert!(sizes[99] - sizes[0] <= 99 * 26, "{} {}", sizes[0], sizes[99]);
        assert_eq!(complaints(&path), Vec::<String>::new());
        bench.loads(&path);
    }
}

#[test]
fn several_edits_of_each_linkers_files_are_one_plan() {
    for (linker, tool) in [
        ("-fuse-ld=bfd", "ld.bfd"),
        ("-fuse-ld=gold", "ld.gold"),
        ("-fuse-ld=lld", "ld.lld"),
        ("-fuse-ld=mold", "mold"),
    ] {
        if !have("I11", &["g++", "gcc", "readelf", tool]) {
            continue;
        }
        let bench = Bench::new();
        let name = "libanother_name_of_the_standard_library.so.6";
        let real = run(Command::new("g++").arg("-print-file-name=libstdc++.so.6"));
        fs_err::os::unix::fs::symlink(real.trim_end(), bench.path(name)).unwrap();
        let edits = Edits {
            rpath: RpathEdit::Set(vec![
                "/nowhere".to_owned(),
                bench.path("").display().to_string(),
            ]),
            soname: Some("a_soname_nobody_had.so.77".to_owned()),
            needed: vec![rename("libstdc++.so.6", name)],
            clear_execstack: false,
        };
        let library = bench.edit(&bench.library(&[linker]), &edits);
        let after = facts(&library);
        assert_eq!(after.soname.as_deref(), Some("a_soname_nobody_had.so.77"));
        assert!(
            after.needed.contains(&name.to_owned())
                && after.versions.iter().any(|need| need.library == name)
        );
        bench.loads(&library);
        let edits = Edits { soname: None, ..edits };
        for arguments in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
            let program = bench.edit(&bench.program(&[linker, arguments[0], arguments[1]]), &edits);
            let loaded = run(Command::new(&program).env("LD_TRACE_LOADED_OBJECTS", "1"));
            assert!(loaded.contains(&bench.path(name).display().to_string()), "{loaded}");
            runs(&program);
        }
    }
}

#[test]
fn an_edited_file_reads_the_same_in_any_blocks_and_threads() {
    if !have("ReadAt", &["g++", "gcc"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&[])).unwrap();
    let plan = elf::edit(&data, &super::tools::longer()).unwrap();
    let edited = Edited::new(&data, &plan);
    let mut whole = Vec::new();
    edited.reader().read_to_end(&mut whole).unwrap();
    assert_eq!(whole.len() as u64, plan.new_len());
    std::thread::scope(|scope| {
        for size in [1, 7, 333, 4096, 100_000] {
            let (whole, edited) = (&whole, &edited);
            scope.spawn(move || {
                for (index, expected) in whole.chunks(size).enumerate() {
                    let mut block = vec![0xee; expected.len()];
                    edited.read_exact_at((index * size) as u64, &mut block).unwrap();
                    assert_eq!(block, expected);
                }
            });
        }
    });
    let end = edited.read_exact_at(plan.new_len(), &mut [0]).unwrap_err();
    assert_eq!(end.kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_damaged_result_is_found() {
    if !have("verify", &["g++", "gcc"]) {
        return;
    }
    let bench = Bench::new();
    let data = fs_err::read(bench.library(&["-fuse-ld=bfd", "-Wl,-soname,libprobe.so.1"])).unwrap();
    let plan = elf::edit(&data, &super::tools::longer()).unwrap();
    let mut whole = Vec::new();
    Edited::new(&data, &plan).reader().read_to_end(&mut whole).unwrap();
    assert_eq!(elf::verify(&data, &whole, &plan), Ok(()));
    let broken = |at: usize, value: u8| {
        let mut whole = whole.clone();
        whole[at] = value;
        let found = elf::verify(&data, &whole, &plan).unwrap_err();
        found.into_iter().map(|violation| violation.invariant).collect::<Vec<_>>()
    };
    // The count of program headers; the first LOAD's flags; the last byte before the slack: the
    // rpath's end.
    assert!(broken(56, 3).contains(&"I5"));
    assert!(broken(64 + 4, 7).contains(&"I5"));
    let end = whole.iter().rposition(|&byte| byte != 0).unwrap();
    assert_eq!(broken(end, b'!'), ["I11", "I12"]);
    whole.push(0);
    assert_eq!(elf::verify(&data, &whole, &plan).unwrap_err()[0].invariant, "I17");
}
