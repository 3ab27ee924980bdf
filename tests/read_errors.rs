//! Disks with read errors: every command names the file and ends, and leaves no files.
//!
//! A preloaded library makes reading of one file fail.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use tempfile::TempDir;

use super::split_command;
use super::verify::wheel::wheel;
use crate::program;
use workbench::skips;

/// Fails to read a file with `BROKEN_FILE` in its path.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is_broken(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t len = readlink(link, path, sizeof path - 1);
    const char *part = getenv("BROKEN_FILE");
    if (len < 0 || !part) return 0;
    path[len] = 0;
    return strstr(path, part) != 0;
}
ssize_t read(int file, void *to, size_t len) {
    ssize_t (*own)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
    if (is_broken(file)) { errno = EIO; return -1; }
    return own(file, to, len);
}
ssize_t pread64(int file, void *to, size_t len, off64_t at) {
    ssize_t (*own)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    if (is_broken(file)) { errno = EIO; return -1; }
    return own(file, to, len, at);
}
ssize_t pread(int file, void *to, size_t len, off_t at) { return pread64(file, to, len, at); }
"#;

/// Builds the library; skips the test without a C compiler.
fn shim(dir: &Path) -> Option<PathBuf> {
    if !skips::has("cc", "what commands do when a file cannot be read") {
        return None;
    }
    let (source, library) = (dir.join("shim.c"), dir.join("shim.so"));
    fs::write(&source, SHIM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    assert!(compiler.status().unwrap().success());
    Some(library)
}

/// Returns the messages of a failing command in one line.
fn says(dir: &Path, shim: &Path, broken: &str, arguments: &[&str]) -> String {
    let mut command = program::command(dir, arguments);
    command.env("ROCKPACK_NO_CACHE", "1").env("LD_PRELOAD", shim).env("BROKEN_FILE", broken);
    let output = command.output().unwrap();
    let said = program::stderr(&output);
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| [1, 2].contains(&status)),
        "{arguments:?}: {status:?} {said}"
    );
    said
}

#[test]
fn packages_that_cannot_be_read_are_named() {
    let dir = TempDir::new().unwrap();
    let Some(shim) = shim(dir.path()) else { return };
    for place in ["dist", "old"] {
        fs::create_dir(dir.path().join(place)).unwrap();
    }
    wheel("demo", "any").write(&dir.path().join("dist"));
    wheel("demo", "any").write(&dir.path().join("old"));
    let file = "demo-1.0-py3-none-any.whl";
    let path = format!("dist/{file}");
    let commands: [&[&str]; 6] = [
        &["wheel", "verify", "dist"],
        &["wheel", "audit", &path],
        &["wheel", "retag", "--force", "--platform-tag", "linux_x86_64", &path],
        &["index", "write", "dist"],
        &["diff", "old", "dist"],
        &["wheel", "promote", "--manifest", "built-in", "dist", "--to", "2", "-o", "out"],
    ];
    for arguments in commands {
        let said = says(dir.path(), &shim, &path, arguments);
        assert!(
            said.contains(file) && said.contains("Input/output error"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn archives_that_cannot_be_read_stop_a_build_and_leave_nothing() {
    let dir = TempDir::new().unwrap();
    let Some(shim) = shim(dir.path()) else { return };
    for args in
        [&["init", "--demo", "artifacts"][..], &["artifact", "pack", "artifacts", "-o", "run"]]
    {
        let output = program::command(dir.path(), &[&["-q"], args].concat()).output().unwrap();
        assert!(output.status.success(), "{}", program::stderr(&output));
    }
    let archive = "hipfile_lib_generic.tar.zst";
    let manifest = ["--manifest", "built-in", "--artifact-dir", "run"];
    for command in [&["plan"][..], &["build", "-o", "out"]] {
        let said = says(dir.path(), &shim, archive, &[command, &manifest].concat());
        assert!(said.contains(archive) && said.contains("Input/output error"), "{said}");
    }
    assert!(!dir.path().join("out").exists());
}

#[test]
fn wheels_that_cannot_be_read_are_neither_split_nor_merged() {
    let dir = TempDir::new().unwrap();
    let Some(shim) = shim(dir.path()) else { return };
    fs::create_dir(dir.path().join("in")).unwrap();
    split_command::manifest(dir.path());
    let wheel = split_command::frame().write(&dir.path().join("in"));
    let wheel = wheel.file_name().unwrap().to_str().unwrap();
    let path = format!("in/{wheel}");
    let split = ["wheel", "split", &path, "--version", "7.0", "-o"];
    let done = program::rockpack(dir.path(), &[&split[..], &["done"]].concat());
    assert!(done.status.success(), "{}", program::stderr(&done));
    for (args, broken) in [
        (&[&split[..], &["out"]].concat()[..], wheel),
        // A merge links packages, and reads the links.
        (&["merge", "done", "-o", "out"], wheel),
        (&["merge", "done", "-o", "out"], "done/dist/SHA256SUMS"),
        (&["merge", "done", "-o", "out"], "done/dist/provenance.intoto.json"),
    ] {
        let said = says(dir.path(), &shim, broken, args);
        let name = broken.rsplit('/').next().unwrap();
        assert!(said.contains(name) && said.contains("Input/output error"), "{args:?}: {said}");
        assert!(!dir.path().join("out").exists(), "{args:?}: {said}");
    }
}

#[test]
fn artifacts_that_cannot_be_read_stop_a_build_and_leave_nothing() {
    let dir = TempDir::new().unwrap();
    let Some(shim) = shim(dir.path()) else { return };
    let manifest = env!("CARGO_MANIFEST_DIR");
    let mut demo = program::command(dir.path(), &["-q", "init", "--demo", "artifacts"]);
    assert!(demo.output().unwrap().status.success());
    for broken in ["libhipfile.so", "artifact_manifest.txt", "packages.kdl", "hipfile_lib_generic"]
    {
        let given = ["--artifact-dir", "artifacts", "--manifest", manifest];
        for command in [&["plan"][..], &["build", "-o", "out"]] {
            let said = says(dir.path(), &shim, broken, &[command, &given].concat());
            assert!(said.contains("Input/output error"), "{command:?}: {said}");
            let named = broken.trim_end_matches("_lib_generic");
            assert!(said.contains(named), "{command:?} does not name {broken}: {said}");
        }
        let left = dir.path().join("out");
        assert!(!left.exists() || fs::read_dir(&left).unwrap().next().is_none(), "{broken}");
    }
}
