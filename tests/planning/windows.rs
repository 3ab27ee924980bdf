//! Packages for Windows: the system follows from the artifacts, and every DLL is found.

use base::names::System;

use super::support::{Case, distribution, package, runtime};

const SYSTEM: &str = "system-library \"kernel32.dll\" \"api-ms-win-*.dll\"\n";

/// Makes a case without a platform tag.
fn case(packages: &[String], entries: &str) -> Case {
    let packages = [packages, &[SYSTEM.to_owned()]].concat();
    Case::new(&packages, entries).asking(|request| request.platform_tag = None)
}

fn core(lines: &str) -> String {
    runtime("core", &format!("artifact \"base\" \"lib\"\n{lines}"))
}

fn libs(lines: &str) -> String {
    runtime("libs", &format!("artifact \"blas\" \"lib\"\n{lines}"))
}

const FOUND: &str = "find-library \"hip\" dll=\"bin/hip*.dll\"";

#[test]
fn binaries_say_the_system_and_the_tag() {
    let lines = "artifact \"other\" \"lib\" on=\"linux\"";
    let plan =
        case(&[core(lines)], "base_lib_generic bin/a.dll dll a.dll needs=KERNEL32.dll").plan();
    assert_eq!(plan.platform_tag, "win_amd64");
    let arm = "base_lib_generic bin/a.dll dll a.dll machine=aarch64";
    assert_eq!(case(&[core(lines)], arm).plan().platform_tag, "win_arm64");
}

#[test]
fn request_and_artifacts_are_of_one_system() {
    let windows = case(&[core("")], "base_lib_generic bin/a.dll dll a.dll");
    let linux = case(&[core("")], "base_lib_generic lib/liba.so.1 so liba.so.1");
    let asked = |case: &Case, system, tag: Option<&str>| {
        case.clone()
            .asking(|request| {
                request.system = system;
                request.platform_tag = tag.map(|tag| tag.parse().unwrap());
            })
            .problem()
    };
    let help = |system| format!("  help: remove --system, or give artifacts for {system}\n");
    assert_eq!(
        asked(&windows, Some(System::Linux), None),
        format!("--system linux: the binaries of the artifacts are for windows\n{}", help("linux"))
    );
    assert_eq!(
        asked(&linux, Some(System::Windows), None),
        format!(
            "--system windows: the binaries of the artifacts are for linux\n{}",
            help("windows")
        )
    );
    let help = "  help: remove the tag: rockpack computes it from the binaries\n";
    assert_eq!(
        asked(&linux, None, Some("win_amd64")),
        format!("the platform tag win_amd64 is not for linux, the system of the packages\n{help}")
    );
    assert_eq!(
        asked(&windows, None, Some("linux_x86_64")),
        format!(
            "the platform tag linux_x86_64 is not for windows, the system of the packages\n{help}"
        )
    );
}

/// A build without binaries has no system: the command line gives it.
#[test]
fn without_binaries_the_command_line_says_the_system() {
    let lines = "artifact \"more\" \"lib\" on=\"windows\"";
    let entries = "base_lib_generic include/a.h text\nmore_lib_generic include/b.h text";
    let plan = case(&[core(lines)], entries)
        .asking(|request| {
            request.system = Some(System::Windows);
            request.platform_tag = Some("win_amd64".parse().unwrap());
        })
        .plan();
    let has =
        |path: &str| distribution(&plan, "x-core").members.iter().any(|m| m.path.as_str() == path);
    assert!(has("_x_core/include/b.h"));
}

#[test]
fn a_dll_is_in_the_same_or_an_opened_directory_or_the_system() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll needs=KERNEL32.DLL,Comgr.dll
                   base_lib_generic bin/comgr.dll dll comgr.dll needs=api-ms-win-crt-heap-l1-1-0.dll
                   base_lib_generic lib/llvm/bin/clang.exe dll clang.exe needs=comgr.dll
                   blas_lib_generic bin/blas.dll dll blas.dll needs=HIP_7.dll delayed=Solver.dll
                   blas_lib_generic bin/solver.dll dll solver.dll";
    case(&[core(FOUND), libs("requires \"core\"")], entries).plan();
}

#[test]
fn a_dll_that_no_package_ships_names_the_artifact_that_has_it() {
    let entries = "base_lib_generic bin/kpack.dll dll kpack.dll needs=hip_7.dll
                   hip_lib_generic bin/hip_7.dll dll hip_7.dll";
    assert_eq!(
        case(&[core("")], entries).problem(),
        "`bin/kpack.dll` of x-core needs `hip_7.dll`, which no package ships; artifact `hip_lib_generic` has it\n\x20 artifact \"base\" \"lib\" <- takes `bin/kpack.dll`\n\x20 help: take artifact \"hip\" \"lib\" in package `core`, or in a package that is installed with it, without a rule that excludes the library; it is `bin/hip_7.dll` there\n"
    );
}

/// Also the debug runtime, which users do not have.
#[test]
fn a_dll_that_is_nowhere_is_an_error() {
    for import in ["needs=vcruntime140d.dll", "delayed=vcruntime140d.dll"] {
        let entries = format!("base_lib_generic bin/a.dll dll a.dll {import}");
        let problem = case(&[core("")], &entries).problem();
        let needs =
            "`bin/a.dll` of x-core needs `vcruntime140d.dll`, which is neither in an artifact";
        assert!(problem.starts_with(needs), "{problem}");
    }
}

#[test]
fn a_dll_of_a_package_that_is_not_installed_with_it_is_luck() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll
                   blas_lib_generic bin/blas.dll dll blas.dll needs=hip_7.dll";
    let problem = case(&[core(FOUND), libs("")], entries).problem();
    assert!(
        problem.starts_with(
            "`bin/blas.dll` of x-libs finds `hip_7.dll` only if x-core is installed too\n"
        ) && problem.contains("requires \"core\" to package `libs`"),
        "{problem}"
    );
}

#[test]
fn a_dll_in_a_directory_that_nothing_opens_is_an_error() {
    let entries = "base_lib_generic deep/bin/hip_7.dll dll hip_7.dll
                   blas_lib_generic bin/blas.dll dll blas.dll needs=hip_7.dll";
    let problem = case(&[core(""), libs("requires \"core\"")], entries).problem();
    assert!(
        problem.starts_with(
            "`bin/blas.dll` of x-libs does not find `hip_7.dll`, which x-core has in `deep/bin`\n"
        ) && problem
            .contains("write find-library \"NAME\" dll=\"deep/bin/NAME*.dll\" in package `core`"),
        "{problem}"
    );
}

#[test]
fn two_dlls_of_one_name_are_reported() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll
                   blas_lib_generic bin/HIP_7.dll dll hip_7.dll
                   blas_lib_generic bin/blas.dll dll blas.dll needs=hip_7.dll";
    let packages = [core(FOUND), libs("requires \"core\"")];
    let (_, warnings) = case(&packages, entries).plan_and_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert!(
        warnings[0].starts_with("two different libraries have the name `hip_7.dll`: "),
        "{}",
        warnings[0]
    );
}

#[test]
fn a_dll_for_another_processor_is_named() {
    let entries = "base_lib_generic bin/a.dll dll a.dll
                   base_lib_generic bin/b.dll dll b.dll
                   base_lib_generic bin/odd.dll dll odd.dll machine=aarch64";
    assert_eq!(
        case(&[core("")], entries).problem(),
        "`_x_core/bin/odd.dll` of x-core is for win_arm64: the wheels are for win_amd64\n\x20 help: exclude the files for another processor, or correct the build\n"
    );
}

#[test]
fn a_library_that_only_another_isas_wheel_has_is_not_found() {
    let device =
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"kernels\" \"lib\"");
    let entries = "blas_lib_generic bin/blas.dll dll blas.dll
                   kernels_lib_gfx942 bin/tune.dll dll tune.dll needs=code.dll
                   kernels_lib_gfx1100 bin/code.dll dll code.dll";
    let problem = case(&[libs(""), device], entries).problem();
    assert!(problem.starts_with("`bin/tune.dll` of x-device-gfx942 "), "{problem}");
    assert!(problem.contains("`code.dll`"), "{problem}");
}

#[test]
fn a_dll_that_cannot_be_read_is_an_error() {
    let problem = case(
        &[core("")],
        "base_lib_generic bin/odd.dll broken-dll\nbase_lib_generic bin/a.dll dll a.dll",
    )
    .problem();
    assert!(
        problem.starts_with("`bin/odd.dll` of artifact `base_lib_generic` has the signature of a PE file, but is malformed: Magic at 0x98"),
        "{problem}"
    );
}

fn devel() -> String {
    package(
        "devel",
        "devel",
        "\"x-devel\" module=\"x_devel\" per=\"none\"",
        "requires \"core\"\nartifacts-of \"core\"\nartifact \"base\" \"dev\"",
    )
}

#[test]
fn an_import_library_leads_to_a_dll_that_is_shipped() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll needs=KERNEL32.dll
                   base_dev_generic lib/hip.lib implib HIP_7.dll,kernel32.dll";
    case(&[core(""), devel()], entries).plan();
}

#[test]
fn an_import_library_of_a_dll_that_is_nowhere_is_an_error() {
    let entries = "base_lib_generic bin/hip_8.dll dll hip_8.dll
                   base_dev_generic lib/hip.lib implib hip_7.dll";
    assert_eq!(
        case(&[core(""), devel()], entries).problem(),
        "`lib/hip.lib` of x-devel needs `hip_7.dll`, which is neither in an artifact nor a system library\n\x20 artifact \"base\" \"dev\" <- takes `lib/hip.lib`\n\x20 help: add it to the build; if every system has it, write system-library \"hip_7.dll\"; if some builds leave it out, write ignore \"unresolved-library\" \"hip_7.dll\" reason=\"…\"\n"
    );
}

#[test]
fn an_import_library_of_a_dll_that_is_not_taken_names_the_artifact() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll
                   blas_lib_generic bin/blas.dll dll blas.dll
                   base_dev_generic lib/blas.lib implib blas.dll";
    let problem = case(&[core(""), devel()], entries).problem();
    assert!(
        problem.starts_with(
            "`lib/blas.lib` of x-devel needs `blas.dll`, which no package ships; artifact `blas_lib_generic` has it\n"
        ) && problem.contains("take artifact \"blas\" \"lib\" in package `devel`"),
        "{problem}"
    );
}

#[test]
fn an_import_library_of_a_package_that_may_be_absent_is_luck() {
    let entries = "base_lib_generic bin/hip_7.dll dll hip_7.dll
                   blas_lib_generic bin/blas.dll dll blas.dll
                   base_dev_generic lib/blas.lib implib blas.dll";
    let problem = case(&[core(""), libs(""), devel()], entries).problem();
    assert!(
        problem.starts_with(
            "`lib/blas.lib` of x-devel finds `blas.dll` only if x-libs is installed too\n"
        ) && problem.contains("requires \"libs\" to package `devel`"),
        "{problem}"
    );
}

#[test]
fn an_import_library_of_a_dll_for_another_processor_is_an_error() {
    let entries = "base_lib_generic bin/a.dll dll a.dll
                   base_lib_generic bin/hip_7.dll dll hip_7.dll
                   base_dev_generic lib/hip.lib implib hip_7.dll machine=aarch64";
    assert!(case(&[core(""), devel()], entries).problem().starts_with(
        "`lib/hip.lib` of x-devel needs `hip_7.dll`, but `bin/hip_7.dll` of x-core is for another processor\n"
    ));
}

#[test]
fn an_import_library_that_is_cut_short_is_an_error() {
    let entries = "base_lib_generic bin/a.dll dll a.dll
                   base_dev_generic lib/hip.lib broken-implib";
    assert!(case(&[core(""), devel()], entries).problem().starts_with(
        "`lib/hip.lib` of artifact `base_dev_generic` has the signature of an import library, but is malformed: a member"
    ));
}

#[test]
fn a_dll_for_another_processor_does_not_serve_an_import() {
    let entries = "base_lib_generic bin/a.dll dll a.dll needs=b.dll
                   base_lib_generic bin/b.dll dll b.dll machine=aarch64";
    assert_eq!(
        case(&[core("")], entries).problem(),
        "`bin/a.dll` of x-core needs `b.dll`, but `bin/b.dll` of x-core is for another processor\n\x20 artifact \"base\" \"lib\" <- takes `bin/a.dll`\n\x20 help: exclude that file, or correct the build\n"
    );
}

/// A selector published for both systems assigns each extra to its system.
#[test]
fn both_systems_make_one_selector() {
    let core = |lines: &str| {
        core(&format!(
            "{lines}\nfind-library \"hip\" so=\"lib/libhip.so*\" on=\"linux\"\n\
             find-library \"hip\" dll=\"bin/hip*.dll\" on=\"windows\""
        ))
    };
    let meta = package(
        "meta",
        "selector",
        "\"x\" module=\"x\" per=\"none\"",
        "requires \"core\"\nextra \"tools\" package=\"tools\"\nextra \"libs\" package=\"libs\"",
    );
    let tools =
        runtime("tools", "artifact \"base\" \"lib\"\ninclude \"bin/tool*\"\nscript \"tool\"")
            .replace("kind=\"runtime\"", "kind=\"runtime\" on=\"linux\"");
    let device =
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"kernels\" \"lib\"");
    let packages =
        [core("exclude \"bin/tool*\" optional=\"some have none\""), tools, libs(""), device, meta];
    let linux = "base_lib_generic bin/tool exe
                 base_lib_generic lib/libhip.so.7 so libhip.so.7
                 base_lib_generic lib/a text
                 blas_lib_generic lib/b text
                 kernels_lib_gfx942 lib/c text
                 kernels_lib_gfx1100 lib/c text";
    let windows = linux
        .replace("bin/tool exe", "bin/a.dll dll a.dll")
        .replace("lib/libhip.so.7 so libhip.so.7", "bin/hip7.dll dll hip7.dll");
    let [on_linux, on_windows] = [linux, &windows].map(|entries| {
        let case = case(&packages, entries).linux(&["gfx942"]).windows(&["gfx1100"]);
        case.plan_and_warnings().0
    });
    let told = super::support::rendered(&on_windows, "x", "src/x/_dist_info.py");
    assert!(told.contains("\"x-tools==1.0; sys_platform == \\\"linux\\\"\""), "{told}");
    assert!(told.contains("\"x-libs==1.0\""), "{told}");
    assert!(told.contains("\"module\": \"x_tools\""), "{told}");
    let row = "\"linux\": \"lib/libhip.so*\",\n            \"optional\": False,\n            \"package\": \"core\",\n            \"windows\": \"bin/hip*.dll\"";
    assert!(told.contains(row), "each system's line says its pattern: {told}");
    // The files of a project have the same names for both systems: both builds must make the same
    // bytes, in either order of publishing.
    assert_eq!(
        serde_json::to_value(distribution(&on_linux, "x")).unwrap(),
        serde_json::to_value(distribution(&on_windows, "x")).unwrap()
    );
}

#[test]
fn paths_that_windows_does_not_open_are_errors() {
    let long = format!(
        "base_lib_generic include/{}/a.h text\nbase_lib_generic bin/a.dll dll a.dll",
        "x".repeat(170)
    );
    let problem = case(&[core("")], &long).problem();
    assert!(
        problem.starts_with("x-core installs `_x_core/include/xxx")
            && problem.contains(
                "has 190 characters: with a site-packages of 75, the limit of Windows is 259\n"
            ),
        "{problem}"
    );
    let linux = long.replace("bin/a.dll dll a.dll", "lib/liba.so.1 so liba.so.1");
    case(&[core("")], &linux).plan();
    let common = "common {\n    author \"A\"\n    requires-python \">=3.10\"\n    windows-paths longest=400\n}\n";
    let packages = [core(""), SYSTEM.to_owned()];
    Case::with_project(common, &packages, &long)
        .asking(|request| request.platform_tag = None)
        .plan();
}

#[test]
fn names_that_windows_keeps_for_itself_are_errors() {
    let entries = "base_lib_generic include/Aux.h text\nbase_lib_generic bin/a.dll dll a.dll";
    assert_eq!(
        case(&[core("")], entries).problem(),
        "x-core: invalid name on Windows: `_x_core/include/Aux.h` (`Aux.h` is a reserved device name)\n\x20 help: rename it in the build, or exclude it: Windows does not allow this name\n"
    );
}
