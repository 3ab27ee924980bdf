//! Download of archives into a directory: each whole or not at all.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use rayon::prelude::*;
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::remote::RemoteArchive;
use base::directory;
use base::hash::{self, Hashed, Sum};
use base::partial::{self, PartialFile};
use base::regular;
use base::source::{Code, Problem, Problems};
use base::text::human_size;
use catalog::{Demands, Expected, LockedArchive, Packed, ReadArchive, SIDECAR};

const PREFIX: &str = ".rockpack-fetch-";

/// A verified archive in the directory.
#[derive(Debug)]
pub struct Fetched {
    /// Key, size and SHA-256.
    pub archive: ReadArchive,
    /// The file existed before.
    pub kept: bool,
    /// Duration of transfer and verification.
    pub took: Duration,
}

/// Downloads archives and sidecars into the existing directory `dir`, on the caller's rayon pool.
/// Verified files stay after failures.
pub fn download(
    archives: &[RemoteArchive],
    dir: &Path,
    demands: &Demands,
) -> Result<Vec<Fetched>, Problems> {
    run_locked(archives, dir, |archive| fetch_archive(archive, dir, demands))
}

/// Does `work` for each item in parallel, with `dir` locked; reports all problems.
pub(super) fn run_locked<I: Sync, T: Send>(
    items: &[I],
    dir: &Path,
    work: impl Fn(&I) -> Result<T, Problem> + Sync,
) -> Result<Vec<T>, Problems> {
    let _lock = lock(dir)?;
    sweep(dir);
    let results: Vec<_> = items.par_iter().map(&work).collect();
    let (mut values, mut problems) = (Vec::new(), Problems::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn fetch_archive(
    archive: &RemoteArchive,
    dir: &Path,
    demands: &Demands,
) -> Result<Fetched, Problem> {
    let start = Instant::now();
    let expected = demands.expected(archive)?;
    let place = dir.join(archive.key());
    let unwritten = |e: &dyn std::fmt::Display| {
        let message = format!("cannot write {}: {e}", place.display());
        Problem::error(Code::Environment, message)
    };
    let existing = existing(archive, &place, expected);
    let locked = match &existing {
        Some(locked) => locked.clone(),
        None => fetch(archive, dir, &place, demands, expected, &unwritten)?,
    };
    demands.check(archive, expected, &locked)?;
    let text = archive.sidecar().map_err(|e| unread(&e))?;
    let sidecar = dir.join(format!("{}{SIDECAR}", archive.key()));
    match text {
        Some(text) if fs::read_to_string(&sidecar).is_ok_and(|old| old == text) => {}
        Some(text) => write_file(dir, &sidecar, text.as_bytes()).map_err(|e| unwritten(&e))?,
        // A stale sidecar belongs to another archive.
        None if sidecar.exists() => fs::remove_file(&sidecar).map_err(|e| unwritten(&e))?,
        None => {}
    }
    Ok(Fetched {
        archive: ReadArchive { locked, is_verified: expected.archive.is_some() },
        kept: existing.is_some(),
        took: start.elapsed(),
    })
}

fn unread(error: &io::Error) -> Problem {
    Problem::error(Code::UnreadableArtifact, error.to_string())
}

fn existing(archive: &RemoteArchive, place: &Path, expected: Expected) -> Option<LockedArchive> {
    let expected = expected.archive?;
    let file = regular::open_unlinked(place).ok()?;
    if file.metadata().ok()?.len() != archive.size() {
        return None;
    }
    let Sum { sha256, size } = hash::of_reader(file).ok()?;
    (sha256 == expected).then(|| LockedArchive { key: archive.key().to_owned(), size, sha256 })
}

fn fetch(
    archive: &RemoteArchive,
    dir: &Path,
    place: &Path,
    demands: &Demands,
    expected: Expected,
    unwritten: &dyn Fn(&dyn std::fmt::Display) -> Problem,
) -> Result<LockedArchive, Problem> {
    let locked = |Sum { sha256, size }| {
        let downloaded = LockedArchive { key: archive.key().to_owned(), size, sha256 };
        demands.check(archive, expected, &downloaded).map(|()| downloaded)
    };
    let body = archive.open().map_err(|e| unread(&e))?;
    Saving { dir, place, unread: &unread, unwritten: &|e| unwritten(e) }.save(body, locked)
}

/// A file that appears once it is whole and checked.
pub(super) struct Saving<'s> {
    pub dir: &'s Path,
    pub place: &'s Path,
    pub unread: &'s dyn Fn(&io::Error) -> Problem,
    pub unwritten: &'s dyn Fn(&io::Error) -> Problem,
}

impl Saving<'_> {
    pub fn save<T>(
        &self,
        body: impl Read,
        check: impl FnOnce(Sum) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let (unread, unwritten) = (self.unread, self.unwritten);
        let file = PartialFile::new(self.dir, PREFIX, partial::ORDINARY);
        let mut file = file.map_err(|e| unwritten(&e))?;
        let mut bytes = Hashed::new(body);
        if let Err(error) = io::copy(&mut bytes, &mut file) {
            return Err(if bytes.has_failed() { unread(&error) } else { unwritten(&error) });
        }
        let checked = check(bytes.read_to_end().map_err(|e| unread(&e))?)?;
        file.sync().map_err(|e| unwritten(&e))?;
        file.persist(self.place).map_err(|e| unwritten(&e))?;
        Ok(checked)
    }
}

pub(super) fn write_file(dir: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = PartialFile::new(dir, PREFIX, partial::ORDINARY)?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}

/// Locks the directory against other downloads.
fn lock(dir: &Path) -> Result<OwnedFd, Problem> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(dir, flags, Mode::empty());
    let locked = directory.and_then(|directory| {
        flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        Ok(directory)
    });
    locked.map_err(|error| {
        let why = if error == Errno::WOULDBLOCK {
            "another program fetches into it".to_owned()
        } else {
            io::Error::from(error).to_string()
        };
        Problem::error(Code::Environment, format!("cannot fetch into {}: {why}", dir.display()))
    })
}

fn sweep(dir: &Path) {
    let names = directory::names(dir).unwrap_or_default();
    let leftovers = names.iter().filter(|name| name.starts_with(PREFIX));
    leftovers.for_each(|name| _ = fs::remove_file(dir.join(name)));
}

/// Checks the disk space for missing archives.
pub fn check_room(archives: &[RemoteArchive], dir: &Path) -> Result<(), Problem> {
    let is_there = |archive: &&RemoteArchive| {
        fs::metadata(dir.join(archive.key())).is_ok_and(|metadata| metadata.len() == archive.size())
    };
    let needed: u64 = archives.iter().filter(|a| !is_there(a)).map(RemoteArchive::size).sum();
    let room = rustix::fs::statvfs(dir).map_or(u64::MAX, |stat| stat.f_bavail * stat.f_frsize);
    if needed <= room {
        return Ok(());
    }
    let (needed, room) = (human_size(needed), human_size(room));
    let message =
        format!("{} has {room} of free space, but the archives need {needed}", dir.display());
    Err(Problem::error(Code::Environment, message))
}
