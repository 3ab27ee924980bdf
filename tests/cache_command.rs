//! `rockpack cache stats`, `prune` and `verify`, as used by people and scripts.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use base::hash::Sha256;
use cache::{Archive, Cache, ContentDigest, Fingerprint, Key, Stretch};
use fs_err as fs;
use tempfile::TempDir;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::{Level, Packed};

use crate::program::{command, text};

fn rockpack(dir: &Path, args: &[&str]) -> Output {
    let mut command = command(dir, &[&["cache"], args].concat());
    command.env("COLUMNS", "100").env("ROCKPACK_CACHE_DIR", dir.join("cache")).output().unwrap()
}

/// Returns the output of a successful command without messages; the directory's path is replaced by
/// `DIR`.
fn printed(dir: &Path, args: &[&str]) -> String {
    let output = rockpack(dir, args);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout).replace(dir.to_str().unwrap(), "DIR")
}

/// Fills a cache as two builds do: one of text and noise, one of more text.
fn filled(limit: u64) -> TempDir {
    let dir = TempDir::new().unwrap();
    let noise: Vec<u8> =
        (0_u32..300).flat_map(|n| *Sha256::of(&n.to_le_bytes()).as_bytes()).collect();
    for contents in [
        vec!["text ".repeat(10_000).into_bytes(), noise],
        vec!["more ".repeat(20_000).into_bytes()],
    ] {
        let cache = Cache::open(&dir.path().join("cache"), limit).unwrap();
        let (mut offer, mut bytes) = (cache.offer(), Vec::new());
        for data in contents {
            let (packed, content) =
                (Packed::new(&data, Level::Default), ContentDigest(Sha256::of(&data)));
            let (offset, len, crc) =
                (bytes.len() as u64, packed.bytes.len() as u64, Digest::of(&packed.bytes).crc);
            offer.stream(
                Key::new(content, "test"),
                &packed.digest,
                Stretch { offset, len, crc, method: packed.method },
            );
            offer.memo(Fingerprint(*content.0.as_bytes()), content);
            bytes.extend(packed.bytes);
        }
        let path = dir.path().join(format!("archive-{}", bytes.len()));
        fs::write(&path, bytes).unwrap();
        assert!(cache.finish(vec![Archive { path, offer }]).warnings.is_empty());
    }
    dir
}

fn segments(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("cache/rockpack-cache-1/segments"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    found.sort_by_key(|path| fs::metadata(path).unwrap().len());
    found
}

#[test]
fn stats_show_the_content_of_the_cache() {
    let dir = filled(5_000_000_000);
    let three_hours_ago = SystemTime::now() - Duration::from_mins(181);
    fs::OpenOptions::new()
        .write(true)
        .open(&segments(dir.path(), "idx")[0])
        .unwrap()
        .set_modified(three_hours_ago)
        .unwrap();
    let shown = printed(dir.path(), &["stats"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "cache       DIR/cache");
    assert!(
        lines[1].starts_with("size        10.") && lines[1].ends_with(" kB of 5.00 GB (below 1 %)"),
        "{shown}"
    );
    assert!(
        lines[2].starts_with("packed      3 files, ") && lines[2].ends_with(" kB out of 159 kB"),
        "{shown}"
    );
    assert_eq!(
        lines[3..],
        [
            "unchanged   3 files are known without a read",
            "segments    2",
            "last used   a moment ago; the oldest segment 3 hours ago"
        ]
    );
    assert_eq!(shown, printed(dir.path(), &["stats"]), "looking changes nothing");
}

#[test]
fn an_absent_cache_is_empty() {
    let dir = TempDir::new().unwrap();
    assert!(
        printed(dir.path(), &["stats"])
            .contains("size        0 B of 10.0 GB (0 %)\npacked      0 files, 0 B out of 0 B\n")
    );
    assert_eq!(printed(dir.path(), &["prune"]), "nothing to remove from DIR/cache; it is empty\n");
    assert_eq!(printed(dir.path(), &["verify"]), "0 packed files, 0 B, all intact\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was created");
}

#[test]
fn prune_keeps_the_most_recently_used_files() {
    let dir = filled(1_000_000);
    assert!(printed(dir.path(), &["prune"]).starts_with("nothing to remove from DIR/cache; 10."));
    assert!(printed(dir.path(), &["prune", "--to", "1kB"]).starts_with("removed 10."));
    assert_eq!(segments(dir.path(), "seg").len(), 1);
    assert!(printed(dir.path(), &["verify"]).starts_with("1 packed file, "));
    fs::create_dir(dir.path().join("cache/rockpack-pages-1")).unwrap();
    fs::write(dir.path().join("cache/rockpack-pages-1/page"), [0; 40]).unwrap();
    assert!(printed(dir.path(), &["prune", "--all"]).ends_with(" B from DIR/cache; it is empty\n"));
    assert!(!dir.path().join("cache/rockpack-pages-1").exists());
    assert_eq!((segments(dir.path(), "seg").len(), segments(dir.path(), "idx").len()), (0, 0));
    let conflicting = rockpack(dir.path(), &["prune", "--all", "--to", "1GB"]);
    assert_eq!(conflicting.status.code(), Some(2));
    let no_size = rockpack(dir.path(), &["prune", "--to", "a lot"]);
    assert!(
        no_size.status.code() == Some(2)
            && text(&no_size.stderr).contains("expected a size such as 500MB, 10GB or 2GiB")
    );
}

#[test]
fn verify_names_and_removes_damaged_files() {
    let dir = filled(1_000_000);
    assert!(printed(dir.path(), &["verify"]).starts_with("3 packed files, 9."));
    let large = segments(dir.path(), "seg").pop().unwrap();
    let mut bytes = fs::read(&large).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&large, &bytes).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(&segments(dir.path(), "seg")[0])
        .unwrap()
        .set_len(7)
        .unwrap();
    let output = rockpack(dir.path(), &["verify", "--message-format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    let lines: Vec<serde_json::Value> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines.iter().all(|line| line["code"] == "cache" && line["severity"] == "error"));
    assert!(
        lines[0]["message"]
            .as_str()
            .unwrap()
            .contains("is broken and was removed: it has 7 bytes instead of "),
        "{stderr}"
    );
    assert!(
        lines[1]["message"]
            .as_str()
            .unwrap()
            .ends_with("is damaged and was removed: its packed bytes changed"),
        "{stderr}"
    );
    assert_eq!(printed(dir.path(), &["verify"]).split(',').next(), Some("1 packed file"));
    assert_eq!(segments(dir.path(), "seg").len(), 1);
}

#[test]
fn stats_read_the_named_cache_and_refuse_unusable_ones() {
    let dir = filled(1_000_000);
    let named = printed(dir.path(), &["stats", "--cache", "elsewhere"]);
    assert!(named.starts_with("cache       elsewhere\n") && named.contains("packed      0 files"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    let output = command.args(["cache", "stats"]).env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ROCKPACK_CACHE_DIR"), "{}", text(&output.stderr));
    let file = dir.path().join("file");
    fs::create_dir_all(file.join("rockpack-cache-1")).unwrap();
    fs::write(file.join("rockpack-cache-1/segments"), "").unwrap();
    let output = rockpack(dir.path(), &["stats", "--cache", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot read the cache in"), "{}", text(&output.stderr));
}
