//! `rockpack explain` as used by people and scripts.

use std::path::Path;
use std::process::Output;

use crate::program::{self, text};

/// Catalog of a real tree, committed in the repository.
const CATALOG: &str = "golden/kpack-small.catalog.json.xz";

fn explain(args: &[&str]) -> Output {
    let args = [&["explain"], args, &["--catalog", CATALOG]].concat();
    program::rockpack(Path::new(env!("CARGO_MANIFEST_DIR")), &args)
}

#[test]
fn a_real_library_in_both_modes() {
    let output = explain(&["lib/libhipblas.so.3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    let needles = [
        "in blas_lib_generic: link to libhipblas.so.3.2",
        "kpack mode\n  rocm-sdk-libraries\n",
        "artifact \"blas\" \"lib\"",
        "_rocm_sdk_libraries/lib/libhipblas.so.3  relink",
        "SONAME libhipblas.so.3",
        "libc.so.6 of the system",
        "legacy mode, with --mode legacy",
        "_rocm_sdk_libraries_gfx942/lib/libhipblas.so.3",
    ];
    for needle in needles {
        assert!(stdout.contains(needle), "{needle:?} is not in:\n{stdout}");
    }
    assert!(stdout.lines().count() < 50, "it fits a screen:\n{stdout}");
    let verbose = text(&explain(&["lib/libhipblas.so.3", "-v"]).stdout);
    assert!(
        verbose.lines().count() > stdout.lines().count() && verbose.contains("found as hipblas"),
        "{verbose}"
    );
    assert_eq!(text(&explain(&["_rocm_sdk_libraries/lib/libhipblas.so.3"]).stdout), stdout);
}

#[test]
fn json_has_it_all() {
    let output = explain(&["lib/libhipblas.so.3", "--json", "--mode", "kpack"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["modes"].as_array().unwrap().len(), 1);
    let libraries = json["modes"][0]["distributions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|d| d["name"] == "rocm-sdk-libraries")
        .unwrap();
    assert_eq!(libraries["lands"][0]["step"], "relink");
    assert_eq!(libraries["lands"][0]["elf"]["soname"], "libhipblas.so.3");
    assert!(
        libraries["lands"][0]["needs"]
            .as_array()
            .unwrap()
            .iter()
            .any(|n| n["library"] == "libc.so.6" && n["resolved"] == "system")
    );
    let list: serde_json::Value =
        serde_json::from_slice(&explain(&["lib/libhipblas*", "--json"]).stdout).unwrap();
    assert_eq!((&json["format"], &list["format"]), (&1.into(), &1.into()));
    assert!(list["matches"].as_array().unwrap().iter().any(|m| m["path"] == "lib/libhipblas.so.3"));
}

#[test]
fn a_glob_of_file_names_is_corrected() {
    for (glob, status) in [("*.kpack", 0), ("*_gfx942.kpack", 1)] {
        let output = explain(&[glob]);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stdout));
        let messages = program::stderr(&output);
        let proposed = format!("`**/{glob}` matches ");
        assert!(
            messages.contains("at any depth, such as `") && messages.contains(&proposed),
            "{messages}"
        );
    }
    let deep = explain(&["**/*_gfx942.kpack"]);
    assert!(text(&deep.stdout).contains(".kpack/"), "{}", text(&deep.stdout));
    assert!(!program::stderr(&deep).contains("at any depth"), "{}", program::stderr(&deep));
}

#[test]
fn a_glob_lists_its_matches() {
    let stdout = text(&explain(&["lib/libhipblas.so*"]).stdout);
    assert!(
        stdout.contains(
            "lib/libhipblas.so.3    rocm-sdk-libraries (relink), rocm-sdk-devel (link)\n"
        ),
        "{stdout}"
    );
    assert!(stdout.ends_with("3 paths\n"), "{stdout}");
}

#[test]
fn an_unknown_path_offers_near_ones() {
    let output = explain(&["libhipblas.so.3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("`libhipblas.so.3`") && stderr.contains("lib/libhipblas.so.3"),
        "{stderr}"
    );
    assert_eq!(explain(&["lib/*.nothing"]).status.code(), Some(1));
    assert_eq!(explain(&["../lib"]).status.code(), Some(2));
    assert_eq!(explain(&["lib", "--version", "x"]).status.code(), Some(2));
}
