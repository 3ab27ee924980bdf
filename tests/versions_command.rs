//! `rockpack help versions`: text, JSON and CI's outputs; sources of version, date and commit.

use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;
use tempfile::TempDir;

use crate::program::text;

const FILE: &str = r#"{"rocm-version": "10.1.0", "release-metadata": {"base-date": "20260811"}}"#;

fn version(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command
        .args(["help", "versions"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CEILING_DIRECTORIES", "/");
    for name in ["GITHUB_SHA", "GITHUB_OUTPUT", "SOURCE_DATE_EPOCH"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().unwrap()
}

fn scratch() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("version.json"), FILE).unwrap();
    dir
}

#[test]
fn a_nightly_has_a_version_for_each_kind_of_package() {
    let dir = scratch();
    // 2026-08-13, a second before midnight in UTC.
    let variables =
        [("SOURCE_DATE_EPOCH", "1786665599"), ("GITHUB_OUTPUT", "outputs"), ("TZ", "Asia/Tokyo")];
    let output =
        version(dir.path(), &["--release-type", "nightly-bkc", "--github-output"], &variables);
    assert_eq!(
        text(&output.stdout),
        "wheel       10.1.0a20260811+bkc.20260813\ndeb         10.1.0~20260811.bkc.20260813\nrpm         10.1.0~20260811.bkc.20260813\nframeworks  +rocm10.1.0a20260811-bkc.20260813\n"
    );
    assert!(text(&output.stderr).contains("also matches"), "{}", text(&output.stderr));
    let outputs = fs::read_to_string(dir.path().join("outputs")).unwrap();
    assert!(
        outputs.starts_with("rocm_package_version=10.1.0a20260811+bkc.20260813\n"),
        "{outputs}"
    );
    let json = version(dir.path(), &["--release-type", "release", "--json"], &variables);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rocm_deb_package_version"], "10.1.0");
}

#[test]
fn takes_the_commit_from_the_option_or_from_ci() {
    let dir = scratch();
    let (of_option, of_ci) = ("a".repeat(40), "f".repeat(40));
    let variables = [("GITHUB_SHA", of_ci.as_str())];
    let wheel = |args: &[&str], variables: &[(&str, &str)]| {
        let args = [&["--release-type", "dev", "--override-base-version", "7.99.0"], args].concat();
        let output = version(dir.path(), &args, variables);
        text(&output.stdout).lines().next().map_or_else(|| text(&output.stderr), str::to_owned)
    };
    assert_eq!(
        wheel(&["--sha", &of_option], &variables),
        format!("wheel       7.99.0.dev0+{of_option}")
    );
    assert_eq!(wheel(&[], &variables), format!("wheel       7.99.0.dev0+{of_ci}"));
    assert!(wheel(&[], &[]).contains("contains its commit"), "{}", wheel(&[], &[]));
}

#[test]
fn refuses_incomplete_and_contradictory_options() {
    let dir = scratch();
    let cases: [(&[&str], &str); 8] = [
        (&[], "--release-type"),
        (&["--release-type", "nightyl"], "nightly"),
        (&["--release-type", "prerelease"], "--prerelease-version"),
        (&["--release-type", "nightly", "--prerelease-version", "1"], "only for prereleases"),
        (&["--release-type", "release", "--version-suffix", "x"], "cannot be used with"),
        (&["--release-type", "nightly", "--date", "20260230"], "valid date in YYYYMMDD format"),
        (&["absent.json", "--release-type", "release"], "--override-base-version"),
        (&["--release-type", "release", "--github-output"], "GITHUB_OUTPUT names no file"),
    ];
    for (args, part) in cases {
        let output = version(dir.path(), args, &[]);
        let stderr = text(&output.stderr);
        assert!(!output.status.success() && stderr.contains(part), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    fs::write(dir.path().join("version.json"), "{\n7}").unwrap();
    let output = version(dir.path(), &["--release-type", "release"], &[]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("version.json: ") && stderr.contains("line 2"), "{stderr}");
}
