//! Runs the tests of the Python sources that go into the packages (`tests/runtime/`).
//!
//! They need Python 3.10 or newer as `python3`, and test with pip and uv where these
//! are installed. `PYTHON` names another interpreter.

use std::{path::Path, process::Command};

const MINIMUM: &str = "3.10";

/// The interpreter to use; fails with what to do when there is none that is new enough.
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

/// Runs test modules, with warnings as errors, and shows their report when one fails.
fn run(modules: &[&str]) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime");
    let output = Command::new(python())
        .args(["-B", "-W", "error", "-m", "unittest"])
        .args(modules)
        .current_dir(directory)
        .output()
        .expect("Python starts");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}");
    assert!(!report.contains("Ran 0 tests"), "{report}");
}

#[test]
fn the_runtime_does_what_it_says() {
    run(&["test_targets", "test_libraries", "test_launch", "test_selftest"]);
}

#[test]
fn the_devel_tree_is_whole_or_absent() {
    run(&["test_devel"]);
}

#[test]
fn the_backend_builds_what_installers_read() {
    run(&["test_build"]);
}

#[test]
fn installers_install_and_leave_nothing() {
    run(&["test_install"]);
}
