//! Unversioned names of libraries that programs open.

use super::support::{Case, absent, archived, devel, files, runtime};

const ENTRIES: &str = "base_lib_generic lib/libx.so.1.0 so libx.so.1
                       base_lib_generic lib/libx.so.1 link libx.so.1.0
                       base_lib_generic lib/libx.so link libx.so.1";

fn core(line: &str) -> String {
    runtime("core", &format!("artifact \"base\" \"lib\"\n{line}"))
}

#[test]
fn a_forwarding_library_is_in_the_wheel_and_a_link_in_devel() {
    let plan = Case::new(
        &[core("alias \"lib/libx.so\" as=\"forward\""), devel("artifacts-of \"core\"")],
        ENTRIES,
    )
    .plan();
    assert_eq!(
        files(&plan, "x-core"),
        [
            "lib/libx.so alias libx.so needs libx.so.1 in $ORIGIN",
            "lib/libx.so.1 copy base_lib_generic:lib/libx.so.1.0"
        ]
    );
    assert!(
        archived(&plan, "x-devel").contains(&"lib/libx.so -> libx.so.1".to_owned()),
        "linkers take symbols from the library itself"
    );
    assert_eq!(
        absent(&plan, "x-core").len(),
        1,
        "only the name without an `alias` line: {:?}",
        absent(&plan, "x-core")
    );
}

#[test]
fn a_copy_has_the_content_of_the_library() {
    let plan = Case::new(&[core("alias \"lib/libx.so\" as=\"copy\"")], ENTRIES).plan();
    assert_eq!(files(&plan, "x-core")[0], "lib/libx.so copy base_lib_generic:lib/libx.so.1.0");
}

#[test]
fn a_library_without_soname_is_copied_instead_of_forwarded() {
    let entries = "base_lib_generic lib/libx-1.so so -
                   base_lib_generic lib/libx.so link libx-1.so";
    let plan = Case::new(&[core("alias \"lib/libx.so\" as=\"forward\"")], entries).plan();
    assert_eq!(
        files(&plan, "x-core"),
        ["lib/libx-1.so copy base_lib_generic", "lib/libx.so copy base_lib_generic:lib/libx-1.so"]
    );
}

#[test]
fn an_alias_at_the_path_of_a_library_changes_nothing() {
    let plan = Case::new(
        &[core("alias \"lib/libx.so\" as=\"forward\"")],
        "base_lib_generic lib/libx.so so libx.so",
    )
    .plan();
    assert_eq!(files(&plan, "x-core"), ["lib/libx.so copy base_lib_generic"]);
}

#[test]
fn an_alias_searches_the_directory_of_its_link_target() {
    let entries = "base_lib_generic lib/deep/libx.so.1 so libx.so.1
                   base_lib_generic lib/libx.so link deep/libx.so.1";
    let plan = Case::new(
        &[core("alias \"lib/libx.so\" as=\"forward\""), devel("artifacts-of \"core\"")],
        entries,
    )
    .plan();
    assert_eq!(
        files(&plan, "x-core")[1],
        "lib/libx.so alias libx.so needs libx.so.1 in $ORIGIN/deep"
    );
    assert_eq!(archived(&plan, "x-devel")[1], "lib/libx.so -> deep/libx.so.1");
}

#[test]
fn an_alias_searches_through_a_directory_link() {
    let entries = "base_lib_generic lib/llvm/lib/libx.so.1 so libx.so.1
                   base_lib_generic llvm link lib/llvm
                   base_lib_generic lib/libx.so link ../llvm/lib/libx.so.1";
    let plan = Case::new(&[core("alias \"lib/libx.so\" as=\"forward\"")], entries).plan();
    assert_eq!(
        files(&plan, "x-core")[0],
        "lib/libx.so alias libx.so needs libx.so.1 in $ORIGIN/llvm/lib"
    );
}

/// The library is in the wheel of another package, so the alias must search there.
#[test]
fn an_alias_searches_the_package_of_its_library() {
    let core = |requires: &str| {
        runtime(
            "core",
            &format!("artifact \"base\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"\n{requires}"),
        )
    };
    let packages = |requires: &str| [runtime("libs", "artifact \"blas\" \"lib\""), core(requires)];
    let entries = "blas_lib_generic lib/libx.so.1 so libx.so.1
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic lib/a text a";
    assert_eq!(
        files(&Case::new(&packages("requires \"libs\""), entries).plan(), "x-core")[1],
        "lib/libx.so alias libx.so needs libx.so.1 in $ORIGIN/../../_x_libs/lib"
    );
    let (_, warnings) = Case::new(&packages(""), entries).plan_and_warnings();
    assert!(
        warnings[0].starts_with(
            "`lib/libx.so` of x-core finds `libx.so.1` only if x-libs is installed too\n"
        ),
        "{warnings:?}"
    );
}

#[test]
fn an_alias_of_a_library_that_no_wheel_ships_is_refused() {
    let packages = [core("alias \"lib/libx.so\" as=\"forward\"")];
    let entries = "blas_dev_generic lib/libx.so.1 so libx.so.1
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic lib/a text a";
    let problem = Case::new(&packages, entries).problem();
    assert!(
        problem.contains("`lib/libx.so.1`") && problem.contains("no runtime package"),
        "{problem}"
    );
    assert!(problem.contains("alias \"lib/libx.so\" as=\"forward\" <- "), "{problem}");
}

#[test]
fn an_alias_without_link_is_an_error_with_a_hint_unless_optional() {
    let problem = Case::new(&[core("alias \"lib/liby.so\" as=\"forward\"")], ENTRIES).problem();
    assert_eq!(
        problem,
        "package `core` has no library under `lib/liby.so`\n  alias \"lib/liby.so\" as=\"forward\" <- no library link at this path; did you mean `lib/libx.so`?\n  help: correct the path, remove the line, or give a reason: optional=\"…\"\n"
    );
    let plan =
        Case::new(&[core("alias \"lib/liby.so\" as=\"forward\" optional=\"not always\"")], ENTRIES)
            .plan();
    assert_eq!(files(&plan, "x-core").len(), 1);
}

/// Unversioned links are often in another component than the library.
#[test]
fn an_alias_in_an_excluded_component_points_to_the_artifact_line() {
    let entries = "base_lib_generic lib/libx.so.1 so libx.so.1
                   base_dev_generic lib/libx.so link libx.so.1";
    let problem = Case::new(&[core("alias \"lib/libx.so\" as=\"forward\"")], entries).problem();
    assert!(
        problem.contains("artifact \"base\" \"lib\" <- this line does not take it"),
        "{problem}"
    );
}
