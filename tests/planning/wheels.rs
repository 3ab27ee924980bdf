//! Runtime wheels without symlinks: outcome of each kind of entry.

use super::support::{Case, absent, devel, distribution, files, runtime};

fn core(entries: &str) -> Case {
    Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], entries)
}

fn placed(entries: &str) -> Vec<String> {
    files(&core(entries).plan(), "x-core")
}

fn dropped(entries: &str) -> Vec<String> {
    absent(&core(entries).plan(), "x-core")
}

#[test]
fn a_library_named_like_its_soname_or_without_one_is_the_file() {
    let entries = "base_lib_generic lib/libx.so.1 so libx.so.1
                   base_lib_generic lib/plugin.so so -";
    assert_eq!(
        placed(entries),
        ["lib/libx.so.1 copy base_lib_generic", "lib/plugin.so copy base_lib_generic"]
    );
}

const CHAIN: &str = "base_lib_generic lib/libx.so.1.0 so libx.so.1
                     base_lib_generic lib/libx.so.1 link libx.so.1.0
                     base_lib_generic lib/libx.so link libx.so.1";

#[test]
fn a_link_named_like_the_soname_becomes_the_library_and_the_other_names_are_said_to_be_left_out() {
    assert_eq!(placed(CHAIN), ["lib/libx.so.1 copy base_lib_generic:lib/libx.so.1.0"]);
    let why = "another name of the library `lib/libx.so.1`; wheels cannot hold links";
    assert_eq!(dropped(CHAIN), [format!("lib/libx.so: {why}"), format!("lib/libx.so.1.0: {why}")]);
}

#[test]
fn a_dynamic_loader_is_a_library_that_is_copied() {
    let entries = "base_lib_generic lib/ld-x.so.1.0 loader ld-x.so.1 runpath=$ORIGIN/x
                   base_lib_generic lib/ld-x.so.1 link ld-x.so.1.0
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=ld-x.so.1 runpath=$ORIGIN";
    assert_eq!(
        placed(entries),
        [
            "lib/ld-x.so.1 copy base_lib_generic:lib/ld-x.so.1.0",
            "lib/liba.so.1 relink base_lib_generic $ORIGIN"
        ]
    );
}

#[test]
fn a_library_without_an_entry_of_its_soname_is_shipped_under_that_name() {
    let entries = "base_lib_generic lib/libx-1.0.so so libx.so.1
                   base_lib_generic lib/libx.so link libx-1.0.so";
    assert_eq!(placed(entries), ["lib/libx.so.1 copy base_lib_generic:lib/libx-1.0.so"]);
}

#[test]
fn a_soname_link_that_dangles_does_not_count() {
    let entries = "base_lib_generic lib/libx-1.0.so so libx.so.1
                   base_lib_generic lib/libx.so.1 link gone.so";
    assert_eq!(placed(entries), ["lib/libx.so.1 copy base_lib_generic:lib/libx-1.0.so"]);
}

#[test]
fn two_libraries_of_one_soname_that_no_entry_bears_are_refused() {
    let entries = "base_lib_generic lib/libx-a.so so libx.so.1
                   base_lib_generic lib/libx-b.so so libx.so.1 is=other";
    let problem = core(entries).problem();
    assert!(problem.starts_with("`lib/libx-a.so` of artifact `base_lib_generic` and `lib/libx-b.so` of artifact `base_lib_generic` both have the SONAME `lib/libx.so.1`"), "{problem}");
    assert!(problem.contains("artifact \"base\" \"lib\" <- "), "{problem}");
}

/// The name sorts before or after the file at its place: the outcome is the same.
#[test]
fn a_library_with_a_soname_of_another_file_is_refused() {
    for name in ["liba.so", "libz.so"] {
        let problem = core(&format!(
            "base_lib_generic lib/{name} so libx.so.1
             base_lib_generic lib/libx.so.1 text hello"
        ))
        .problem();
        assert!(
            problem.starts_with(&format!(
                "`lib/{name}` of artifact `base_lib_generic` has the SONAME `lib/libx.so.1`, but `lib/libx.so.1` is another file"
            )),
            "{problem}"
        );
    }
}

#[test]
fn a_library_with_an_excluded_soname_is_refused() {
    let packages = [runtime("core", "artifact \"base\" \"lib\"\nexclude \"lib/libx.so.1\"")];
    let problem = Case::new(&packages, CHAIN).problem();
    assert!(problem.contains("`lib/libx.so.1.0`") && problem.contains("excluded"), "{problem}");
    assert!(problem.contains("exclude \"lib/libx.so.1\" <-"), "{problem}");
}

#[test]
fn a_link_to_a_program_becomes_a_stub() {
    let entries = "base_lib_generic lib/llvm/bin/clang exe
                   base_lib_generic lib/llvm/bin/static static
                   base_lib_generic lib/run.py script
                   base_lib_generic lib/data.py script x=no
                   base_lib_generic bin/clang link ../lib/llvm/bin/clang
                   base_lib_generic bin/static link ../lib/llvm/bin/static
                   base_lib_generic bin/run link ../lib/run.py
                   base_lib_generic bin/data link ../lib/data.py";
    assert_eq!(
        placed(entries)[..4],
        [
            "bin/clang stub ../lib/llvm/bin/clang x",
            "bin/data copy base_lib_generic:lib/data.py",
            "bin/run stub ../lib/run.py x",
            "bin/static stub ../lib/llvm/bin/static x"
        ]
    );
}

#[test]
fn a_link_to_a_program_through_links_starts_the_program_itself() {
    let entries = "base_lib_generic lib/llvm/bin/clang-22 exe
                   base_lib_generic lib/llvm/bin/clang link clang-22
                   base_lib_generic bin/clang link ../lib/llvm/bin/clang";
    assert_eq!(
        placed(entries)[..2],
        ["bin/clang stub ../lib/llvm/bin/clang-22 x", "lib/llvm/bin/clang stub clang-22 x"]
    );
}

#[test]
fn a_link_to_a_program_of_another_package_starts_it_there() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("tools", "artifact \"tools\" \"lib\"\nrequires \"core\""),
    ];
    let entries = "base_lib_generic lib/clang exe
                   tools_lib_generic bin/clang link ../lib/clang
                   tools_lib_generic bin/mine script";
    assert_eq!(
        files(&Case::new(&packages, entries).plan(), "x-tools")[0],
        "bin/clang stub ../../_x_core/lib/clang x"
    );
}

#[test]
fn a_link_to_a_program_that_no_runtime_package_ships_is_dropped() {
    let packages = [runtime("core", "artifact \"base\" \"lib\""), devel("artifacts-of \"core\"")];
    let entries = "base_lib_generic bin/gdb link ../libexec/gdb
                   base_lib_generic bin/mine script
                   base_dev_generic libexec/gdb exe";
    let plan = Case::new(&packages, entries).plan();
    assert_eq!(files(&plan, "x-core"), ["bin/mine copy base_lib_generic x"]);
    assert_eq!(
        absent(&plan, "x-core"),
        ["bin/gdb: its target `libexec/gdb` is in no runtime package"]
    );
}

#[test]
fn a_link_to_another_file_becomes_a_copy() {
    let entries = "base_lib_generic share/a.json text {}
                   base_lib_generic share/kernel.co code
                   base_lib_generic share/k.hsaco link kernel.co
                   base_lib_generic etc/a.json link ../share/a.json";
    assert_eq!(
        placed(entries)[..2],
        ["etc/a.json copy base_lib_generic:share/a.json", "share/a.json copy base_lib_generic"],
    );
    assert_eq!(
        placed(entries)[2],
        "share/k.hsaco copy base_lib_generic:share/kernel.co",
        "a code object is data"
    );
}

#[test]
fn links_to_directories_and_links_to_nothing_are_dropped_with_the_reason() {
    let entries = "base_lib_generic lib/llvm/lib/libx.so.1 so libx.so.1
                   base_lib_generic llvm link lib/llvm
                   base_lib_generic bin/gone link ../nowhere/at-all
                   base_lib_generic bin/past link ../lib/llvm/lib/libx.so.1/below
                   base_lib_generic bin/circle link circle
                   base_lib_generic share/empty dir";
    assert_eq!(
        dropped(entries),
        [
            "bin/circle: is circular",
            "bin/gone: dangles: no artifact has `nowhere`",
            "bin/past: dangles: no artifact has `lib/llvm/lib/libx.so.1/below`",
            "llvm: a link to a directory; wheels cannot hold links",
            "share/empty: an empty directory; wheels hold only files",
        ]
    );
}

#[test]
fn files_that_cannot_have_an_rpath_are_copied() {
    let entries = "base_lib_generic bin/static static
                   base_lib_generic lib/crt1.o object
                   base_lib_generic lib/k.co code
                   base_lib_generic lib/tool.exe data 5
                   base_lib_generic lib/libother.so foreign libother.so";
    let packages = [runtime("core", "artifact \"base\" \"lib\"\nrpath \"core\" \"lib\"")];
    let plan = Case::new(&packages, entries).plan();
    assert!(
        files(&plan, "x-core").iter().all(|f| f.contains(" copy ")),
        "{:?}",
        files(&plan, "x-core")
    );
}

/// No stub for another machine exists.
#[test]
fn a_link_to_a_program_of_another_machine_becomes_a_copy() {
    assert_eq!(
        placed("base_lib_generic lib/tool foreign\nbase_lib_generic bin/tool link ../lib/tool")[0],
        "bin/tool copy base_lib_generic:lib/tool x"
    );
}

#[test]
fn a_cut_elf_file_is_refused_in_a_runtime_package() {
    let problem = core("base_lib_generic lib/libx.so broken").problem();
    assert!(
        problem.starts_with("`lib/libx.so` of artifact `base_lib_generic` has the signature of an ELF file, but is malformed: the file ends"),
        "{problem}"
    );
}

#[test]
fn files_keep_their_execute_bits() {
    let entries = "base_lib_generic bin/a script x=yes
                   base_lib_generic bin/b script x=no
                   base_lib_generic bin/c text c x=yes";
    assert_eq!(
        placed(entries),
        [
            "bin/a copy base_lib_generic x",
            "bin/b copy base_lib_generic",
            "bin/c copy base_lib_generic x"
        ]
    );
}

#[test]
fn no_name_is_special() {
    let entries = "base_lib_generic .kpack/blas.kpm text {}
                   base_lib_generic share/.gitignore text x
                   base_lib_generic share/a,\"b'ü.txt text x";
    assert_eq!(
        placed(entries),
        [".kpack/blas.kpm", "share/.gitignore", "share/a,\"b'ü.txt"]
            .map(|p| format!("{p} copy base_lib_generic"))
    );
}

#[test]
fn the_platform_directory_is_a_regular_package_with_the_suffix_in_its_name() {
    let plan = core("base_lib_generic a text a").asking(|r| r.suffix = "_7".to_owned()).plan();
    let paths: Vec<&str> =
        distribution(&plan, "x-core").members.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(
        paths,
        ["_x_core_7/__init__.py", "_x_core_7/a", "x_core/__init__.py", "x_core/_dist_info.py"]
    );
}
