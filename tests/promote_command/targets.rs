//! `--keep-targets` removes other targets, with the result of a build without them.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;

use super::{build, contents, equals_new, promote, scratch, stderr};
use crate::program::Run;

/// Targets of all packages in tests with five targets.
const ALL: &str = "gfx942,gfx1100,gfx1101,gfx1201,gfx1030";

/// Promotes the packages of `from`, without other targets than these.
fn keep(dir: &Path, from: &str, to: &str, kept: &str) -> Command {
    let mut command = promote(dir, from, to);
    // Targets added by tests have the code of another target.
    command.args(["--keep-targets", kept, "--allow", "misplaced-code"]);
    command
}

fn linux(targets: &str) -> [&str; 2] {
    ["--linux-amdgpu-families", targets]
}

fn linux_and_windows<'t>(linux: &'t str, windows: &'t str) -> [&'t str; 4] {
    ["--linux-amdgpu-families", linux, "--windows-amdgpu-families", windows]
}

/// Checks that packages without other targets are those of a build of these targets.
#[track_caller]
fn as_if_built(dir: &Path, from: &str, to: &str, kept: &str, targets: &[&str]) -> String {
    build(dir, "new", to, targets);
    let text = keep(dir, from, to, kept).succeed();
    equals_new(dir, kept);
    text
}

/// Adds a third target: the artifacts of another under its name.
fn add_target(artifacts: &Path, from: &str, to: &str) {
    let files: Vec<_> = walkdir::WalkDir::new(artifacts)
        .into_iter()
        .map(Result::unwrap)
        .filter(|e| {
            // A library keeps its SONAME, which another package needs.
            e.file_type().is_file()
                && e.path().extension().is_none_or(|ending| ending != "so")
                && e.path()
                    .components()
                    .any(|c| c.as_os_str().to_string_lossy().ends_with(&format!("_{from}")))
        })
        .collect();
    for file in files {
        let below = file.path().strip_prefix(artifacts).unwrap().to_str().unwrap();
        let copy = artifacts.join(below.replace(from, to));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file.path(), copy).unwrap();
    }
}

#[test]
fn a_selector_is_as_if_no_other_target_was_built() {
    let dir = scratch(true);
    let dir = dir.path();
    add_target(&dir.join("artifacts"), "gfx1100", "gfx1101");
    add_target(&dir.join("artifacts"), "gfx1100", "gfx1201");
    add_target(&dir.join("artifacts"), "gfx1100", "gfx1030");
    build(dir, "old", "7.10.0rc1", &linux(ALL));
    let systems = linux_and_windows("gfx942,gfx1030,gfx1101,gfx1201", "gfx942,gfx1101,gfx1100");
    build(dir, "two", "7.10.0rc1", &systems);
    // With the default target, without it, and in another order.
    for kept in ["gfx942,gfx1101", "gfx1100;gfx1101", "gfx1201,gfx1101,gfx1030,gfx1100"] {
        as_if_built(dir, "old", "7.10.0", kept, &linux(kept));
    }
    // Targets of two systems: common ones are first.
    let both = linux_and_windows("gfx1030,gfx1101", "gfx1101,gfx1100");
    as_if_built(dir, "two", "7.10.0", "gfx1030,gfx1100,gfx1101", &both);
    // Only targets are removed: the version may stay.
    as_if_built(dir, "old", "7.10.0rc1", "gfx942,gfx1201", &linux("gfx942,gfx1201"));
}

#[test]
fn packages_of_one_target_do_not_change() {
    let dir = scratch(false);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &[]);
    promote(dir, "old", "7.10.0").succeed();
    let all = contents(&dir.join("out"));
    let family = all.keys().find_map(|file| {
        file.parent()?
            .strip_prefix("dist")
            .ok()?
            .to_str()
            .filter(|f| !f.is_empty())
            .map(str::to_owned)
    });
    let family = family.unwrap();
    fs::remove_dir_all(dir.join("out")).unwrap();
    promote(dir, "old", "7.10.0").args(["--keep-targets", &family]).succeed();
    let one = contents(&dir.join("out"));
    let packages = one.iter().filter(|(file, _)| !file.ends_with("SHA256SUMS"));
    assert!(packages.clone().all(|(file, hash)| all.get(file) == Some(hash)));
    let folded = family.to_lowercase().replace('-', "_");
    let of_others =
        |file: &str| file.contains("gfx") && !file.contains(&family) && !file.contains(&folded);
    assert!(packages.clone().all(|(file, _)| !of_others(file.to_str().unwrap())), "{one:?}");
    assert!(packages.count() < all.len() - 1);
}

#[test]
fn targets_without_packages_are_reported() {
    let dir = scratch(true);
    build(dir.path(), "old", "7.10.0rc1", &[]);
    for (kept, message) in [
        ("gfx9999", "unknown target `gfx9999`: neither families.kdl nor a package has it"),
        ("gfx1100,gfx943", "did you mean `gfx942`?"),
        (
            "gfx1201,gfx1030",
            "no package is for a target to keep (gfx1030, gfx1201) help: the targets are gfx1100, gfx942",
        ),
    ] {
        let messages = keep(dir.path(), "old", "7.10.0", kept).fail(1);
        assert!(messages.contains(message), "{messages}");
        assert!(!dir.path().join("out").exists());
    }
    let output = keep(dir.path(), "old", "7.10.0", "gfx1201,gfx942").output().unwrap();
    assert!(
        output.status.success() && stderr(&output).contains("no package for the target `gfx1201`")
    );
    // One target is kept: names used by people stay valid.
    let text = keep(dir.path(), "old", "7.10.0", "gfx1100").arg("--dry-run").succeed();
    assert!(text.contains("default_target: gfx942 → gfx1100"), "{text}");
    assert!(
        text.contains("extras.device-all: rocm-sdk-device-gfx942==7.10.0rc1 removed"),
        "{text}"
    );
    assert!(
        text.contains("extras.device-gfx1100: rocm-sdk-device-gfx1100==7.10.0rc1 → "),
        "{text}"
    );
}

/// Returns a manifest with a package that selects a GPU's code and requires the code of every GPU.
fn choice_of_all(dir: &Path, more: &str) {
    fs::write(dir.join("families.kdl"), "include \"built-in\"\n").unwrap();
    let packages = format!(
        "include \"built-in\"\nchange \"package\" \"gpu\" {{\n    requires \"device\" offer=\"all\"\n{more}\n}}\n"
    );
    fs::write(dir.join("packages.kdl"), packages).unwrap();
}

#[test]
fn a_choice_of_all_targets_is_as_if_no_other_was_built() {
    let dir = scratch(true);
    let dir = dir.path();
    add_target(&dir.join("artifacts"), "gfx1100", "gfx1101");
    let variant = "variant \"{isa}\" package=\"device\" namespace=\"amd\" feature=\"gfx_arch\" \
                   provider=\"rocm-bootstrap>=0.3.0\" plugin=\"rocm_bootstrap.p:P\"";
    for more in ["", variant, "    requires-dist \"numpy>=2\""] {
        choice_of_all(dir, more);
        build(dir, "old", "7.10.0rc1", &linux("gfx942,gfx1100,gfx1101"));
        for kept in ["gfx942,gfx1101", "gfx1100"] {
            let text = as_if_built(dir, "old", "7.10.0", kept, &linux(kept));
            assert!(text.contains("rocm_sdk_device-7.10.0"), "{more}: {text}");
        }
    }
    choice_of_all(dir, variant);
    let systems = linux_and_windows("gfx942,gfx1101", "gfx1101,gfx1100");
    build(dir, "old", "7.10.0rc1", &systems);
    let both = linux_and_windows("gfx942", "gfx1100");
    as_if_built(dir, "old", "7.10.0", "gfx942,gfx1100", &both);
}

/// The packages of a target require the packages of the levels above it, which the user need not
/// name.
#[test]
fn a_level_stays_with_a_target_below_it() {
    let dir = scratch(true);
    let dir = dir.path();
    add_target(&dir.join("artifacts"), "gfx1100", "gfx11");
    build(dir, "old", "7.10.0rc1", &linux("gfx942,gfx1100"));
    for (kept, has_level) in [("gfx1100", true), ("gfx942", false)] {
        as_if_built(dir, "old", "7.10.0", kept, &linux(kept));
        let promoted = contents(&dir.join("out"));
        let of_level = |path: &PathBuf| path.to_string_lossy().contains("device_gfx11-");
        assert_eq!(promoted.keys().any(of_level), has_level, "{kept}: {promoted:?}");
    }
}

/// A selector for an additional index is promoted like the others.
#[test]
fn a_selector_that_requires_all_targets_is_as_if_no_other_was_built() {
    let dir = crate::index::second::built("");
    let dir = dir.path();
    add_target(&dir.join("artifacts"), "gfx1100", "gfx1101");
    fs::remove_dir_all(dir.join("out")).unwrap();
    build(dir, "old", "7.10.0rc1", &linux("gfx942,gfx1100,gfx1101"));
    for kept in ["gfx942,gfx1101", "gfx1100", "gfx942,gfx1100,gfx1101"] {
        as_if_built(dir, "old", "7.10.0", kept, &linux(kept));
        let promoted = contents(&dir.join("out"));
        assert!(promoted.contains_key(Path::new("dist/whl/rocm-7.10.0.tar.gz")), "{promoted:?}");
    }
}
