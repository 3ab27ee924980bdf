//! `rockpack wheel promote`: the result equals a build of the other version, and nothing else changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use serde_json::Value;

use crate::demo_tree::scratch;
use crate::program::{self, Run, rockpack, stderr, succeed};

#[path = "promote_command/faults.rs"]
mod faults;
#[path = "promote_command/makers.rs"]
mod makers;
#[path = "promote_command/others.rs"]
mod others;
#[path = "promote_command/targets.rs"]
mod targets;
#[path = "promote_command/version_files.rs"]
mod version_files;

fn build(dir: &Path, dest: &str, version: &str, more: &[&str]) {
    program::build(dir, dest).args(["--version", version]).args(more).succeed();
}

/// Returns the hash of every file below a destination, except the statement.
fn contents(dest: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = program::contents(dest);
    files.retain(|path, _| !path.ends_with("provenance.intoto.json"));
    files
}

/// Promotes the packages of `from` in a directory to a version, in `out`.
fn promote(dir: &Path, from: &str, to: &str) -> Command {
    program::command(dir, &["wheel", "promote", from, "--to", to, "-o", "out"])
}

/// Checks that `out` has the packages of the build `new`.
#[track_caller]
fn equals_new(dir: &Path, subject: &str) {
    assert_eq!(contents(&dir.join("out")), contents(&dir.join("new")), "{subject}");
}

fn statement(dest: &Path) -> Value {
    let text = fs::read_to_string(dest.join("dist/provenance.intoto.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Promotes the packages of a build, and compares all with a build of the other version.
fn as_built(dir: &Path, from: &str, to: &str, more: &[&str]) {
    build(dir, "old", from, more);
    build(dir, "new", to, more);
    promote(dir, "old", to).succeed();
    equals_new(dir, &format!("{from} to {to} {more:?}"));
    let (promoted, built) = (statement(&dir.join("out")), statement(&dir.join("new")));
    assert_eq!(promoted["subject"], built["subject"]);
}

/// Every kind of version of a build; the last two contain letters that look like other kinds.
const VERSIONS: [(&str, &str); 6] = [
    ("7.10.0rc1", "7.10.0"),
    ("7.13.0a20260501", "7.13.0"),
    ("7.13.0a20260501", "7.13.0rc1"),
    ("7.10.0", "7.10.0.post1"),
    ("10.1.0a20260811+bkc.20260813", "10.1.0"),
    ("7.10.0.dev0+efa3d1", "7.10.0rc2"),
];

#[test]
fn packages_match_a_build_of_the_other_version() {
    for kpack in [true, false] {
        let dir = scratch(kpack);
        for (from, to) in VERSIONS {
            as_built(dir.path(), from, to, &[]);
        }
    }
}

#[test]
fn packages_are_packed_as_they_were() {
    let dir = scratch(true);
    for more in [
        &["--compression", "fast"][..],
        &["--compression", "max"],
        &["--compression", "store"],
        &["--xz-preset", "0"],
    ] {
        as_built(dir.path(), "7.10.0rc1", "7.10.0", more);
    }
}

#[test]
fn a_statement_names_the_sources_of_the_packages() {
    let dir = scratch(true);
    build(dir.path(), "old", "7.10.0rc1", &["--only", "device,libraries"]);
    let args = ["wheel", "promote", "old/dist", "--to", "7.10.0", "-o", "out"];
    let mut command = program::command(dir.path(), &args);
    command.env("ROCKPACK_BUILDER_ID", "https://example.org/b").env("ROCKPACK_INVOCATION_ID", "7");
    command.succeed();
    let statement = statement(&dir.path().join("out"));
    let definition = &statement["predicate"]["buildDefinition"];
    assert_eq!(definition["buildType"], "urn:rockpack:promotion:1");
    assert_eq!(definition["externalParameters"], serde_json::json!({"to": "7.10.0"}));
    assert_eq!(
        definition["internalParameters"],
        serde_json::json!({"from": "7.10.0rc1", "version": "7.10.0"})
    );
    let made_of = definition["resolvedDependencies"].as_array().unwrap();
    let old = contents(&dir.path().join("old"));
    assert_eq!(made_of.len(), old.len(), "the statement in place of the checksums: {made_of:?}");
    for input in &made_of[..3] {
        let name = input["name"].as_str().unwrap().strip_prefix("from/").unwrap();
        assert_eq!(input["digest"]["sha256"], old[&Path::new("dist").join(name)]);
    }
    assert_eq!(made_of[3]["name"], "from/provenance.intoto.json");
    assert_eq!(statement["predicate"]["runDetails"]["builder"]["id"], "https://example.org/b");
    // A partial set pins packages that are not in it, like the whole set.
    build(dir.path(), "new", "7.10.0", &["--only", "device,libraries"]);
    equals_new(dir.path(), "a partial set");
    succeed(dir.path(), &["merge", "out", "-o", "united"]);
}

#[test]
fn a_dry_run_lists_each_field_and_writes_nothing() {
    let dir = scratch(true);
    build(dir.path(), "old", "7.10.0rc1", &["--only", "meta,device"]);
    let before = contents(dir.path());
    let text = promote(dir.path(), "old", "7.10.0")
        .args(["--keep-targets", "gfx1100", "--dry-run"])
        .succeed();
    assert_eq!(contents(dir.path()), before);
    workbench::expected::compare("tests/fixtures/promote/dry-run.txt", &text);
    // The list is complete: no package of the old version is left.
    promote(dir.path(), "old", "7.10.0").succeed();
    for file in contents(&dir.path().join("out"))
        .keys()
        .filter(|file| file.extension().is_some_and(|e| e == "whl"))
    {
        let bytes = fs::read(dir.path().join("out").join(file)).unwrap();
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        for index in 0..zip.len() {
            let (mut member, mut content) = (zip.by_index(index).unwrap(), Vec::new());
            std::io::Read::read_to_end(&mut member, &mut content).unwrap();
            let has = content.windows(9).any(|window| window == b"7.10.0rc1");
            assert!(
                !has && !member.name().contains("7.10.0rc1"),
                "{} of {}",
                member.name(),
                file.display()
            );
        }
    }
}

#[test]
fn output_of_an_earlier_run_is_removed() {
    let dir = scratch(true);
    build(dir.path(), "old", "7.10.0rc1", &[]);
    for to in ["7.10.0rc2", "7.10.0"] {
        promote(dir.path(), "old", to).succeed();
    }
    let files = contents(&dir.path().join("out"));
    assert!(files.keys().all(|file| !file.to_string_lossy().contains("rc2")), "{files:?}");
    assert_eq!(files.len(), 9);
    let verified = rockpack(dir.path(), &["wheel", "verify", "out/dist"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}
