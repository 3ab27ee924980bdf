//! One owner for each installed path, among packages that can be installed together.

use super::support::{Case, distribution, files, package, runtime};

fn libs(artifact: &str) -> String {
    runtime("libs", &format!("artifact \"{artifact}\" \"lib\""))
}

fn device() -> String {
    super::support::device(
        "overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\"\nrpath \"libs\" \"lib\"",
    )
}

const OVERLAID: &str = "blas_lib_generic lib/libb.so.1 so libb.so.1
                        blas_lib_gfx942 lib/k_gfx942.co code
                        blas_lib_gfx942 lib/libp_gfx942.so so libp_gfx942.so
                        blas_lib_gfx1100 lib/k_gfx1100.co code";

#[test]
fn a_device_wheel_overlays_the_platform_directory_and_does_not_own_it() {
    let plan = Case::new(&[libs("blas"), device()], OVERLAID).plan();
    let paths: Vec<&str> =
        distribution(&plan, "x-device-gfx942").members.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "_x_libs/.x_device_gfx942",
            "_x_libs/lib/k_gfx942.co",
            "_x_libs/lib/libp_gfx942.so",
            "x_device_gfx942/__init__.py",
            "x_device_gfx942/_dist_info.py",
        ],
        "no __init__.py of _x_libs, and no list of links without a devel package"
    );
    assert_eq!(
        files(&plan, "x-device-gfx942")[1],
        "lib/libp_gfx942.so relink blas_lib_gfx942 $ORIGIN/../../_x_libs/lib"
    );
    assert_eq!(distribution(&plan, "x-device-gfx942").metadata.requires_dist, ["x-libs==1.0"]);
    assert_eq!(distribution(&plan, "x-device-gfx942").metadata.summary, "About device");
}

#[test]
fn an_overlay_that_ships_a_path_of_its_owner_names_both_rules() {
    let entries = format!(
        "{OVERLAID}\nblas_lib_generic share/db.txt text a\nblas_lib_gfx942 share/db.txt text b"
    );
    assert_eq!(
        Case::new(&[libs("blas"), device()], &entries).problem(),
        "x-libs and x-device-gfx942 both install `_x_libs/share/db.txt`\n\x20 artifact \"blas\" \"lib\" <- x-libs takes it from `blas_lib_generic`\n\x20 artifact \"blas\" \"lib\" <- x-device-gfx942 takes it from `blas_lib_gfx942`\n\x20 help: exclude it from one of the packages, or take the artifact in only one of them\n"
    );
}

#[test]
fn device_wheels_of_two_isas_must_not_ship_one_path() {
    let entries = format!(
        "{OVERLAID}\nblas_lib_gfx1100 share/db.txt text same\nblas_lib_gfx942 share/db.txt text same"
    );
    let problem = Case::new(&[libs("blas"), device()], &entries).problem();
    assert!(
        problem.starts_with(
            "x-device-gfx942 and x-device-gfx1100 both install `_x_libs/share/db.txt`\n"
        ),
        "{problem}"
    );
    assert!(
        problem.contains(
            "artifact \"blas\" \"lib\" <- x-device-gfx942 takes it from `blas_lib_gfx942`, and x-device-gfx1100 from `blas_lib_gfx1100`"
        ),
        "{problem}"
    );
}

#[test]
fn paths_that_differ_in_case_alone_clash() {
    let entries = format!(
        "{OVERLAID}\nblas_lib_gfx1100 share/DB.txt text a\nblas_lib_gfx942 share/db.txt text b"
    );
    let problem = Case::new(&[libs("blas"), device()], &entries).problem();
    assert!(
        problem.contains("`_x_libs/share/DB.txt`") && problem.contains("`_x_libs/share/db.txt`"),
        "{problem}"
    );
    assert!(problem.contains("differ only in case"), "{problem}");
}

/// A file of one package at the path of the other's directory.
#[test]
fn a_file_of_one_package_and_a_directory_of_another_clash() {
    let entries = format!(
        "{OVERLAID}\nblas_lib_generic share/db text a\nblas_lib_gfx942 share/db/gfx942.txt text b"
    );
    let problem = Case::new(&[libs("blas"), device()], &entries).problem();
    assert!(
        problem.starts_with(
            "x-libs installs `_x_libs/share/db` as a file or link, and x-device-gfx942 `_x_libs/share/db/gfx942.txt` below it"
        ),
        "{problem}"
    );
}

#[test]
fn a_file_and_a_directory_of_one_package_clash() {
    let packages = [runtime("libs", "artifact \"blas\" \"lib\"\nartifact \"more\" \"lib\"")];
    let problem = Case::new(
        &packages,
        "blas_lib_generic share/db text a\nmore_lib_generic share/db/x text b",
    )
    .problem();
    assert!(
        problem.contains("`_x_libs/share/db` as a file")
            && problem.contains("`_x_libs/share/db/x`"),
        "{problem}"
    );
    assert!(
        problem.contains("`blas_lib_generic`") && problem.contains("`more_lib_generic`"),
        "{problem}"
    );
}

/// An artifact must not supply the files that every package has.
#[test]
fn an_artifact_with_a_file_of_every_package_is_refused() {
    let problem = Case::new(&[libs("blas")], "blas_lib_generic __init__.py text a").problem();
    assert!(problem.starts_with("x-libs installs `_x_libs/__init__.py` twice\n"), "{problem}");
    assert!(problem.contains("artifact \"blas\" \"lib\" <- takes one from `blas_lib_generic`, and the other by rockpack"), "{problem}");
}

#[test]
fn packages_with_separate_directories_may_ship_the_same_path() {
    let core = "artifact \"blas\" \"lib\" repeats=\"both need it\"";
    let packages = [libs("blas"), runtime("core", core)];
    let plan = Case::new(&packages, "blas_lib_generic share/a text a").plan();
    assert_eq!(files(&plan, "x-core"), files(&plan, "x-libs"));
}

#[test]
fn a_reason_accepts_the_repeated_files_of_its_line_alone() {
    let core = "artifact \"blas\" \"run\" repeats=\"both need it\"\nartifact \"blas\" \"lib\"";
    let packages = [runtime("libs", "artifact \"blas\" \"lib\" \"run\""), runtime("core", core)];
    let entries = "blas_run_generic bin/a text a\nblas_lib_generic share/a text a";
    let problem = Case::new(&packages, entries).problem();
    assert!(problem.contains("both ship 1 file of artifact `blas` (10 B)"), "{problem}");
    assert!(problem.contains("<- `_x_core/share/a`"), "{problem}");
}

#[test]
fn packages_for_two_families_are_never_installed_together() {
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
    let entries = "blas_lib_gfx110X-all share/a text a\nblas_lib_gfx94X-dcgpu share/a text b";
    let plan = Case::new(&[libs, devel], entries).legacy().plan();
    assert_eq!(plan.distributions.len(), 4);
}
