//! Tests of the packages' Python sources (`tests/runtime/`).
//!
//! They need Python 3.10 or newer as `python3`, and use a C compiler, CMake, shells, pip, uv, mypy,
//! ruff and the right to mount if available; skipped tests are listed after all tests. `PYTHON`
//! names another interpreter.

use std::path::{Path, PathBuf};
use std::process::Command;

use binary::elf::forward::forwarding_library;
use binary::elf::stub::StubMachine;
use tempfile::TempDir;

use crate::program;
use workbench::skips::skip;

const MINIMUM: &str = "3.10";

/// Returns the interpreter; fails with a remedy if none is new enough.
fn python() -> String {
    let name = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = "import sys; sys.exit(sys.version_info < (3, 10))";
    let found = Command::new(&name).args(["-c", probe]).status();
    assert!(
        found.is_ok_and(|status| status.success()),
        "these tests need Python {MINIMUM} or newer, and {name} is not: install it, or set PYTHON"
    );
    name
}

/// Runs test modules, with warnings as errors; prints the report of a failed one, and records
/// skipped tests.
fn run(modules: &[&str]) {
    run_with(modules, None);
}

/// Runs test modules with a variable for the packages' directory.
fn run_with(modules: &[&str], built: Option<(&str, PathBuf)>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime");
    let mut command = Command::new(python());
    command
        .args(["-B", "-W", "error", "-m", "unittest", "-v"])
        .args(modules)
        .current_dir(directory);
    let output = command.envs(built).output().expect("Python starts");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    assert!(!report.contains("Ran 0 tests"), "{report}");
    for reason in report.lines().filter_map(skipped) {
        skip(&modules.join(", "), reason);
    }
}

/// Returns the reason in a line of a report: `… skipped 'reason'`.
fn skipped(line: &str) -> Option<&str> {
    let (before, reason) = line.split_once("skipped ")?;
    let ended = before.is_empty() || before.ends_with("... ");
    let quotes = ['\'', '"'];
    ended.then(|| reason.trim_matches(quotes)).filter(|_| reason.starts_with(quotes))
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn the_runtime_passes_its_tests() {
    run(&[
        "test_targets",
        "test_libraries",
        "test_find",
        "test_names",
        "test_launch",
        "test_selftest",
    ]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn the_doctor_finds_each_fault() {
    run(&["test_doctor", "test_doctor_files", "test_doctor_hostile", "test_loader", "test_dlls"]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn shells_and_cmake_find_the_packages() {
    run(&["test_env", "test_extension", "test_framework"]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn windows_passes_its_tests() {
    run(&["test_windows"]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn the_devel_tree_is_whole_or_absent() {
    run(&["test_devel"]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn init_survives_kills_full_disks_and_odd_file_systems() {
    run(&["test_init"]);
}

#[test]
fn the_sources_are_typed() {
    run(&["test_types"]);
}

#[test]
fn installers_read_packages_of_the_backend() {
    run(&["test_build"]);
}

#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn installers_install_and_leave_nothing() {
    run(&["test_install"]);
}

/// With packages built by rockpack, not by the tests.
#[test]
fn real_packages_work_once_installed() {
    let dir = TempDir::new().unwrap();
    let (artifacts, out) = (dir.path().join("artifacts"), dir.path().join("out"));
    let program =
        ["/usr/bin/true", "/bin/true"].iter().find_map(|path| fs_err::read(path).ok()).unwrap();
    catalog::demo::make(&artifacts, true, &program).unwrap();
    let build = ["build", "--artifact-dir", "artifacts", "-o", "out"];
    program::succeed(dir.path(), &[&build[..], &["--platform-tag", "linux_x86_64"]].concat());
    run_with(&["test_packages"], Some(("ROCKPACK_DIST", out.join("dist"))));
}

/// Product with a separate module, command and devel package.
const OTHER: &str = r#"
common {
    author "The Other Project"
    requires-python ">=3.10"
}
package "meta" kind="selector" {
    distribution "other" module="other_sdk" per="none"
    summary "Selects the packages of another product"
    license "MIT"
    template "meta"
    script "other-sdk" function="__main__:main"
    requires "core"
    extra "devel" package="devel"
}
package "core" kind="runtime" {
    distribution "other-sdk-core" module="other_sdk_core" per="none"
    summary "Libraries of another product"
    license "MIT"
    template "runtime"
    artifact "example" "lib"
    find-library "o"
    rpath "core" "lib"
    python-path "core" "share/o"
}
package "devel" kind="devel" {
    distribution "other-sdk-devel" module="other_sdk_devel" per="none"
    summary "Headers of another product"
    license "MIT"
    template "runtime"
    artifacts-of "core"
}
system-library "libc.so.6"
"#;

/// The unchanged starter of `rockpack init --minimal`, and a product in addition to ROCm.
#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn selectors_of_other_products_are_installed_and_uninstalled() {
    let dir = TempDir::new().unwrap();
    let file = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    };
    let library =
        forwarding_library(StubMachine::X86_64, "libo.so.1", "libc.so.6", "$ORIGIN").unwrap();
    for product in ["starter", "other"] {
        file(&format!("{product}-tree/example_lib_generic/artifact_manifest.txt"), b"stage\n");
        file(&format!("{product}-tree/example_lib_generic/stage/lib/libo.so.1"), &library);
    }
    file("other-tree/example_lib_generic/stage/share/o/o_bindings.py", b"NAME = 'o'\n");
    file("other-tree/example_dev_generic/artifact_manifest.txt", b"stage\n");
    file("other-tree/example_dev_generic/stage/include/o.h", b"// o\n");
    program::succeed(dir.path(), &["init", "--minimal", "starter-manifest"]);
    program::succeed(dir.path(), &["init", "--minimal", "other-manifest"]);
    fs_err::write(dir.path().join("other-manifest/packages.kdl"), OTHER).unwrap();
    let tag = ["--platform-tag", "linux_x86_64", "--version", "1.0", "--no-cache"];
    for product in ["starter", "other"] {
        let (manifest, tree) = (format!("{product}-manifest"), format!("{product}-tree"));
        let build = ["build", "--artifact-dir", &tree, "-o", product, "--manifest"];
        program::succeed(dir.path(), &[&build[..], &[&manifest], &tag].concat());
        let verify = ["wheel", "verify", product, "--manifest", &manifest];
        program::succeed(dir.path(), &verify);
    }
    run_with(&["test_starter"], Some(("ROCKPACK_STARTERS", dir.path().to_owned())));
}
