//! Sets that refer to packages of earlier nights (`--since`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use base::hash::Sha256;
use base::identity::{FileState, Identity};
use base::regular::sha256;
use cache::{Archive, Cache, ContentDigest, DEFAULT_LIMIT, Fingerprinter};
use fs_err as fs;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tempfile::TempDir;

use crate::demo_tree::scratch;
use crate::program::{self, Run, stderr};

#[path = "nights/index.rs"]
mod index;

/// Packages that are made for each set.
const ALWAYS: [&str; 2] = ["rocm", "rocm-sdk-device"];

/// Returns the program with the manifest of a directory, if it has one.
fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = program::uncached(dir, args);
    if dir.join("manifest/packages.kdl").exists() {
        command.env("ROCKPACK_MANIFEST", dir.join("manifest"));
    }
    command
}

fn rockpack(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

fn succeed(dir: &Path, args: &[&str]) -> String {
    command(dir, args).succeed()
}

fn night<'a>(command: &'a str, version: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let plain = ["--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"];
    [&[command][..], &plain, &["--version", version], more].concat()
}

fn build(dir: &Path, version: &str, dest: &str, more: &[&str]) {
    succeed(dir, &night("build", version, &[&["-o", dest], more].concat()));
}

/// New packages with their reasons, and earlier ones with their versions.
type Verdicts = (BTreeMap<String, String>, BTreeMap<String, String>);

fn verdicts(dir: &Path, version: &str, since: &str) -> Option<Verdicts> {
    let output = rockpack(dir, &night("plan", version, &["--since", since, "--json"]));
    if !output.status.success() {
        let whole = rockpack(dir, &night("plan", version, &["--json"]));
        assert!(!whole.status.success(), "{}", stderr(&output));
        return None;
    }
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |list: &Value, field: &str| -> BTreeMap<String, String> {
        let each = list.as_array().into_iter().flatten();
        let pair = |it: &Value| {
            (it["name"].as_str().unwrap().to_owned(), it[field].as_str().unwrap().to_owned())
        };
        each.map(pair).filter(|(name, _)| !ALWAYS.contains(&&**name)).collect()
    };
    Some((of(&plan["distributions"], "new"), of(&plan["earlier"], "version")))
}

/// A whole night `a1`, and the night `a2` after it, whose packages are all new.
fn two_nights() -> TempDir {
    let dir = scratch(true);
    build(dir.path(), "7.14.0a1", "whole", &[]);
    build(dir.path(), "7.14.0a2", "since", &["--since", "whole"]);
    dir
}

fn wheels(dest: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(dest.join("dist")).unwrap().map(|entry| entry.unwrap().path());
    let wheels = files.filter(|path| path.extension().is_some_and(|ending| ending == "whl"));
    let name = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap();
        file.split('-').next().unwrap().replace('_', "-")
    };
    wheels.map(|path| (name(&path), sha256(&path).unwrap())).collect()
}

/// Compares the verdicts for changed inputs with the bytes of all packages, built in the version of
/// the earlier night. Returns the new packages; `None` if the changed inputs have no plan.
fn new_as_bytes_differ(dir: &Path) -> Option<BTreeSet<String>> {
    let (new, earlier) = verdicts(dir, "7.14.0a3", "since")?;
    let again = night("build", "7.14.0a2", &["-o", "again", "--since", "whole"]);
    succeed(dir, &again);
    let (before, after) = (wheels(&dir.join("since")), wheels(&dir.join("again")));
    let differs = |name: &&String| before.get(*name) != after.get(*name);
    let differing: BTreeSet<String> = after
        .keys()
        .filter(|name| !ALWAYS.contains(&name.as_str()))
        .filter(differs)
        .cloned()
        .collect();
    let new: BTreeSet<String> = new.into_keys().collect();
    assert_eq!(new, differing, "a package is new if its bytes differ");
    assert!(earlier.values().all(|version| version == "7.14.0a2"));
    assert_eq!(
        new.len() + earlier.len(),
        after.keys().filter(|n| !ALWAYS.contains(&&***n)).count()
    );
    Some(new)
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Byte,
    Mode,
    Removed,
    Added,
    Linked,
}

fn change(path: &Path, change: Change) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    match change {
        Change::Byte => {
            let mut bytes = fs::read(path).unwrap();
            // Changed in place, ELF files would have other facts.
            bytes.push(b'x');
            let mode = mode(path);
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }
        Change::Mode => {
            fs::set_permissions(path, PermissionsExt::from_mode(mode(path) ^ 0o111)).unwrap();
        }
        Change::Removed => fs::remove_file(path).unwrap(),
        Change::Added => fs::write(path.with_extension("added"), "added").unwrap(),
        Change::Linked => {
            let other = path.with_extension("moved");
            fs::rename(path, &other).unwrap();
            fs_err::os::unix::fs::symlink(other.file_name().unwrap(), path).unwrap();
        }
    }
}

/// After any change in the artifacts, a package is new exactly if its bytes differ.
#[test]
fn every_change_of_an_artifact_makes_its_packages_new() {
    let dir = two_nights();
    fs::rename(dir.path().join("artifacts"), dir.path().join("original")).unwrap();
    let original = dir.path().join("original");
    let files = || walkdir::WalkDir::new(&original).sort_by_file_name().into_iter();
    let files: Vec<PathBuf> = files()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| entry.file_name() != "artifact_manifest.txt")
        // Without archives of device code, a set has another mode and other packages.
        .filter(|entry| entry.path().extension().is_none_or(|ending| ending != "kpack"))
        .map(|entry| entry.path().strip_prefix(&original).unwrap().to_owned())
        .collect();
    let kinds = prop_oneof![
        3 => Just(Change::Byte),
        2 => Just(Change::Mode),
        1 => Just(Change::Removed),
        1 => Just(Change::Added),
        1 => Just(Change::Linked),
    ];
    let seen = RefCell::new((0, BTreeSet::new()));
    let config = Config { cases: 10, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(any::<Index>(), kinds), |(index, kind)| {
            let artifacts = dir.path().join("artifacts");
            if artifacts.exists() {
                fs::remove_dir_all(&artifacts).unwrap();
            }
            let args = [original.as_os_str(), artifacts.as_os_str()];
            let copied = std::process::Command::new("cp").arg("-a").args(args).status();
            assert!(copied.unwrap().success());
            let file = &files[index.index(files.len())];
            change(&artifacts.join(file), kind);
            if let Some(new) = new_as_bytes_differ(dir.path()) {
                seen.borrow_mut().0 += 1;
                seen.borrow_mut().1.extend(new);
            }
            Ok(())
        })
        .unwrap();
    let seen = seen.into_inner();
    assert!(seen.0 > 2 && !seen.1.is_empty(), "{seen:?}");
}

/// Copies the repository's manifest, with a changed text.
fn own_manifest(dir: &Path, from: &str, to: impl Fn(&str) -> String) {
    let (root, own) = (Path::new(env!("CARGO_MANIFEST_DIR")), dir.join("manifest"));
    if !own.exists() {
        fs::create_dir(&own).unwrap();
        for name in ["families.kdl", "manifest"] {
            let args = [root.join(name), own.join(name)];
            let copied = std::process::Command::new("cp").arg("-a").args(args).status();
            assert!(copied.unwrap().success());
        }
    }
    let text = fs::read_to_string(root.join("packages.kdl")).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(own.join("packages.kdl"), text.replacen(from, &to(from), 1)).unwrap();
}

/// Entry points, requirements, texts and licences are content too.
#[test]
fn every_change_of_the_manifest_makes_its_packages_new() {
    let dir = two_nights();
    let core = "rocm-sdk-core";
    let cases: [(&str, &str, &[&str]); 5] = [
        ("", "", &[]),
        ("ROCm runtime libraries, compiler", "ROCm runtime, compiler", &[core]),
        ("script \"rocminfo\" \"amd-smi\"", "script \"amd-smi\"", &[core]),
        (
            "    artifact \"rocprofiler-compute\" \"lib\" \"run\"\n",
            "    requires-dist \"numpy>=2\"\n    artifact \"rocprofiler-compute\" \"lib\" \"run\"\n",
            &["rocm-profiler"],
        ),
        (
            "    requires \"libraries\"\n",
            "    requires \"libraries\" compatible=\"lib/**\"\n",
            &["rocm-sdk-device-gfx1100", "rocm-sdk-device-gfx942"],
        ),
    ];
    for (from, to, new) in cases {
        own_manifest(dir.path(), from, |_| to.to_owned());
        let found = new_as_bytes_differ(dir.path()).unwrap();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, new, "{from}");
    }
}

fn library(dir: &Path, artifact: &str) -> PathBuf {
    let files = walkdir::WalkDir::new(dir.join("artifacts").join(artifact)).sort_by_file_name();
    let mut files = files.into_iter().map(Result::unwrap);
    let is_library = |entry: &walkdir::DirEntry| {
        entry.file_type().is_file() && entry.path().to_string_lossy().contains(".so")
    };
    files.find(is_library).unwrap().into_path()
}

/// Device code depends on the libraries of its artifacts, and accepts other changes.
#[test]
fn a_device_package_is_new_with_the_libraries_that_open_its_files() {
    let dir = two_nights();
    let before = |file: &Path| fs::read(file).unwrap();
    let (own, other) =
        (library(dir.path(), "blas_lib_generic"), library(dir.path(), "rpp_lib_generic"));
    let bytes = before(&other);
    change(&other, Change::Byte);
    let (new, earlier) = verdicts(dir.path(), "7.14.0a3", "since").unwrap();
    assert_eq!(new.keys().collect::<Vec<_>>(), ["rocm-sdk-libraries"], "{earlier:?}");
    fs::write(&other, bytes).unwrap();
    change(&own, Change::Byte);
    let (new, _) = verdicts(dir.path(), "7.14.0a3", "since").unwrap();
    let names: Vec<&String> = new.keys().collect();
    let devices = ["rocm-sdk-device-gfx1100", "rocm-sdk-device-gfx942"];
    assert_eq!(names, [devices[0], devices[1], "rocm-sdk-libraries"]);
    assert!(new[devices[0]].contains("_dist_info.py changed"), "{new:?}");
    assert!(new["rocm-sdk-libraries"].contains(".so"), "{new:?}");
}

/// Jobs of a night are merged over earlier nights, whose packages their set requires.
#[test]
fn merge_keeps_required_packages_of_earlier_nights() {
    let dir = two_nights();
    let path = dir.path();
    for name in ALWAYS {
        build(path, "7.14.0a3", name, &["--since", "since", "--only", name]);
    }
    let plan = succeed(path, &night("plan", "7.14.0a3", &["--since", "since", "--json"]));
    fs::write(path.join("plan.json"), plan).unwrap();
    let jobs = ["rocm", "rocm-sdk-device", "--plan", "plan.json", "-o", "since"];
    let output = succeed(path, &[&["merge"], &jobs[..]].concat());
    assert!(!output.contains("rocm_sdk_core-"), "{output}");
    for removed in ["rocm-7.14.0a2.tar.gz", "rocm_sdk_device-7.14.0a2-"] {
        assert!(output.contains(&format!("removed dist/{removed}")), "{output}");
    }
    let sums = fs::read_to_string(path.join("since/dist/SHA256SUMS")).unwrap();
    let versions = |version: &str| sums.lines().filter(|line| line.contains(version)).count();
    let (_, earlier) = verdicts(path, "7.14.0a4", "since").unwrap();
    assert!(earlier.contains_key("rocm-sdk-core"), "{earlier:?}");
    assert_eq!(
        (versions("7.14.0a2"), versions("7.14.0a3")),
        (earlier.len(), ALWAYS.len()),
        "{sums}"
    );
}

/// A package that requires another one exactly cannot stay when that one is new.
#[test]
fn an_exact_requirement_on_a_new_package_makes_its_package_new() {
    let dir = scratch(true);
    own_manifest(dir.path(), "    artifact \"rocprofiler-compute\" \"lib\" \"run\"\n", |line| {
        format!("    requires \"core\"\n{line}")
    });
    build(dir.path(), "7.14.0a1", "whole", &[]);
    build(dir.path(), "7.14.0a2", "since", &["--since", "whole"]);
    assert!(verdicts(dir.path(), "7.14.0a3", "since").unwrap().0.is_empty());
    change(&library(dir.path(), "base_lib_generic"), Change::Byte);
    let (new, _) = verdicts(dir.path(), "7.14.0a3", "since").unwrap();
    assert_eq!(new.keys().collect::<Vec<_>>(), ["rocm-profiler", "rocm-sdk-core"]);
    assert_eq!(
        new["rocm-profiler"],
        "it requires rocm-sdk-core==7.14.0a2, and 7.14.0a3 is in the set"
    );
}

/// Makes a cache with another digest for each file of the artifacts.
fn cache_of_other_digests(dir: &Path) {
    let cache = Cache::open(&dir.join("cache"), DEFAULT_LIMIT).unwrap();
    let mut offer = cache.offer();
    for entry in walkdir::WalkDir::new(dir.join("artifacts")).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let state = FileState::new(&fs::metadata(entry.path()).unwrap());
            let mut fingerprint = Fingerprinter::new();
            fingerprint.identity(&Identity::File(state));
            offer.memo(fingerprint.finish().unwrap(), ContentDigest(Sha256::of(b"other")));
        }
    }
    let archive = Archive { path: dir.join("none"), offer };
    let summary = Box::new(cache).finish(vec![archive]);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
}

#[test]
fn digests_are_of_the_cache_which_is_opened_once() {
    let dir = two_nights();
    // Files of the last two seconds have no fingerprint.
    std::thread::sleep(Duration::from_millis(2100));
    cache_of_other_digests(dir.path());
    let plan = night("plan", "7.14.0a3", &["--since", "since"]);
    let cached = |args: &[&str], cache: &str| {
        let mut command = program::uncached(dir.path(), args);
        command.env_remove("ROCKPACK_NO_CACHE").env("ROCKPACK_CACHE_DIR", dir.path().join(cache));
        command
    };
    let told = cached(&plan, "cache").succeed();
    assert!(told.contains(" changed, and ") && told.contains("since 7.14.0a2"), "{told}");
    assert!(!succeed(dir.path(), &plan).contains(" changed, and "));
    fs::write(dir.path().join("file"), "").unwrap();
    let build = night("build", "7.14.0a3", &["--since", "since", "-o", "next"]);
    let output = cached(&build, "file").output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output).matches("the cache is not used").count(), 1, "{}", stderr(&output));
}

/// A promotion gives the packages of a whole build.
/// A directory of nights in place: the packages that a set requires stay.
#[test]
fn a_night_in_place_removes_no_package_that_it_requires() {
    let dir = two_nights();
    build(dir.path(), "7.14.0a3", "since", &["--since", "since"]);
    let files = fs::read_dir(dir.path().join("since/dist")).unwrap();
    let names: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let versions = |version: &str| names.iter().filter(|name| name.contains(version)).count();
    assert!(
        versions("7.14.0a2") > ALWAYS.len() && versions("7.14.0a3") == ALWAYS.len(),
        "{names:?}"
    );
    build(dir.path(), "7.14.0a4", "next", &["--since", "since"]);
}

#[test]
fn packages_of_a_set_are_not_promoted() {
    let dir = two_nights();
    let promote = ["wheel", "promote", "since", "--to", "7.14.0", "-o", "out"];
    let output = rockpack(dir.path(), &promote);
    assert!(stderr(&output).contains("it was built with `--since`"), "{}", stderr(&output));
    assert!(!dir.path().join("out").exists());
}

#[test]
fn sets_without_a_night_are_refused() {
    let dir = scratch(true);
    build(dir.path(), "7.14.0a1", "whole", &[]);
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (version, more, words) in [
        ("7.14.0", &["--since", "whole"][..], "7.14.0 is not a nightly version"),
        ("7.14.0rc1", &["--since", "whole"], "without --since"),
        ("7.14.0a2", &["--since", "empty"], "has no built packages"),
        ("7.14.0a0", &["--since", "whole"], "no earlier version of 6 packages"),
        (
            "7.14.0a2",
            &[
                "--since",
                "whole",
                "--linux-amdgpu-families",
                "gfx942",
                "--windows-amdgpu-families",
                "gfx942",
            ],
            "--since is for packages of one system",
        ),
    ] {
        let output = rockpack(dir.path(), &night("plan", version, more));
        assert!(!output.status.success() && stderr(&output).contains(words), "{}", stderr(&output));
    }
    let farm = ["--since", "whole", "--catalog", "c", "--artifacts-digest", "0/0", "-o", "out"];
    let output = rockpack(dir.path(), &night("build", "7.14.0a2", &farm));
    assert!(stderr(&output).contains("--artifacts-digest reads none"), "{}", stderr(&output));
}
