//! Search paths of the ELF files in wheels.

use super::support::{Case, archived, devel, files, package, runtime};

fn two(lines: &str) -> [String; 3] {
    [
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", &format!("artifact \"blas\" \"lib\"\n{lines}")),
        "ignore \"rpath-outside\" to=\"opt/lib\" reason=\"a fixture\"\n".to_owned(),
    ]
}

const ENTRIES: &str = "base_lib_generic lib/llvm/lib/libc.so.1 so libc.so.1
                       base_lib_generic lib/liba.so.1 so liba.so.1 runpath=$ORIGIN
                       blas_lib_generic bin/tool exe rpath=/opt/lib
                       blas_lib_generic lib/libb.so.1 so libb.so.1 runpath=$ORIGIN
                       blas_lib_generic lib/deep/libd.so.1 so libd.so.1";

#[test]
fn entries_follow_existing_ones_in_declared_order_and_once() {
    let lines = "rpath \"libs\" \"lib\"\nrpath \"core\" \"lib\"\nrpath \"core\" \"lib/llvm/lib\"";
    let plan = Case::new(&two(lines), ENTRIES).plan();
    assert_eq!(
        files(&plan, "x-libs"),
        [
            "bin/tool relink blas_lib_generic /opt/lib:$ORIGIN/../../_x_libs/lib:$ORIGIN/../../_x_core/lib:$ORIGIN/../../_x_core/lib/llvm/lib x",
            "lib/deep/libd.so.1 relink blas_lib_generic $ORIGIN/../../../_x_libs/lib:$ORIGIN/../../../_x_core/lib:$ORIGIN/../../../_x_core/lib/llvm/lib",
            "lib/libb.so.1 relink blas_lib_generic $ORIGIN:$ORIGIN/../../_x_core/lib:$ORIGIN/../../_x_core/lib/llvm/lib",
        ]
    );
    assert_eq!(
        files(&plan, "x-core")[0],
        "lib/liba.so.1 relink base_lib_generic $ORIGIN",
        "RUNPATH turns into RPATH"
    );
}

#[test]
fn a_copy_for_a_soname_link_searches_from_its_directory() {
    let entries = format!("{ENTRIES}\nblas_lib_generic lib/deep/libb.so.1 link ../libb.so.1");
    let plan = Case::new(&two("rpath \"core\" \"lib\""), &entries).plan();
    assert_eq!(
        files(&plan, "x-libs")[1],
        "lib/deep/libb.so.1 relink blas_lib_generic:lib/libb.so.1 $ORIGIN:$ORIGIN/../../../_x_core/lib"
    );
}

#[test]
fn elf_files_of_devel_only_turn_runpath_into_rpath() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\"\nrpath \"core\" \"lib\""),
        devel("artifacts-of \"core\""),
    ];
    let entries = "base_lib_generic lib/liba.so.1 so liba.so.1
                   base_dev_generic lib/libdev.so.1 so libdev.so.1 runpath=$ORIGIN:
                   base_dev_generic lib/libold.so.1 so libold.so.1 rpath=/x";
    let archive = archived(&Case::new(&packages, entries).plan(), "x-devel");
    assert_eq!(
        archive[..2],
        [
            "lib/libdev.so.1 relink base_dev_generic $ORIGIN",
            "lib/libold.so.1 copy base_dev_generic"
        ]
    );
}

#[test]
fn a_directory_that_the_other_package_does_not_have_is_a_warning() {
    let (_, warnings) =
        Case::new(&two("rpath \"core\" \"lib\"\nrpath \"core\" \"lib64\""), ENTRIES)
            .plan_and_warnings();
    assert_eq!(
        warnings,
        [
            "package `core` has no directory `lib64`\n  rpath \"core\" \"lib64\" <- libraries search this directory\n  help: correct the directory, remove the line, or give a reason: optional=\"…\"\n"
        ]
    );
}

/// Each family's wheel searches its platform directory, not the first family's.
#[test]
fn wheels_of_several_families_search_their_own_directories() {
    let libs = package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"\nrpath \"libs\" \"lib\"",
    );
    let entries = "blas_lib_gfx110X-all lib/libb.so.1 so libb.so.1
                   blas_lib_gfx94X-dcgpu lib/libb.so.1 so libb.so.1 is=other";
    let plan = Case::new(&[libs], entries).legacy().plan();
    assert_eq!(
        files(&plan, "x-libs-gfx94X-dcgpu"),
        ["lib/libb.so.1 relink blas_lib_gfx94X-dcgpu $ORIGIN/../../_x_libs_gfx94X_dcgpu/lib"]
    );
}

#[test]
fn copies_libraries_for_other_machines() {
    let entries = format!(
        "{ENTRIES}\nblas_lib_generic lib32/libb.so.1 so libb.so.1 machine=i386 x=no
         blas_lib_generic lib32/crtbegin.o foreign - machine=i386 x=no"
    );
    let accepted = "ignore \"wrong-platform\" in=\"lib32/**\" reason=\"a fixture\"\n".to_owned();
    let packages = two("rpath \"core\" \"lib\"").into_iter().chain([accepted]);
    let plan = Case::new(&packages.collect::<Vec<_>>(), &entries).plan();
    assert!(files(&plan, "x-libs").contains(&"lib32/libb.so.1 copy blas_lib_generic".to_owned()));
}

#[test]
fn a_line_clears_the_executable_stacks_of_its_files() {
    let entries = "base_lib_generic lib/liba.so.1 so liba.so.1 runpath=$ORIGIN stack=x
                   base_lib_generic lib/libb.so.1 so libb.so.1 rpath=$ORIGIN stack=x
                   base_lib_generic lib/libc.so.1 so libc.so.1 stack=x
                   base_lib_generic lib/libd.so.1 so libd.so.1
                   base_dev_generic lib/libe.so.1 so libe.so.1 stack=x";
    let core = "artifact \"base\" \"lib\"\nclear-execstack \"lib/*\" reason=\"a fixture\"";
    let of_devel = "artifacts-of \"core\"\nclear-execstack \"lib/libe*\" reason=\"a fixture\"";
    let packages = [runtime("core", core), devel(of_devel)];
    let plan = Case::new(&packages, entries).plan();
    assert_eq!(
        files(&plan, "x-core"),
        [
            "lib/liba.so.1 relink base_lib_generic $ORIGIN stack",
            "lib/libb.so.1 relink base_lib_generic $ORIGIN stack",
            "lib/libc.so.1 relink base_lib_generic  stack",
            "lib/libd.so.1 copy base_lib_generic",
        ]
    );
    let cleared = "lib/libe.so.1 relink base_dev_generic  stack".to_owned();
    assert!(archived(&plan, "x-devel").contains(&cleared));
}
