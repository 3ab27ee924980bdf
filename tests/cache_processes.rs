//! One cache and many processes, some of them killed; full and read-only disks.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base::hash::Sha256;
use cache::{
    Archive, Cache, CacheError, ContentDigest, DEFAULT_LIMIT, Key, Store, Stretch, Summary,
};
use fs_err as fs;
use tempfile::TempDir;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

use crate::program::{self, Run};
use workbench::skips::skip;

/// Variable with the role and the cache of a process started by a test.
const ROLE: &str = "ROCKPACK_TEST_ROLE";
const CACHE: &str = "ROCKPACK_TEST_CACHE";
/// Limit of the cache in a test: about two of its builds.
const LIMIT: u64 = 600_000;

fn content(number: u64) -> Vec<u8> {
    let size = 5000 + 100 * usize::try_from(number).unwrap();
    let hashes =
        (0_u64..).flat_map(|index| *Sha256::of(&(number << 32 | index).to_le_bytes()).as_bytes());
    hashes.take(size).collect()
}

fn key(data: &[u8]) -> Key {
    Key::new(ContentDigest(Sha256::of(data)), "stored")
}

/// Stores these contents as a build does. Panics if the cache returns other bytes.
fn build(
    dir: &Path,
    limit: u64,
    numbers: impl Iterator<Item = u64>,
) -> Result<Summary, CacheError> {
    let cache = Cache::open(dir, limit)?;
    let (mut offer, mut bytes) = (cache.offer(), Vec::new());
    for data in numbers.map(content) {
        if let Some(entry) = cache.find(&key(&data)) {
            assert!(cache.check(&entry), "an entry is damaged");
            let mut stored = vec![0; data.len()];
            cache.read_exact_at(&entry, 0, &mut stored).unwrap();
            assert!(stored == data && entry.digest == Digest::of(&data));
        } else {
            let digest = Digest::of(&data);
            let packed = Stretch {
                offset: bytes.len() as u64,
                len: digest.size,
                crc: digest.crc,
                method: Method::Store,
            };
            offer.stream(key(&data), &digest, packed);
            bytes.extend(data);
        }
    }
    let elsewhere = TempDir::new().unwrap();
    let path = elsewhere.path().join("archive");
    fs::write(&path, bytes).unwrap();
    Ok(cache.finish(vec![Archive { path, offer }]))
}

/// Entry point of started processes; without a role it returns at once.
#[test]
#[ignore = "other tests start it as a separate process"]
fn started_process() {
    let (Ok(role), Some(dir)) = (std::env::var(ROLE), std::env::var_os(CACHE).map(PathBuf::from))
    else {
        return;
    };
    if let Ok(seed) = role.parse::<u64>() {
        for round in 0..25 {
            // Ranges of processes overlap, so that they store some contents at the same time.
            let first = (seed * 13 + round * 7) % 60;
            let summary = build(&dir, LIMIT, first..first + 30).unwrap();
            assert!(summary.damaged == 0 && summary.warnings.is_empty(), "{summary:?}");
        }
    } else {
        Cache::open(&dir, DEFAULT_LIMIT).unwrap();
        // A build has a locked file like this while it copies a stream.
        let path = dir.join("rockpack-cache-1/tmp/growing");
        fs::write(&path, vec![1; 2_000_000]).unwrap();
        let growing = fs::File::open(&path).unwrap();
        growing.lock().unwrap();
        println!("\nwritten");
        std::io::stdin().read_exact(&mut [0]).unwrap();
        unreachable!("the test kills this process");
    }
}

fn start(role: &str, dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "cache_processes::started_process", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(CACHE, dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command about the cache in this directory.
fn cache(dir: &Path, args: &[&str]) {
    program::command(dir, &["cache"]).args(args).arg("--cache").arg(dir).succeed();
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let found = walkdir::WalkDir::new(dir.join("rockpack-cache-1"))
        .min_depth(2)
        .into_iter()
        .map(Result::unwrap);
    found.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

#[test]
fn many_processes_build_prune_and_verify_at_once() {
    let dir = TempDir::new().unwrap();
    let mut processes: Vec<Child> =
        (0..4).map(|seed| start(&seed.to_string(), dir.path())).collect();
    let mut rounds = 0;
    while processes.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        cache(dir.path(), &["verify"]);
        cache(dir.path(), if rounds % 3 == 0 { &["prune", "--to", "200kB"] } else { &["stats"] });
        rounds += 1;
    }
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.contains("1 passed"), "{stderr}");
    }
    cache(dir.path(), &["verify"]);
    cache(dir.path(), &["prune"]);
    let size: u64 = files(dir.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(rounds > 1 && size <= LIMIT, "{rounds} rounds, {size} bytes");
    assert!(
        !files(dir.path()).iter().any(|path| path.extension().is_none()),
        "no temporary file is left"
    );
}

#[test]
fn leftovers_of_a_killed_writer_are_invisible_and_removed() {
    let dir = TempDir::new().unwrap();
    let mut process = start("writer", dir.path());
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "written"), "the writer did not write its file");
    let during = build(dir.path(), DEFAULT_LIMIT, 0..2).unwrap();
    assert_eq!(
        (during.added, files(dir.path()).len()),
        (2, 3),
        "a build keeps the file of a running process"
    );
    process.kill().unwrap();
    process.wait().unwrap();
    let cache = Cache::look(dir.path()).unwrap();
    assert_eq!((cache.entries().len(), cache.broken().len()), (2, 0));
    assert!(cache.stats().unwrap().unfinished >= 2_000_000);
    let next = build(dir.path(), DEFAULT_LIMIT, 0..2).unwrap();
    assert_eq!((next.hits, next.damaged), (2, 0));
    assert_eq!(
        (Cache::look(dir.path()).unwrap().stats().unwrap().unfinished, files(dir.path()).len()),
        (0, 2)
    );
}

/// Small separate disk.
struct Disk(TempDir);

impl Disk {
    /// Mounts a disk of this many bytes; prints a note and returns `None` if mounting is not
    /// allowed.
    fn new(bytes: u64) -> Option<Self> {
        let disk = Self(TempDir::new().unwrap());
        if disk.mount(&["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]) {
            return Some(disk);
        }
        skip("caches on full disks", "the right to mount a tmpfs");
        None
    }

    fn mount(&self, arguments: &[&str]) -> bool {
        let status =
            Command::new("mount").args(arguments).arg(self.0.path()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).stderr(Stdio::null()).status();
    }
}

#[test]
fn a_full_disk_is_a_warning_and_the_unfinished_files_are_removed() {
    let Some(disk) = Disk::new(1 << 20) else { return };
    let dir = disk.0.path();
    let small = build(dir, DEFAULT_LIMIT, 0..20).unwrap();
    assert_eq!((small.added, small.warnings.len()), (20, 0));
    // More than 2 MB, on a disk of 1 MB.
    let large = build(dir, DEFAULT_LIMIT, 0..200).unwrap();
    assert_eq!((large.hits, large.added), (20, 0));
    assert!(large.warnings.iter().any(CacheError::is_full), "{:?}", large.warnings);
    assert_eq!(files(dir).len(), 2, "files that did not fit remain: {:?}", files(dir));
    let after = build(dir, DEFAULT_LIMIT, 0..25).unwrap();
    assert_eq!((after.hits, after.added, after.warnings.len()), (20, 5, 0));
    // The disk has no free byte.
    let rest = fs::write(dir.join("rest"), vec![0; 2 << 20]).unwrap_err();
    assert_eq!(rest.kind(), std::io::ErrorKind::StorageFull);
    match build(dir, DEFAULT_LIMIT, 0..40) {
        Ok(summary) => assert!(
            summary.hits == 25 && summary.warnings.iter().any(CacheError::is_full),
            "{summary:?}"
        ),
        Err(error) => assert!(error.is_full(), "{error}"),
    }
    assert!(Cache::prune(dir, 0).unwrap().bytes > 0, "prune works on a full disk");
}

#[test]
fn builds_cannot_open_a_read_only_cache_but_stats_can() {
    let Some(disk) = Disk::new(1 << 20) else { return };
    build(disk.0.path(), DEFAULT_LIMIT, 0..5).unwrap();
    assert!(disk.mount(&["-o", "remount,ro"]));
    let error = build(disk.0.path(), DEFAULT_LIMIT, 0..5).unwrap_err();
    assert!(error.to_string().starts_with("cannot open the cache in ") && !error.is_full());
    cache(disk.0.path(), &["stats"]);
    cache(disk.0.path(), &["verify"]);
    assert!(Cache::prune(disk.0.path(), 0).is_err());
}
