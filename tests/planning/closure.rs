//! Every library that an ELF file needs is found after installation.

use plan::resolve::{Closure, Resolved};

use super::support::{Case, devel, distribution, package, runtime};

const SYSTEM: &str = "system-library \"libc.so.6\" \"libm.so.*\"\n";

fn core(lines: &str) -> String {
    runtime("core", &format!("artifact \"base\" \"lib\"\n{lines}"))
}

fn libs(lines: &str) -> String {
    runtime("libs", &format!("artifact \"blas\" \"lib\"\n{lines}"))
}

fn device() -> String {
    let distribution = "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\"";
    package(
        "device",
        "runtime",
        distribution,
        "overlay \"libs\"\nartifact \"blas\" \"lib\"\nrpath \"libs\" \"lib\"\nrpath \"core\" \"lib\"",
    )
}

/// Returns a selector that always installs core, and the others as extras.
fn meta(extras: &[&str]) -> String {
    let extras: Vec<String> =
        extras.iter().map(|name| format!("extra \"{name}\" package=\"{name}\"\n")).collect();
    let lines = format!("requires \"core\"\n{}", extras.concat());
    package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", &lines)
}

fn system() -> String {
    SYSTEM.to_owned()
}

/// Returns the place of each needed library, one line a library.
fn needs(case: &Case, name: &str, path: &str) -> Vec<String> {
    let (plan, _) = case.plan_and_warnings();
    let manifest = case.manifest();
    let closure = Closure::new(&manifest, &case.catalog, &plan.distributions);
    let path = path.parse().unwrap();
    let needs = closure.needs(distribution(&plan, name), &path);
    let shown = needs.map(|need| {
        let place = match need.resolved {
            Resolved::Member(found) => found.member.path.to_string(),
            Resolved::ThroughLoader { found, loader } => {
                format!("{} when {} loads it", found.member.path, loader.member.path)
            }
            Resolved::Luck(found) => format!("{} by luck", found.member.path),
            Resolved::Windows => "Windows".to_owned(),
            Resolved::System(rule) => format!("system ({})", rule.name.as_str()),
            Resolved::Missing(rule) => format!("missing ({})", rule.name.as_str()),
            Resolved::Unresolved { .. } => "nowhere".to_owned(),
        };
        format!("{}: {place}", need.library)
    });
    shown.collect()
}

const BASE: &str = "base_lib_generic lib/liba.so.1.0 so liba.so.1 needs=libc.so.6,libm.so.6
                    base_lib_generic lib/liba.so.1 link liba.so.1.0
                    blas_lib_generic lib/libb.so.1 so libb.so.1 needs=liba.so.1,libb2.so.1 rpath=$ORIGIN
                    blas_lib_generic lib/libb2.so.1 so libb2.so.1 needs=liba.so.1,libc.so.6\n";

#[test]
fn a_library_is_in_the_wheel_a_required_wheel_or_the_system() {
    let packages = [core(""), libs("requires \"core\"\nrpath \"core\" \"lib\""), system()];
    let case = Case::new(&packages, BASE);
    case.plan();
    assert_eq!(
        needs(&case, "x-libs", "_x_libs/lib/libb.so.1"),
        ["liba.so.1: _x_core/lib/liba.so.1", "libb2.so.1: _x_libs/lib/libb2.so.1"]
    );
    assert_eq!(
        needs(&case, "x-core", "_x_core/lib/liba.so.1"),
        ["libc.so.6: system (libc.so.6)", "libm.so.6: system (libm.so.*)"]
    );
    assert!(needs(&case, "x-core", "_x_core/__init__.py").is_empty());
}

#[test]
fn a_library_that_no_package_ships_names_the_artifact_that_has_it() {
    let entries = "base_lib_generic bin/tool exe needs=libz.so.1
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=libz.so.1
                   zlib_dev_generic lib/libz.so.1.3 so libz.so.1";
    assert_eq!(
        Case::new(&[core("")], entries).problem(),
        "`bin/tool` of x-core and 1 more file need `libz.so.1`, which no package ships; artifact `zlib_dev_generic` has it\n\x20 artifact \"base\" \"lib\" <- takes `bin/tool`, `lib/liba.so.1`\n\x20 help: take artifact \"zlib\" \"dev\" in package `core`, or in a package that is installed with it, without a rule that excludes the library; it is `lib/libz.so.1.3` there\n"
    );
}

#[test]
fn a_library_that_is_nowhere_is_an_error_with_the_lines_to_write() {
    assert_eq!(
        Case::new(&[core("")], "base_lib_generic bin/tool exe needs=libz.so.1").problem(),
        "`bin/tool` of x-core needs `libz.so.1`, which is neither in an artifact nor a system library\n\x20 artifact \"base\" \"lib\" <- takes `bin/tool`\n\x20 help: add it to the build; if every system has it, write system-library \"libz.so.1\"; if some builds leave it out, write ignore \"unresolved-library\" \"libz.so.1\" reason=\"…\"\n"
    );
}

#[test]
fn a_library_in_a_directory_that_is_not_searched_names_the_rpath_line() {
    let entries = "base_lib_generic lib/deep/liba.so.1 so liba.so.1
                   blas_lib_generic lib/libb.so.1 so libb.so.1 needs=liba.so.1";
    assert_eq!(
        Case::new(&[core(""), libs("requires \"core\"\nrpath \"core\" \"lib\"")], entries)
            .problem(),
        "`lib/libb.so.1` of x-libs does not find `liba.so.1`, which x-core has in `lib/deep`\n\x20 artifact \"blas\" \"lib\" <- takes `lib/libb.so.1`\n\x20 help: add to package `libs`: rpath \"core\" \"lib/deep\"\n"
    );
    let fixed =
        Case::new(&[core(""), libs("requires \"core\"\nrpath \"core\" \"lib/deep\"")], entries);
    assert_eq!(
        needs(&fixed, "x-libs", "_x_libs/lib/libb.so.1"),
        ["liba.so.1: _x_core/lib/deep/liba.so.1"]
    );
}

/// A missing line is one mistake, for all libraries affected.
#[test]
fn libraries_of_one_directory_that_is_not_searched_are_one_problem() {
    let entries = "base_lib_generic lib/deep/liba.so.1 so liba.so.1
                   base_lib_generic lib/deep/libz.so.1 so libz.so.1
                   more_lib_generic bin/other exe needs=libz.so.1
                   base_lib_generic bin/tool exe needs=libz.so.1,liba.so.1";
    let lines = "artifact \"more\" \"lib\"";
    assert_eq!(
        Case::new(&[core(lines)], entries).problem(),
        "`bin/other` of x-core and 1 more file do not find `liba.so.1`, `libz.so.1`, which x-core has in `lib/deep`\n\x20 artifact \"more\" \"lib\" <- takes `bin/other`; other lines take `bin/tool`\n\x20 help: add to package `core`: rpath \"core\" \"lib/deep\"\n"
    );
}

#[test]
fn a_missing_library_is_one_problem_for_all_dependents() {
    let entries = "base_lib_generic lib/liba.so.1 so liba.so.1 needs=libgone.so.1 rpath=$ORIGIN
                   base_lib_generic lib/libb.so.1 so libb.so.1 needs=liba.so.1 rpath=$ORIGIN
                   base_lib_generic bin/tool exe needs=libb.so.1 rpath=$ORIGIN/../lib";
    assert!(
        Case::new(&[core("")], entries)
            .problem()
            .starts_with("`lib/liba.so.1` of x-core needs `libgone.so.1`")
    );
}

/// The library is missing because its artifact is: this is reported once.
#[test]
fn a_library_of_a_missing_artifact_is_no_second_problem() {
    let packages = [core("artifact \"zlib\" \"lib\"")];
    assert!(
        Case::new(&packages, "base_lib_generic bin/tool exe needs=libz.so.1")
            .problem()
            .starts_with("artifact `zlib` is missing")
    );
}

#[test]
fn many_files_are_named_by_the_first_and_counted() {
    let lines: Vec<String> =
        (0..9).map(|n| format!("base_lib_generic bin/t{n} exe needs=libz.so.1\n")).collect();
    let problem = Case::new(&[core("")], &lines.concat()).problem();
    assert!(
        problem.starts_with("`bin/t0` of x-core and 8 more files need `libz.so.1`"),
        "{problem}"
    );
    assert!(problem.contains("<- takes `bin/t0`, `bin/t1`, `bin/t2` and 6 more\n"), "{problem}");
}

#[test]
fn a_missing_library_is_a_note_with_its_reason() {
    let entries = "base_lib_generic bin/tool exe needs=libz.so.1
                   base_lib_generic bin/tool2 exe needs=libz.so.1";
    let plan = Case::new(
        &[
            core(""),
            "ignore \"unresolved-library\" \"libz.so.*\" reason=\"small builds have none\"\n"
                .to_owned(),
        ],
        entries,
    )
    .plan();
    assert_eq!(
        plan.notes,
        [
            "`libz.so.1` is missing: small builds have none; `bin/tool` of x-core and 1 more file need it"
        ]
    );
}

/// `ignore "unresolved-library"` does not excuse a library that the build has and the search path
/// does not reach.
#[test]
fn a_library_that_may_be_missing_has_to_be_found_where_a_build_has_it() {
    let excuse = "ignore \"unresolved-library\" \"libz.so.1\" reason=\"small builds have none\"\n"
        .to_owned();
    let in_artifact = "base_lib_generic bin/tool exe needs=libz.so.1\nzlib_lib_generic lib/libz.so.1 so libz.so.1";
    assert!(
        Case::new(&[core(""), excuse.clone()], in_artifact)
            .problem()
            .contains("artifact `zlib_lib_generic` has it")
    );
    let not_searched = "base_lib_generic bin/tool exe needs=libz.so.1\nbase_lib_generic lib/libz.so.1 so libz.so.1";
    assert!(
        Case::new(&[core(""), excuse], not_searched).problem().contains("rpath \"core\" \"lib\"")
    );
}

#[test]
fn libraries_required_from_the_host_are_noted() {
    let host =
        "system-library \"libz.so.1\" \"libboost_*.so.1.*\" reason=\"not bundled\"\n".to_owned();
    let plan =
        Case::new(&[core(""), host], "base_lib_generic bin/tool exe needs=libz.so.1,libboost_a.so.1.9,libz.so.1,libboost_b.so.1.9").plan();
    assert_eq!(
        plan.notes,
        ["the system must have `libboost_a.so.1.9`, `libboost_b.so.1.9`, `libz.so.1`: not bundled"]
    );
}

#[test]
fn a_package_that_nothing_installs_is_luck() {
    let warned = |packages: &[String]| Case::new(packages, BASE).plan_and_warnings().1;
    let rpath = "rpath \"core\" \"lib\"\nrpath \"libs\" \"lib\"";
    assert_eq!(
        warned(&[core(""), libs(rpath), system()]),
        [
            "`lib/libb.so.1` of x-libs and 1 more file find `liba.so.1` only if x-core is installed too\n\x20 artifact \"blas\" \"lib\" <- takes `lib/libb.so.1`, `lib/libb2.so.1`\n\x20 help: add requires \"core\" to package `libs`\n"
        ]
    );
    assert!(warned(&[core(""), libs(&format!("requires \"core\"\n{rpath}")), system()]).is_empty());
    assert!(
        warned(&[meta(&["libs"]), core(""), libs(rpath), system()]).is_empty(),
        "who installs libs by the selector has core"
    );
    assert_eq!(
        warned(&[meta(&[]), core(""), libs(rpath), system()]).len(),
        1,
        "the selector does not offer libs"
    );
}

/// Requirements are transitive.
#[test]
fn requirements_of_requirements_are_installed_too() {
    let packages = [
        runtime("top", "artifact \"tools\" \"run\"\nrequires \"libs\"\nrpath \"core\" \"lib\""),
        core(""),
        libs("requires \"core\"\nrpath \"core\" \"lib\"\nrpath \"libs\" \"lib\""),
        system(),
    ];
    let case =
        Case::new(&packages, &format!("{BASE}tools_run_generic bin/tool exe needs=liba.so.1"));
    case.plan();
    assert_eq!(needs(&case, "x-top", "_x_top/bin/tool"), ["liba.so.1: _x_core/lib/liba.so.1"]);
}

/// The build's rpath reaches another package by chance: no line of the manifest requests it.
#[test]
fn luck_that_no_line_asks_for_is_an_error() {
    let entries = "base_lib_generic lib/liba.so.1 so liba.so.1
                   blas_lib_generic lib/libb.so.1 so libb.so.1 needs=liba.so.1 rpath=$ORIGIN/../../_x_core/lib";
    let problem = Case::new(&[core(""), libs("")], entries).problem();
    assert!(
        problem.starts_with(
            "`lib/libb.so.1` of x-libs finds `liba.so.1` only if x-core is installed too\n"
        ),
        "{problem}"
    );
}

const OVERLAY: &str = "base_lib_generic lib/liba.so.1 so liba.so.1
                       blas_lib_generic lib/libb.so.1 so libb.so.1 rpath=$ORIGIN\n";

#[test]
fn a_device_wheel_finds_overlaid_libraries_and_their_requirements() {
    let packages = [core(""), libs("requires \"core\""), device()];
    let case = Case::new(
        &packages,
        &format!(
            "{OVERLAY}blas_lib_gfx942 lib/plugins/libp.so so libp.so needs=libb.so.1,liba.so.1"
        ),
    );
    case.plan();
    assert_eq!(
        needs(&case, "x-device-gfx942", "_x_libs/lib/plugins/libp.so"),
        ["libb.so.1: _x_libs/lib/libb.so.1", "liba.so.1: _x_core/lib/liba.so.1"]
    );
}

#[test]
fn a_library_of_another_device_wheel_is_luck_and_an_error() {
    let packages = [core(""), libs("requires \"core\""), device()];
    let entries = format!(
        "{OVERLAY}blas_lib_gfx942 lib/libp.so so libp.so needs=libq.so
         blas_lib_gfx1100 lib/libq.so so libq.so"
    );
    assert_eq!(
        Case::new(&packages, &entries).problem(),
        "`lib/libp.so` of x-device-gfx942 finds `libq.so` only if x-device-gfx1100 is installed too\n\x20 artifact \"blas\" \"lib\" <- takes `lib/libp.so`\n\x20 help: add `lib/libq.so` to the artifacts of each target: that wheel is for another target\n"
    );
}

#[test]
fn libraries_may_need_files_of_every_device_wheel_but_not_of_a_single_one() {
    let packages = [core(""), libs("requires \"core\""), device()];
    let libs =
        "blas_lib_generic lib/libb.so.1 so libb.so.1 needs=libk.so rpath=$ORIGIN/k:$ORIGIN/k2
                base_lib_generic lib/liba.so.1 so liba.so.1
                blas_lib_gfx942 lib/k/libk.so so libk.so\n";
    let problem = Case::new(&packages, &format!("{libs}blas_lib_gfx1100 lib/k.co code")).problem();
    assert!(
        problem.starts_with(
            "`lib/libb.so.1` of x-libs finds `libk.so` only if x-device-gfx942 is installed too\n"
        ),
        "{problem}"
    );
    assert!(
        problem.contains(
            "help: ship `lib/k/libk.so` in `libs`, which can be installed without `device`\n"
        ),
        "{problem}"
    );
    let (_, warnings) =
        Case::new(&packages, &format!("{libs}blas_lib_gfx1100 lib/k2/libk.so so libk.so"))
            .plan_and_warnings();
    assert!(warnings[0].starts_with(
        "`lib/libb.so.1` of x-libs finds `libk.so` only if a wheel of `device` is installed too\n"
    ));
}

#[test]
fn one_fault_of_all_device_wheels_is_one_problem() {
    let packages = [core(""), libs("requires \"core\""), device()];
    let entries = format!(
        "{OVERLAY}blas_lib_gfx942 lib/libp_gfx942.so so libp_gfx942.so needs=libgone.so
         blas_lib_gfx1100 lib/libp_gfx1100.so so libp_gfx1100.so needs=libgone.so"
    );
    let problem = Case::new(&packages, &entries).problem();
    assert!(
        problem.starts_with(
            "`lib/libp_gfx942.so` of x-device-gfx942 and 1 more file in 2 wheels need `libgone.so`"
        ),
        "{problem}"
    );
}

#[test]
fn each_family_has_its_libraries() {
    let libs = |lines: &str| {
        let lines = format!("artifact \"blas\" \"lib\"\nrpath \"libs\" \"lib\"\n{lines}");
        package(
            "libs",
            "runtime",
            "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
            &lines,
        )
    };
    let entries = "blas_lib_gfx94X-dcgpu lib/libb.so.1 so libb.so.1 needs=libsolver.so.0
                   blas_lib_gfx94X-dcgpu lib/libsolver.so.0 so libsolver.so.0
                   blas_lib_gfx110X-all lib/libb.so.1 so libb.so.1 needs=libsolver.so.0\n";
    assert_eq!(
        Case::new(&[libs("")], entries).legacy().problem(),
        "`lib/libb.so.1` of x-libs-gfx110X-all needs `libsolver.so.0`, which no package ships; artifact `blas_lib_gfx94X-dcgpu` has it for another target\n\x20 artifact \"blas\" \"lib\" <- takes `lib/libb.so.1`\n\x20 help: build it for this target too: it is `lib/libsolver.so.0` there\n"
    );
    let excuse =
        "ignore \"unresolved-library\" \"libsolver.so.*\" reason=\"not for every family\"\n"
            .to_owned();
    let plan = Case::new(&[libs(""), excuse], entries).legacy().plan();
    assert_eq!(plan.notes.len(), 1);
    assert!(
        plan.notes[0].text.ends_with("`lib/libb.so.1` of x-libs-gfx110X-all needs it"),
        "{:?}",
        plan.notes
    );
    let whole = Case::new(
        &[libs("")],
        &format!("{entries}blas_lib_gfx110X-all lib/libsolver.so.0 so libsolver.so.0"),
    )
    .legacy();
    assert_eq!(
        needs(&whole, "x-libs-gfx110X-all", "_x_libs_gfx110X_all/lib/libb.so.1"),
        ["libsolver.so.0: _x_libs_gfx110X_all/lib/libsolver.so.0"]
    );
}

/// `DT_RPATH` also applies to loaded files: here a plugin directory known only to the program.
#[test]
fn the_rpath_of_loading_files_counts_too() {
    let entries =
        "base_lib_generic bin/tool exe needs=liba.so.1 rpath=$ORIGIN/../lib:$ORIGIN/../lib/deep
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=libd.so.1
                   base_lib_generic lib/deep/libd.so.1 so libd.so.1";
    let (_, warnings) = Case::new(&[core("")], entries).plan_and_warnings();
    assert_eq!(
        warnings,
        [
            "`lib/liba.so.1` of x-core finds `libd.so.1` only if `bin/tool` of x-core loads it first\n\x20 artifact \"base\" \"lib\" <- takes `lib/liba.so.1`\n\x20 help: add to package `core`: rpath \"core\" \"lib/deep\"\n"
        ]
    );
}

#[test]
fn one_loader_that_does_not_lead_there_is_enough_to_fail() {
    let entries =
        "base_lib_generic bin/tool exe needs=liba.so.1 rpath=$ORIGIN/../lib:$ORIGIN/../lib/deep
                   base_lib_generic bin/other exe needs=liba.so.1 rpath=$ORIGIN/../lib
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=libd.so.1
                   base_lib_generic lib/deep/libd.so.1 so libd.so.1";
    let problem = Case::new(&[core("")], entries).problem();
    assert!(
        problem.starts_with("`lib/liba.so.1` of x-core does not find `libd.so.1`"),
        "{problem}"
    );
}

/// The chain of loaders extends to the program, through libraries without an rpath.
#[test]
fn a_chain_of_loaders_is_searched_to_its_end() {
    let entries = "base_lib_generic bin/tool exe needs=liba.so.1 rpath=$ORIGIN/../lib
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=libb.so.1
                   base_lib_generic lib/libb.so.1 so libb.so.1 needs=libc.so.1
                   base_lib_generic lib/libc.so.1 so libc.so.1";
    let case = Case::new(&[core("")], entries);
    assert_eq!(
        needs(&case, "x-core", "_x_core/lib/liba.so.1"),
        ["libb.so.1: _x_core/lib/libb.so.1 when _x_core/bin/tool loads it"]
    );
    assert_eq!(
        needs(&case, "x-core", "_x_core/lib/libb.so.1"),
        ["libc.so.1: _x_core/lib/libc.so.1 when _x_core/bin/tool loads it"]
    );
}

/// A loaded library is found by its SONAME, breadth first: here by a library next to the file that
/// needs it.
#[test]
fn a_library_that_is_loaded_already_is_found() {
    let entries = "base_lib_generic bin/tool exe needs=liba.so.1,libb.so.1 rpath=$ORIGIN/../lib
                   base_lib_generic lib/liba.so.1 so liba.so.1 needs=libd.so.1 rpath=$ORIGIN/deep
                   base_lib_generic lib/libb.so.1 so libb.so.1 needs=libd.so.1
                   base_lib_generic lib/deep/libd.so.1 so libd.so.1";
    let case = Case::new(&[core("")], entries);
    assert_eq!(
        needs(&case, "x-core", "_x_core/lib/libb.so.1"),
        ["libd.so.1: _x_core/lib/deep/libd.so.1 when _x_core/bin/tool loads it"]
    );
    // In the other order it is searched before it is loaded.
    let turned = entries.replace("needs=liba.so.1,libb.so.1", "needs=libb.so.1,liba.so.1");
    assert!(Case::new(&[core("")], &turned).problem().contains("does not find `libd.so.1`"));
}

#[test]
fn a_library_needed_by_its_alias_is_found_as_the_forwarding_library() {
    let entries = "base_lib_generic lib/libx.so.1 so libx.so.1
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic bin/tool exe needs=libx.so rpath=$ORIGIN/../lib";
    let case = Case::new(&[core("alias \"lib/libx.so\" as=\"forward\"")], entries);
    assert_eq!(needs(&case, "x-core", "_x_core/bin/tool"), ["libx.so: _x_core/lib/libx.so"]);
    assert_eq!(
        needs(&case, "x-core", "_x_core/lib/libx.so"),
        ["libx.so.1: _x_core/lib/libx.so.1"],
        "the forwarding library's own need"
    );
    let problem = Case::new(&[core("")], entries).problem();
    assert!(
        problem.contains("needs `libx.so`, which is neither in an artifact"),
        "the name is a link, which wheels do not hold: {problem}"
    );
}

/// A library is found by its shipped name.
#[test]
fn a_library_shipped_under_its_soname_is_found() {
    let entries = "base_lib_generic lib/libx-1.0.so so libx.so.1
                   base_lib_generic bin/tool exe needs=libx.so.1 rpath=$ORIGIN/../lib";
    assert_eq!(
        needs(&Case::new(&[core("")], entries), "x-core", "_x_core/bin/tool"),
        ["libx.so.1: _x_core/lib/libx.so.1"]
    );
}

#[test]
fn libraries_for_another_machine_are_passed_by() {
    let entries =
        "base_lib_generic bin/tool exe needs=liba.so.1 rpath=$ORIGIN/../arm:$ORIGIN/../lib
                   base_lib_generic bin/tool2 exe rpath=$ORIGIN
                   base_lib_generic arm/liba.so.1 so liba.so.1 machine=aarch64
                   base_lib_generic lib/liba.so.1 so liba.so.1";
    let accepted = "ignore \"wrong-platform\" in=\"arm/**\" reason=\"a fixture\"\n".to_owned();
    let case = Case::new(&[core(""), accepted], entries);
    case.plan();
    assert_eq!(needs(&case, "x-core", "_x_core/bin/tool"), ["liba.so.1: _x_core/lib/liba.so.1"]);
}

#[test]
fn a_file_that_is_no_library_ends_the_search() {
    let entries = "base_lib_generic bin/tool exe needs=liba.so rpath=$ORIGIN/../lib:$ORIGIN/../lib2
                   base_lib_generic lib/liba.so text INPUT(liba.so.1)
                   base_lib_generic lib2/liba.so so liba.so";
    let problem = Case::new(&[core("")], entries).problem();
    assert!(
        problem
            .starts_with("`bin/tool` of x-core needs `liba.so`, but the first file of this name, `lib/liba.so` of x-core, is not a library\n"),
        "{problem}"
    );
}

#[test]
fn only_files_that_the_loader_loads_have_needs() {
    let entries = "base_lib_generic lib/k.co code - needs=libgone.so
                   base_lib_generic lib/o.o object - needs=libgone.so
                   base_lib_generic bin/busybox static - needs=libgone.so
                   base_lib_generic bin/i386 foreign - needs=libgone.so";
    Case::new(&[core("")], entries).plan();
}

#[test]
fn a_path_of_the_build_machine_is_refused() {
    let problem =
        Case::new(&[core("")], "base_lib_generic bin/tool exe needs=/build/lib/liba.so").problem();
    assert!(
        problem.starts_with(
            "`bin/tool` of x-core needs `/build/lib/liba.so`, a path of the build machine\n"
        ),
        "{problem}"
    );
}

#[test]
fn an_rpath_that_leads_out_of_the_packages_finds_nothing() {
    for rpath in ["/opt/lib", "lib", "$ORIGIN/../../../../lib", "$LIB", "$ORIGINAL"] {
        let entries = format!(
            "base_lib_generic bin/tool exe needs=liba.so.1 rpath={rpath}\nbase_lib_generic lib/liba.so.1 so liba.so.1"
        );
        assert!(
            Case::new(&[core("")], &entries).problem().contains("does not find `liba.so.1`"),
            "{rpath}"
        );
    }
}

#[test]
fn two_libraries_of_one_name_are_a_warning_that_labels_both() {
    let entries = "base_lib_generic lib/libz.so.1 so libz.so.1
                   more_lib_generic lib/deep/libz.so.1 so libz.so.1
                   base_lib_generic bin/tool exe needs=libz.so.1 rpath=$ORIGIN/../lib:$ORIGIN/../lib/deep
                   base_lib_generic bin/tool2 exe needs=libz.so.1 rpath=$ORIGIN/../lib:$ORIGIN/../lib/deep";
    let packages = [core("artifact \"more\" \"lib\"")];
    assert_eq!(
        Case::new(&packages, entries).plan_and_warnings().1,
        [
            "two different libraries have the name `libz.so.1`: `lib/libz.so.1` of x-core and `lib/deep/libz.so.1` of x-core\n\x20 artifact \"base\" \"lib\" <- `bin/tool`, `bin/tool2` load this one\n\x20 artifact \"more\" \"lib\" <- second file\n\x20 help: exclude one of them, or give it another SONAME in the build\n"
        ]
    );
    let turned = entries.replace(
        "bin/tool2 exe needs=libz.so.1 rpath=$ORIGIN/../lib:",
        "bin/tool2 exe needs=libz.so.1 rpath=$ORIGIN/../lib/deep:$ORIGIN/../lib:",
    );
    let warning = &Case::new(&packages, &turned).plan_and_warnings().1[0];
    assert!(
        warning.contains("<- `bin/tool` loads this one\n")
            && warning.contains("<- `bin/tool2` loads this one\n"),
        "{warning}"
    );
}

#[test]
fn rules_on_the_same_line_of_two_files_have_their_own_notes() {
    let includes = "include \"a.kdl\"\ninclude \"b.kdl\"\n".to_owned();
    let entries = "base_lib_generic bin/tool exe needs=libfoo.so.1,libbar.so.1";
    let case = Case::new(&[core(""), includes], entries)
        .included("a.kdl", "system-library \"libfoo.so.1\" reason=\"foo\"\n")
        .included("b.kdl", "system-library \"libbar.so.1\" reason=\"bar\"\n");
    let (plan, _) = case.plan_and_warnings();
    let notes: Vec<_> =
        plan.notes.iter().map(|note| (&*note.text, note.rule.as_deref().unwrap_or(""))).collect();
    assert_eq!(
        notes,
        [
            ("the system must have `libfoo.so.1`: foo", "a.kdl:1"),
            ("the system must have `libbar.so.1`: bar", "b.kdl:1"),
        ]
    );
}

#[test]
fn one_library_under_two_paths_is_no_clash() {
    let entries = "base_lib_generic lib/libz.so.1.3 so libz.so.1
                   base_lib_generic lib/libz.so.1 link libz.so.1.3
                   base_lib_generic lib/deep/libz.so.1 link ../libz.so.1
                   base_lib_generic bin/tool exe needs=libz.so.1 rpath=$ORIGIN/../lib:$ORIGIN/../lib/deep";
    Case::new(&[core("")], entries).plan();
}

const DEVEL: &str = "base_lib_generic lib/liba.so.1 so liba.so.1 needs=libc.so.6
                     base_dev_generic bin/tool exe needs=liba.so.1,libd.so.1,libc.so.6 rpath=$ORIGIN/../lib:$ORIGIN/../sub/lib
                     base_dev_generic deep/lib/libd.so.1 so libd.so.1
                     base_dev_generic sub link deep\n";

#[test]
fn files_of_devel_find_links_into_packages_and_files_behind_links_to_directories() {
    let case = Case::new(&[core(""), devel("artifacts-of \"core\""), system()], DEVEL);
    case.plan();
    assert_eq!(
        needs(&case, "x-devel", "_x_devel/bin/tool"),
        [
            "liba.so.1: _x_core/lib/liba.so.1",
            "libd.so.1: _x_devel/deep/lib/libd.so.1",
            "libc.so.6: system (libc.so.6)"
        ]
    );
}

#[test]
fn files_of_devel_that_do_not_search_are_one_warning() {
    let entries = DEVEL.replace(" rpath=$ORIGIN/../lib:$ORIGIN/../sub/lib", "");
    assert_eq!(
        Case::new(&[core(""), devel("artifacts-of \"core\""), system()], &entries)
            .plan_and_warnings()
            .1,
        [
            "`bin/tool` of x-devel does not find `liba.so.1`, `libd.so.1`: the devel tree has it, but in directories outside of the search path\n\x20 artifacts-of \"core\" <- takes `bin/tool`\n\x20 help: set the rpath in the build, or use LD_LIBRARY_PATH: files of a devel package keep their rpath\n"
        ]
    );
}

#[test]
fn a_library_needed_by_devel_and_shipped_by_none_is_an_error() {
    let problem = Case::new(&[core(""), devel("artifacts-of \"core\"")], DEVEL).problems();
    assert_eq!(problem.len(), 2, "one for each package: {problem:?}");
    assert!(problem[1].starts_with("`bin/tool` of x-devel needs `libc.so.6`"), "{}", problem[1]);
    assert!(problem[1].contains("artifacts-of \"core\" <- takes `bin/tool`"), "{}", problem[1]);
}

/// Devel trees of several families have the same paths, and are never installed together.
#[test]
fn devel_of_a_family_finds_the_libraries_of_that_family() {
    let libs = package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"",
    );
    let devel = package(
        "devel",
        "devel",
        "\"x-devel\" module=\"x_devel\" per=\"family\"",
        "artifacts-of \"libs\"",
    );
    let entries = "blas_lib_gfx110X-all lib/libb.so.1 so libb.so.1
                   blas_lib_gfx94X-dcgpu lib/libb.so.1 so libb.so.1 is=other
                   blas_dev_gfx110X-all bin/bench exe needs=libb.so.1 rpath=$ORIGIN/../lib
                   blas_dev_gfx94X-dcgpu bin/bench exe needs=libb.so.1,libs.so.1 rpath=$ORIGIN/../lib is=other
                   blas_dev_gfx94X-dcgpu lib/libs.so.1 so libs.so.1";
    let case = Case::new(&[libs, devel], entries).legacy();
    let plan = case.plan();
    let manifest = case.manifest();
    let closure = Closure::new(&manifest, &case.catalog, &plan.distributions);
    let path = "_x_devel/bin/bench".parse().unwrap();
    let found = |family: &str| -> Vec<String> {
        let of = plan
            .distributions
            .iter()
            .find(|d| d.name.as_str() == "x-devel" && d.variant.as_deref() == Some(family))
            .unwrap();
        let paths = closure.needs(of, &path).map(|need| match need.resolved {
            Resolved::Member(found) => found.member.path.to_string(),
            other => format!("{other:?}"),
        });
        paths.collect()
    };
    assert_eq!(found("gfx110X-all"), ["_x_libs_gfx110X_all/lib/libb.so.1"]);
    assert_eq!(
        found("gfx94X-dcgpu"),
        ["_x_libs_gfx94X_dcgpu/lib/libb.so.1", "_x_devel/lib/libs.so.1"]
    );
}

/// `--only` limits the output, not the checks.
#[test]
fn a_set_is_checked_whole_for_any_selection() {
    let case = Case::new(
        &[core(""), libs("requires \"core\"\nrpath \"core\" \"lib\"\nrpath \"libs\" \"lib\"")],
        BASE,
    );
    let only = case.clone().asking(|r| r.only = vec!["libs".parse().unwrap()]);
    assert_eq!(only.problems().len(), 3, "libc and libm of core, libc of libs");
    let packages = [
        core(""),
        libs("requires \"core\"\nrpath \"core\" \"lib\"\nrpath \"libs\" \"lib\""),
        system(),
    ];
    Case::new(&packages, BASE).asking(|r| r.only = vec!["libs".parse().unwrap()]).plan();
}

/// A line of the manifest expects the warning: it is in the plan with the reason, separate from the
/// same warning about unexpected files.
#[test]
fn a_warning_that_the_manifest_expects_has_its_reason() {
    let entries = "base_lib_generic bin/tool exe
                   base_dev_generic bin/a exe needs=libz.so.1
                   base_dev_generic bin/b exe needs=libz.so.1
                   base_dev_generic deep/libz.so.1 so libz.so.1";
    let ignore = |more: &str| {
        format!("ignore \"unresolved-library\" package=\"devel\" in=\"{more}\" reason=\"meant\"\n")
    };
    let case =
        |more: &str| Case::new(&[core(""), devel("artifacts-of \"core\""), ignore(more)], entries);
    let (plan, warnings) = case("bin/a").plan_and_warnings();
    assert_eq!(plan.warnings.len(), 2, "{:?}", plan.warnings);
    let (expected, news): (Vec<_>, Vec<_>) =
        plan.warnings.iter().partition(|warning| warning.expected.is_some());
    assert!(expected[0].message.starts_with("`bin/a` of"), "{:?}", expected[0]);
    assert_eq!(expected[0].expected.as_ref().unwrap().text, "meant");
    assert!(news[0].message.starts_with("`bin/b` of"), "{:?}", news[0]);
    assert!(warnings.iter().any(|text| text.contains("`bin/b` of")), "{warnings:?}");
    let (plan, _) = case("other/**").plan_and_warnings();
    let unused = plan.warnings.iter().find(|warning| warning.code == "matches-nothing").unwrap();
    assert_eq!(unused.message, "`ignore \"unresolved-library\"` matches no warning");
}
