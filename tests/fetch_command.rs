//! `rockpack artifact fetch`, and builds from a store: packages equal builds from a directory with the same
//! artifacts, and damaged data is never used.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use base::regular::sha256;
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use crate::demo_tree;
use crate::program::{stderr, uncached};

#[path = "fetch_command/checksums.rs"]
mod checksums;
#[cfg(feature = "stores")]
#[path = "fetch_command/environment.rs"]
mod environment;
#[path = "fetch_command/faults.rs"]
mod faults;
#[path = "fetch_command/keys.rs"]
mod keys;
#[path = "fetch_command/locks.rs"]
mod locks;
#[path = "fetch_command/ranges.rs"]
mod ranges;
#[path = "fetch_command/runs.rs"]
mod runs;
#[path = "fetch_command/signals.rs"]
mod signals;

/// Makes a directory with the demo artifacts as archives with sidecars in `store/17-linux`, as
/// directories in `artifacts`.
fn scratch() -> TempDir {
    let dir = demo_tree::scratch(true);
    let run = dir.path().join("store/17-linux");
    fs::create_dir_all(&run).unwrap();
    for entry in fs::read_dir(dir.path().join("artifacts")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        archive(&entry.path(), &run.join(format!("{name}.tar.zst")));
    }
    dir
}

/// Packs a directory, its manifest first, and writes its sidecar.
fn archive(artifact: &Path, to: &Path) {
    let mut tar = tar::Builder::new(Vec::new());
    tar.follow_symlinks(false);
    let first = "artifact_manifest.txt";
    tar.append_path_with_name(artifact.join(first), first).unwrap();
    for entry in walkdir::WalkDir::new(artifact).min_depth(1).sort_by_file_name() {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(artifact).unwrap();
        if name != Path::new(first) {
            tar.append_path_with_name(entry.path(), name).unwrap();
        }
    }
    let tar = tar.into_inner().unwrap();
    let packed = if to.extension().is_some_and(|e| e == "zst") {
        zstd::encode_all(&tar[..], 3).unwrap()
    } else {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(&tar).unwrap();
        encoder.finish().unwrap()
    };
    fs::write(to, packed).unwrap();
    vouch(to);
}

/// Writes the sidecar of an archive.
fn vouch(archive: &Path) {
    let name = archive.file_name().unwrap().to_str().unwrap();
    let text = format!("{}  {name}\n", sha256(archive).unwrap());
    fs::write(sidecar(archive), text).unwrap();
}

fn sidecar(archive: &Path) -> std::path::PathBuf {
    let name = archive.file_name().unwrap().to_str().unwrap();
    archive.with_file_name(format!("{name}.sha256sum"))
}

fn rockpack(dir: &Path, args: &[&str]) -> Output {
    let mut command = uncached(dir, args);
    // Unpacked files are removed at the end.
    fs::create_dir_all(dir.join("tmp")).unwrap();
    command.env("TMPDIR", dir.join("tmp"));
    let output = command.output().unwrap();
    assert_eq!(fs::read_dir(dir.join("tmp")).unwrap().count(), 0, "{args:?} leaves files behind");
    output
}

fn succeed(dir: &Path, args: &[&str]) -> (String, String) {
    let output = rockpack(dir, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
}

/// Returns the messages of a command that fails with this status.
fn refusal(dir: &Path, status: i32, args: &[&str]) -> String {
    let output = rockpack(dir, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

/// Writes a manifest with all of the built-in one, and a store in `store`.
fn declare_store(dir: &Path) {
    let place = fs::canonicalize(dir.join("store")).unwrap();
    let url = format!("url=\"file://{}/{{external}}{{run}}-{{system}}/\"", place.display());
    let strict = "require-checksums=#true downloads=3";
    let store = format!("store \"here\" {url}\nstore \"strict\" {url} {strict}");
    fs::write(dir.join("packages.kdl"), format!("include \"built-in\"\n{store}\n")).unwrap();
    fs::write(dir.join("families.kdl"), "include \"built-in\"\n").unwrap();
}

/// Returns the digests of all files below a directory, by name.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            let name = entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            (name, sha256(entry.path()).unwrap())
        })
        .collect()
}

fn address(dir: &Path) -> String {
    format!("file://{}", fs::canonicalize(dir.join("store/17-linux")).unwrap().display())
}

/// Builds packages and returns their digests.
fn built(dir: &Path, dest: &str, more: &[&str]) -> BTreeMap<String, String> {
    let args = [&["build", "--platform-tag", "linux_x86_64", "-o", dest], more].concat();
    succeed(dir, &args);
    let mut files = files(&dir.join(dest).join("dist"));
    // It contains digests of the artifacts, which differ between directories and archives.
    files.remove("provenance.intoto.json");
    files
}
