use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::workers::run_parallel;
use crate::mapped::map;
use crate::patch::{self, History, patch_name};
use crate::simple::{self, IndexError, Local};
use base::hash::Sha256;
use base::names::RelPath;
use base::partial::{self, ORDINARY, PartialFile};
use base::regular;

/// Size of the longest header of a frame.
const HEADER: u64 = 18;

/// Wheel with a predecessor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Path.
    pub package: RelPath,
    /// Path of the predecessor.
    pub from: RelPath,
    /// Size in bytes.
    pub size: u64,
    /// Size of the patch, if it saves half.
    pub patch: Option<u64>,
}

const PREFIX: &str = ".rockpack-delta-";

/// Reason of missing patches.
#[derive(Debug, thiserror::Error)]
pub enum DeltaError {
    /// Unreadable directory.
    #[error(transparent)]
    Packages(#[from] IndexError),
    /// Unreadable wheel.
    #[error("cannot read `{}`", .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// Failed write.
    #[error("cannot write `{}`", .0.display())]
    Write(PathBuf, #[source] io::Error),
}

/// Writes patches beside the wheels below `new`, each from its predecessor below `old`, sorted by
/// path. Written patches stay after an error.
pub fn delta(old: &Path, new: &Path, jobs: usize) -> Result<Vec<Delta>, DeltaError> {
    let named = simple::package_files(old)?;
    let history = History::new(named.iter().map(|path| (path.file_name(), path)));
    let packages = simple::package_files(new)?;
    let directories: BTreeSet<Option<RelPath>> = packages.iter().map(RelPath::parent).collect();
    for below in directories {
        let directory = below.map_or_else(|| new.to_owned(), |below| new.join(below.as_str()));
        partial::remove_abandoned(&directory, PREFIX);
    }
    let pairs: Vec<(&RelPath, &RelPath)> = packages
        .iter()
        .filter_map(|package| Some((package, *history.before(package.file_name()).next()?)))
        .collect();
    run_parallel(&pairs, jobs, |&(package, from)| {
        let (size, patch) = write(&old.join(from.as_str()), &new.join(package.as_str()))?;
        Ok(Delta { package: package.clone(), from: from.clone(), size, patch })
    })
}

fn write(from: &Path, package: &Path) -> Result<(u64, Option<u64>), DeltaError> {
    let mapped = |path: &Path| {
        let bytes = regular::open(path).and_then(|file| map(&file));
        bytes.map_err(|error| DeltaError::Read(path.to_owned(), error))
    };
    let (old, new) = (mapped(from)?, mapped(package)?);
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let place = package.with_file_name(patch_name(&name, &Sha256::of(&old).to_string()));
    let unwritten = |error| DeltaError::Write(place.clone(), error);
    let patch = patch::encode(&old, &new).map_err(unwritten)?;
    match &patch {
        Some(patch) => write_patch(&place, patch).map_err(unwritten)?,
        // Patch of an older build.
        None if place.exists() => fs::remove_file(&place).map_err(unwritten)?,
        None => {}
    }
    Ok((new.len() as u64, patch.map(|patch| patch.len() as u64)))
}

fn write_patch(place: &Path, patch: &[u8]) -> io::Result<()> {
    let directory = place.parent().unwrap_or(place);
    let mut file = PartialFile::locked(directory, PREFIX, ORDINARY)?;
    file.write_all(patch)?;
    file.sync()?;
    file.persist(place).map(drop)
}

/// A patch for another size.
pub(super) fn other_patch(locals: &[Local]) -> Option<&Path> {
    let is_other = |local: &Local, patch: &Path| {
        let mut head = Vec::new();
        let file = regular::open(patch);
        let read = file.and_then(|file| file.take(HEADER).read_to_end(&mut head));
        read.is_err() || patch::size_after(&head) != Some(local.size())
    };
    let patches = locals.iter().flat_map(|local| local.patches.iter().map(move |p| (local, p)));
    patches
        .map(|(local, path)| (local, &**path))
        .find(|(l, path)| is_other(l, path))
        .map(|(_, p)| p)
}
