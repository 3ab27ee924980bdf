//! Packages that cannot be promoted: each is reported, and no file is left.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use fs_err as fs;

use super::{build, contents, equals_new, promote, rockpack, scratch, stderr, succeed};
use crate::program::Run;

fn assert_refused(dir: &Path, args: &[&str], status: i32, messages: &[&str]) {
    let before = contents(dir);
    let output = rockpack(dir, &[&["wheel", "promote"], args].concat());
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", stderr(&output));
    for message in messages {
        assert!(stderr(&output).contains(message), "{message} in {}", stderr(&output));
    }
    assert_eq!(contents(dir), before);
}

#[test]
fn impossible_requests_are_refused() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "meta,core"]);
    fs::create_dir(dir.join("empty")).unwrap();
    assert_refused(dir, &["absent", "--to", "1", "-o", "out"], 2, &["absent"]);
    assert_refused(dir, &["empty", "--to", "1", "-o", "out"], 1, &["empty has no built packages"]);
    assert_refused(
        dir,
        &["old", "--to", "garbage", "-o", "out"],
        2,
        &["`garbage` is not a PEP 440 version"],
    );
    assert_refused(
        dir,
        &["old", "--to", "7.10.0-rc.1", "-o", "out"],
        2,
        &["already have version 7.10.0rc1"],
    );
    assert_refused(dir, &["old", "--to", "7.10.0"], 2, &["--output <OUT>"]);
    for (from, out) in
        [("old", "old"), ("old/dist", "old"), ("old/dist", "./old/../old"), ("old", "old/dist")]
    {
        let message = "the directory of the new packages";
        assert_refused(dir, &[from, "--to", "7.10.0", "-o", out], 2, &[message, "-o OUT"]);
    }
    fs::write(dir.join("file"), "").unwrap();
    assert_refused(dir, &["old", "--to", "7.10.0", "-o", "file"], 2, &["is not a directory"]);
}

#[test]
fn packages_have_to_be_of_one_build() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "core"]);
    build(dir, "old", "7.10.0rc2", &["--only", "libraries"]);
    assert_refused(
        dir,
        &["old", "--to", "7.10.0", "-o", "out"],
        1,
        &["7.10.0rc1", "7.10.0rc2", "of one version at a time"],
    );
}

/// Returns the only wheel below `dir`.
fn wheel(dir: &Path) -> std::path::PathBuf {
    let mut files = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    files.find(|file| file.extension().is_some_and(|e| e == "whl")).unwrap()
}

#[test]
fn damaged_packages_leave_nothing() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "core"]);
    // A byte of a stored member, which is copied: detected at the end.
    let path = wheel(&dir.join("old/dist"));
    let bytes = fs::read(&path).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(200)).unwrap();
    file.write_all(&[!bytes[200]]).unwrap();
    assert_refused(
        dir,
        &["old", "--to", "7.10.0", "-o", "out"],
        1,
        &["does not match SHA256SUMS of its directory"],
    );
    assert!(!dir.join("out").exists());
    // Earlier packages stay.
    build(dir, "out", "7.9.0", &["--only", "libraries"]);
    assert_refused(dir, &["old", "--to", "7.10.0", "-o", "out"], 1, &["SHA256SUMS"]);
    file.set_len(bytes.len() as u64 / 2).unwrap();
    assert_refused(
        dir,
        &["old", "--to", "7.10.0", "-o", "out"],
        1,
        &["not a readable zip archive"],
    );
}

#[test]
fn packages_have_to_match_their_list() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "meta,core"]);
    let (dist, args) = (dir.join("old/dist"), ["old", "--to", "7.10.0", "-o", "out"]);
    let sums = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    let core = wheel(&dist);
    let name = core.file_name().unwrap().to_str().unwrap().to_owned();
    let unlisted = format!("{name} is in old/dist, but SHA256SUMS there does not list it");
    let rest: Vec<&str> = sums.lines().filter(|line| !line.contains(&name)).collect();
    assert_eq!(rest.len() + 1, sums.lines().count());
    for text in ["", &rest.join("\n")] {
        fs::write(dist.join("SHA256SUMS"), text).unwrap();
        let which = if text.is_empty() { "SHA256SUMS there does not list it" } else { &unlisted };
        assert_refused(dir, &args, 1, &[which, "promote them together"]);
    }
    fs::write(dist.join("SHA256SUMS"), &sums).unwrap();
    fs::rename(&core, dir.join(&name)).unwrap();
    let absent = format!("{name} is missing in old/dist, but SHA256SUMS there lists it");
    assert_refused(dir, &args, 1, &[&absent, "promote them together"]);
    assert!(!dir.join("out").exists());
    // A partial set must be requested.
    fs::write(dist.join("SHA256SUMS"), rest.join("\n")).unwrap();
    assert_refused(dir, &args, 1, &["provenance of a missing package", "without SHA256SUMS"]);
    fs::remove_file(dist.join("SHA256SUMS")).unwrap();
    succeed(dir, &[&["wheel", "promote"], &args[..]].concat());
}

#[test]
fn packages_changed_after_their_build_are_refused() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "core"]);
    let path = wheel(&dir.join("old/dist"));
    let changed = |member: &str, from: &str, to: &str| {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(fs::read(&path).unwrap())).unwrap();
        let mut new = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for index in 0..zip.len() {
            let mut file = zip.by_index(index).unwrap();
            let (name, mut content) = (file.name().to_owned(), Vec::new());
            std::io::Read::read_to_end(&mut file, &mut content).unwrap();
            if name.ends_with(member) {
                content = String::from_utf8(content).unwrap().replacen(from, to, 1).into_bytes();
            }
            new.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            new.write_all(&content).unwrap();
        }
        let into = dir.join("changed");
        fs::create_dir_all(&into).unwrap();
        fs::write(into.join(path.file_name().unwrap()), new.finish().unwrap().into_inner())
            .unwrap();
    };
    changed("rockpack.cdx.json", "\"bomFormat\"", "\"more\": 1, \"bomFormat\"");
    assert_refused(
        dir,
        &["changed", "--to", "7.10.0", "-o", "out"],
        1,
        &["rockpack.cdx.json` does not have the form that rockpack writes"],
    );
    changed("_dist_info.py", "DIST = {", "DIST = dict(a=1) or {");
    assert_refused(
        dir,
        &["changed", "--to", "7.10.0", "-o", "out"],
        1,
        &["it has no facts that rockpack writes into its packages"],
    );
    changed("METADATA", "Version: 7.10.0rc1", "Version: 7.10.0rc2");
    assert_refused(
        dir,
        &["changed", "--to", "7.10.0", "-o", "out"],
        1,
        &["have different distributions or versions"],
    );
    // Nothing else is wrong.
    changed("METADATA", "Version", "Version");
    let allow = ["--allow", "not-executable"];
    succeed(
        dir,
        &[&["wheel", "promote", "changed", "--to", "7.10.0", "-o", "out"][..], &allow].concat(),
    );
}

/// Returns the number of packages in `out`.
fn packages(out: &Path) -> usize {
    fs::read_dir(out.join("dist")).map_or(0, |files| {
        files
            .filter(|file| {
                wheel::package::distribution_of(
                    &file.as_ref().unwrap().file_name().to_string_lossy(),
                )
                .is_some()
            })
            .count()
    })
}

#[test]
fn a_killed_run_leaves_all_or_nothing() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &[]);
    let count = packages(&dir.join("old"));
    for delay in [0, 10, 20, 30, 40, 60, 80, 120] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command.args([
            "wheel",
            "promote",
            "old",
            "--to",
            "7.10.0",
            "-o",
            "out",
            "--manifest",
            "built-in",
        ]);
        let mut child =
            command.current_dir(dir).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        // The next command undoes an interrupted change.
        let looked = rockpack(dir, &["wheel", "verify", "out/dist"]);
        let found = packages(&dir.join("out"));
        assert!(found == 0 || found == count, "{found} after {delay} ms: {}", stderr(&looked));
    }
    promote(dir, "old", "7.10.0").succeed();
    build(dir, "new", "7.10.0", &[]);
    equals_new(dir, "whole");
    assert!(!dir.join("out/.rockpack-partial").exists());
}

/// Opening a FIFO waits, and a device has no end.
#[test]
fn special_files_are_no_packages_and_no_statement() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "core"]);
    let package = wheel(&dir.join("old/dist"));
    for path in [package, dir.join("old/dist/provenance.intoto.json")] {
        let kept = fs::read(&path).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        for kind in ["is a FIFO", "is a device", "is a directory"] {
            fs::remove_file(&path).unwrap();
            match kind {
                "is a FIFO" => {
                    let fifo = rustix::fs::FileType::Fifo;
                    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
                }
                "is a device" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                _ => fs::create_dir(&path).unwrap(),
            }
            let args = ["wheel", "promote", "old", "--to", "7.10.0", "-o", "out"];
            let output = rockpack(dir, &args);
            assert_eq!(output.status.code(), Some(2), "{kind}: {}", stderr(&output));
            assert!(stderr(&output).contains(kind), "{kind} in {}", stderr(&output));
            assert!(!dir.join("out").exists(), "{kind}");
            if kind == "is a directory" {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, &kept).unwrap();
            }
        }
    }
}
