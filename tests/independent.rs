//! Independent implementation of the packaging rules in Python, applied to built packages.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

fn run(command: &mut Command) -> String {
    let output = command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3, 3.10 or newer, is needed for this test");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command:?}:\n{said}");
    said
}

fn agrees(kpack: bool, packages: usize, flags: &[&str]) {
    let dir = TempDir::new().unwrap();
    let (artifacts, out) = (dir.path().join("artifacts"), dir.path().join("out"));
    crate::demo_tree::make(&artifacts, kpack);
    let mut build = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    run(build
        .arg("build")
        .arg("--artifact-dir")
        .arg(&artifacts)
        .arg("-o")
        .arg(&out)
        .args(flags)
        .current_dir(dir.path()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/check_paths.py");
    let mut check = Command::new("python3");
    let said = run(check
        .arg(script)
        .arg("--artifacts")
        .arg(&artifacts)
        .arg("--dist")
        .arg(out.join("dist")));
    assert_eq!(said.lines().count(), packages, "one line for each package:\n{said}");
}

#[test]
fn kpack_packages_agree_with_an_independent_reading() {
    agrees(true, 7, &["--xz-preset", "6"]);
}

#[test]
fn legacy_packages_agree_with_an_independent_reading() {
    agrees(false, 6, &["--compression", "store"]);
}

#[test]
fn python_checkers_pass_their_tests() {
    for directory in ["harness", "independent", "differential", "browser"] {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
        let mut command = Command::new("python3");
        command.args(["-m", "unittest", "discover", "-s"]).arg(&tests).arg("-t").arg(&tests);
        let report = run(&mut command);
        assert!(!report.contains("Ran 0 tests"), "{directory}: {report}");
    }
}
