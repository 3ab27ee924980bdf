//! Malicious packages, and foreign files among packages: every command that reads packages reports
//! the fault and ends.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::verify::wheel::{Wheel, wheel};
use super::verify::zip::{Member, overlapping};
use crate::program::{self, in_a_minute as rockpack, text};

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Checks that each command fails with one of these statuses and prints this.
fn all_say(dir: &Path, commands: &[&[&str]], statuses: &[i32], said: &str) {
    for args in commands {
        let output = rockpack(dir, args);
        let (flat, error) = (program::stderr(&output), text(&output.stderr));
        let status = output.status.code().unwrap_or(-1);
        assert!(statuses.contains(&status), "{args:?}: {status} {error}");
        assert!(flat.contains(said), "{args:?} does not say {said:?}: {error}");
    }
}

const NAME: &str = "demo-1.0-py3-none-any.whl";

/// Commands that read a wheel in `dist`, with another one in `old`.
const COMMANDS: [&[&str]; 6] = [
    &["wheel", "verify", "dist"],
    &["wheel", "audit", "dist/demo-1.0-py3-none-any.whl"],
    &[
        "wheel",
        "retag",
        "--force",
        "--platform-tag",
        "linux_x86_64",
        "dist/demo-1.0-py3-none-any.whl",
    ],
    &["index", "write", "dist"],
    &["diff", "old", "dist"],
    &["wheel", "promote", "--manifest", "built-in", "dist", "--to", "2", "-o", "out"],
];

fn place(make: impl FnOnce(&Path)) -> TempDir {
    let dir = TempDir::new().unwrap();
    for name in ["dist", "old"] {
        fs_err::create_dir(dir.path().join(name)).unwrap();
    }
    wheel("demo", "any").write(&dir.path().join("old"));
    make(&dir.path().join("dist"));
    dir
}

#[test]
fn irregular_files_are_named_without_waiting() {
    let dir = place(|dist| fifo(&dist.join(NAME)));
    let fifos = [COMMANDS[0], COMMANDS[1], COMMANDS[2], COMMANDS[4], COMMANDS[5]];
    all_say(dir.path(), &fifos, &[1, 2], &format!("dist/{NAME}` is a FIFO, not a regular file"));

    let dir = place(|dist| fs_err::create_dir(dist.join(NAME)).unwrap());
    let said = format!("dist/{NAME}` is a directory, not a regular file");
    all_say(dir.path(), &[COMMANDS[0], COMMANDS[4], COMMANDS[5]], &[1, 2], &said);

    let dir = place(|dist| {
        wheel("demo", "any").write(dist);
        fifo(&dist.join("SHA256SUMS"));
        fifo(&dist.join(".rockpack-index.json"));
        fifo(&dist.join("index.html"));
    });
    let verified = rockpack(dir.path(), COMMANDS[0]);
    assert!(verified.status.success(), "a list that is no file is no list");
    let output = rockpack(dir.path(), COMMANDS[3]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fifo(&dir.path().join(format!("dist/{NAME}.yanked")));
    let said = format!("dist/{NAME}.yanked` is a FIFO, not a regular file");
    all_say(dir.path(), &[COMMANDS[3]], &[2], &said);
}

#[test]
fn members_that_share_bytes_are_refused_by_every_reader() {
    let dir = place(|dist| {
        let mut wheel = wheel("demo", "any");
        for index in 0..2000 {
            wheel.add(Member::new(&format!("demo/{index}"), ""));
        }
        wheel.archive = Some(Box::new(overlapping));
        wheel.write(dist);
    });
    all_say(dir.path(), &COMMANDS, &[1, 2], "two of its members overlap");
}

/// Writes a wheel of 100 KB with a metadata file that unpacks to 64 MiB.
fn bomb(dist: &Path, file: &str) {
    let mut bomb: Wheel = wheel("demo", "any");
    if file == "RECORD" {
        bomb.record = Some(Box::new(|text| "x".repeat(64 << 20) + &text));
    } else {
        bomb.member(file).bytes.extend([b"\n".to_vec(), vec![b'x'; 64 << 20]].concat());
    }
    bomb.write(dist);
    let len = fs_err::metadata(dist.join(NAME)).unwrap().len();
    assert!(len < 100_000, "{len}");
}

#[test]
fn metadata_that_unpacks_to_more_than_its_limit_is_refused() {
    let dir = place(|dist| bomb(dist, "METADATA"));
    let readers = [COMMANDS[0], COMMANDS[3], COMMANDS[4]];
    all_say(dir.path(), &readers, &[1, 2], "longer than the limit of 2 MiB");
    let dir = place(|dist| bomb(dist, "WHEEL"));
    let readers = [COMMANDS[0], COMMANDS[2], COMMANDS[4]];
    all_say(dir.path(), &readers, &[1, 2], "longer than the limit of 2 MiB");
    let dir = place(|dist| bomb(dist, "RECORD"));
    let readers = [COMMANDS[0], COMMANDS[2]];
    all_say(dir.path(), &readers, &[1, 2], "longer than the limit of 32 MiB");
}

/// A fault of a text is a finding of `verify`; tags of an audit come from the binaries, and a
/// comparison needs whole texts.
#[test]
fn metadata_that_is_not_utf_8_stops_comparisons_and_no_audit() {
    let dir = place(|dist| {
        let mut wheel = wheel("demo", "any");
        wheel.member("METADATA").bytes.extend(b"Summary: caf\xe9\n");
        wheel.write(dist);
    });
    all_say(dir.path(), &[COMMANDS[0], COMMANDS[4]], &[1, 2], "not UTF-8");
    let output = rockpack(dir.path(), COMMANDS[1]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn readers_that_would_see_different_packages_are_not_asked() {
    let dir = place(|dist| {
        let mut wheel = wheel("demo", "any");
        wheel.add(Member::new("other-2.0.dist-info/METADATA", "Name: other\nVersion: 2.0\n"));
        wheel.write(dist);
    });
    let said = "it has several metadata directories";
    all_say(dir.path(), &COMMANDS, &[1, 2], said);

    let dir = place(|dist| {
        let mut wheel = wheel("demo", "any");
        wheel.add(Member::new("demo/data.txt", "other data\n"));
        wheel.write(dist);
    });
    all_say(dir.path(), &COMMANDS[1..], &[1, 2], "`demo/data.txt`: there twice");

    let dir = place(|dist| {
        let mut wheel = wheel("demo", "any");
        wheel.member("METADATA").tail = 3;
        wheel.write(dist);
    });
    let readers = [COMMANDS[0], COMMANDS[3], COMMANDS[4]];
    all_say(dir.path(), &readers, &[1, 2], "its compressed data is truncated");
}

/// Returns the name of an sdist's member with 1 MiB, packed in a few hundred bytes.
fn long_name() -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(1 << 20);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

#[test]
fn names_that_ask_for_memory_without_end_are_refused() {
    let dir = place(|dist| {
        let file = fs_err::File::create(dist.join("demo-1.0.tar.gz")).unwrap();
        let mut archive = GzEncoder::new(file, Compression::fast());
        let name = vec![b'n'; 1 << 20];
        for index in 0_u32..70 {
            archive.write_all(long_name().as_bytes()).unwrap();
            archive.write_all(&index.to_be_bytes().map(|byte| byte | 0x40)).unwrap();
            archive.write_all(&name[4..]).unwrap();
            let mut member = tar::Header::new_gnu();
            member.set_size(0);
            member.set_mode(0o644);
            member.set_cksum();
            archive.write_all(member.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    });
    let readers = [COMMANDS[0], COMMANDS[3], COMMANDS[4]];
    let said = "its names and pax records exceed the limit of 65 MiB";
    all_say(dir.path(), &readers, &[1, 2], said);
}
