//! `--keep-targets` removes other targets, with the result of a build without them.

use std::path::{Path, PathBuf};

use fs_err as fs;

use super::{build, contents, done, rockpack, said, scratch};

/// Targets added by tests have the code of another target.
const ALLOW: [&str; 2] = ["--allow", "misplaced-code"];

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
    let all = "gfx942,gfx1100,gfx1101,gfx1201,gfx1030";
    build(dir, "old", "7.10.0rc1", &["--linux-amdgpu-families", all]);
    // With the default target, without it, and in another order.
    for kept in ["gfx942,gfx1101", "gfx1100;gfx1101", "gfx1201,gfx1101,gfx1030,gfx1100"] {
        build(dir, "new", "7.10.0", &["--linux-amdgpu-families", kept]);
        done(
            dir,
            &[
                "wheel",
                "promote",
                "old",
                "--to",
                "7.10.0",
                ALLOW[0],
                ALLOW[1],
                "--keep-targets",
                kept,
                "-o",
                "out",
            ],
        );
        assert_eq!(contents(&dir.join("out")), contents(&dir.join("new")), "{kept}");
    }
    // Targets of two systems: common ones are first.
    let both =
        |linux, windows| ["--linux-amdgpu-families", linux, "--windows-amdgpu-families", windows];
    build(
        dir,
        "two",
        "7.10.0rc1",
        &both("gfx942,gfx1030,gfx1101,gfx1201", "gfx942,gfx1101,gfx1100"),
    );
    build(dir, "new", "7.10.0", &both("gfx1030,gfx1101", "gfx1101,gfx1100"));
    let kept = "gfx1030,gfx1100,gfx1101";
    done(
        dir,
        &[
            "wheel",
            "promote",
            "two",
            "--to",
            "7.10.0",
            ALLOW[0],
            ALLOW[1],
            "--keep-targets",
            kept,
            "-o",
            "out",
        ],
    );
    assert_eq!(contents(&dir.join("out")), contents(&dir.join("new")), "of two systems");
    // Only targets are removed: the version may stay.
    build(dir, "new", "7.10.0rc1", &["--linux-amdgpu-families", "gfx942,gfx1201"]);
    done(
        dir,
        &[
            &[
                "wheel",
                "promote",
                "old",
                "--to",
                "7.10.0rc1",
                "--keep-targets",
                "gfx942,gfx1201",
                "-o",
                "out",
            ][..],
            &ALLOW,
        ]
        .concat(),
    );
    assert_eq!(contents(&dir.join("out")), contents(&dir.join("new")));
}

#[test]
fn packages_of_one_target_do_not_change() {
    let dir = scratch(false);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &[]);
    done(dir, &["wheel", "promote", "old", "--to", "7.10.0", "-o", "all"]);
    let all = contents(&dir.join("all"));
    let family = all.keys().find_map(|file| {
        file.parent()?
            .strip_prefix("dist")
            .ok()?
            .to_str()
            .filter(|f| !f.is_empty())
            .map(str::to_owned)
    });
    let family = family.unwrap();
    done(
        dir,
        &["wheel", "promote", "old", "--to", "7.10.0", "--keep-targets", &family, "-o", "one"],
    );
    let one = contents(&dir.join("one"));
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
    let promote = |kept: &str| {
        rockpack(
            dir.path(),
            &[
                "wheel",
                "promote",
                "old",
                "--to",
                "7.10.0",
                "-o",
                "out",
                "--keep-targets",
                kept,
                ALLOW[0],
                ALLOW[1],
            ],
        )
    };
    for (kept, message) in [
        ("gfx9999", "unknown target `gfx9999`: neither families.kdl nor a package has it"),
        ("gfx1100,gfx943", "did you mean `gfx942`?"),
        (
            "gfx1201,gfx1030",
            "no package is for a target to keep (gfx1030, gfx1201) help: the targets are gfx1100, gfx942",
        ),
    ] {
        let output = promote(kept);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(message), "{}", said(&output));
        assert!(!dir.path().join("out").exists());
    }
    let output = promote("gfx1201,gfx942");
    assert!(
        output.status.success() && said(&output).contains("no package for the target `gfx1201`")
    );
    // One target is kept: names used by people stay valid.
    let text = done(
        dir.path(),
        &["wheel", "promote", "old", "--to", "7.10.0", "--keep-targets", "gfx1100", "--dry-run"],
    );
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
        build(dir, "old", "7.10.0rc1", &["--linux-amdgpu-families", "gfx942,gfx1100,gfx1101"]);
        for kept in ["gfx942,gfx1101", "gfx1100"] {
            build(dir, "new", "7.10.0", &["--linux-amdgpu-families", kept]);
            let text = done(
                dir,
                &[
                    "wheel",
                    "promote",
                    "old",
                    "--to",
                    "7.10.0",
                    ALLOW[0],
                    ALLOW[1],
                    "--keep-targets",
                    kept,
                    "-o",
                    "out",
                ],
            );
            assert!(text.contains("rocm_sdk_device-7.10.0"), "{text}");
            let (promoted, built) = (contents(&dir.join("out")), contents(&dir.join("new")));
            assert_eq!(promoted, built, "{kept} {more}");
        }
    }
    choice_of_all(dir, variant);
    let both =
        |linux, windows| ["--linux-amdgpu-families", linux, "--windows-amdgpu-families", windows];
    build(dir, "old", "7.10.0rc1", &both("gfx942,gfx1101", "gfx1101,gfx1100"));
    build(dir, "new", "7.10.0", &both("gfx942", "gfx1100"));
    let kept = "gfx942,gfx1100";
    done(
        dir,
        &[
            "wheel",
            "promote",
            "old",
            "--to",
            "7.10.0",
            ALLOW[0],
            ALLOW[1],
            "--keep-targets",
            kept,
            "-o",
            "out",
        ],
    );
    assert_eq!(contents(&dir.join("out")), contents(&dir.join("new")), "of two systems");
}

/// The packages of a target require the packages of the levels above it, which the user need not
/// name.
#[test]
fn a_level_stays_with_a_target_below_it() {
    let dir = scratch(true);
    let dir = dir.path();
    add_target(&dir.join("artifacts"), "gfx1100", "gfx11");
    build(dir, "old", "7.10.0rc1", &["--linux-amdgpu-families", "gfx942,gfx1100"]);
    for (kept, has_level) in [("gfx1100", true), ("gfx942", false)] {
        build(dir, "new", "7.10.0", &["--linux-amdgpu-families", kept]);
        done(
            dir,
            &[
                "wheel",
                "promote",
                "old",
                "--to",
                "7.10.0",
                ALLOW[0],
                ALLOW[1],
                "--keep-targets",
                kept,
                "-o",
                "out",
            ],
        );
        let promoted = contents(&dir.join("out"));
        assert_eq!(promoted, contents(&dir.join("new")), "{kept}");
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
    build(dir, "old", "7.10.0rc1", &["--linux-amdgpu-families", "gfx942,gfx1100,gfx1101"]);
    for kept in ["gfx942,gfx1101", "gfx1100", "gfx942,gfx1100,gfx1101"] {
        build(dir, "new", "7.10.0", &["--linux-amdgpu-families", kept]);
        done(
            dir,
            &[
                "wheel",
                "promote",
                "old",
                "--to",
                "7.10.0",
                ALLOW[0],
                ALLOW[1],
                "--keep-targets",
                kept,
                "-o",
                "promoted",
            ],
        );
        let promoted = contents(&dir.join("promoted"));
        assert!(promoted.contains_key(Path::new("dist/whl/rocm-7.10.0.tar.gz")), "{promoted:?}");
        assert_eq!(promoted, contents(&dir.join("new")), "{kept}");
    }
}
