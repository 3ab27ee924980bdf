//! Staging of outputs, which appear completely or not at all.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use base::cleanup::{self, Registration};
use base::names::RelPath;

mod crew;
mod directory;
mod disk;
mod error;
mod file;
mod journal;
mod lock;
mod syncing;
#[cfg(test)]
mod tests;

use directory::{create_dirs, remove_empty};
use journal::{Destination, Journal, OUTPUTS};
use lock::Lock;

pub use crew::{run_jobs, run_jobs_and_sync};
pub use error::StageError;
pub use file::StagedFile;
pub use syncing::SyncingFile;

/// Hidden directory for unfinished outputs, below the destination.
pub const PARTIAL: &str = ".rockpack-partial";
/// Directory of finished packages, below the destination.
pub const DIST: &str = "dist";

/// Destination, locked by one build, unchanged until the commit.
///
/// The next build removes leftovers of a killed build and undoes an interrupted change.
#[derive(Debug)]
pub struct Stage {
    dest: PathBuf,
    created: Vec<PathBuf>,
    lock: Lock,
    committed: bool,
    /// Dropped before the lock: cleanup must not remove another build's directory.
    registration: Option<Registration>,
}

impl Stage {
    /// Locks `dest`, and creates it if necessary.
    ///
    /// # Errors
    /// If `dest` is locked or not writable, or leftovers cannot be undone or removed.
    pub fn open(dest: &Path) -> Result<Self, StageError> {
        // The process cannot exit between creation and registration.
        let together = cleanup::undisturbed();
        let mut created = Vec::new();
        let lock = create_dirs(dest, &mut created).and_then(|()| Lock::take(dest));
        let lock = lock.inspect_err(|_| remove_empty(&created))?;
        let registration = Some(registered(lock.directory(), &created));
        drop(together);
        let stage = Self { dest: dest.to_owned(), created, lock, committed: false, registration };
        Journal::undo(stage.paths())?;
        stage.lock.clear()?;
        let outputs = stage.outputs();
        disk::create_dir(&outputs).map_err(StageError::context("create a directory", &outputs))?;
        Ok(stage)
    }

    /// Returns the destination.
    pub fn dest(&self) -> &Path {
        &self.dest
    }

    /// Creates the output `path`, from any thread.
    pub fn create(&self, path: &RelPath) -> Result<StagedFile, StageError> {
        let shown = self.dest.join(path.as_str());
        let place = self.place(path)?;
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&place);
        let file = file.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StageError::Twice { path: path.clone() },
            _ => StageError::new("create an output", &shown, source),
        })?;
        let mode = PermissionsExt::from_mode(0o644);
        file.set_permissions(mode)
            .map_err(StageError::context("set the mode of an output", &shown))?;
        Ok(StagedFile::new(file, shown))
    }

    /// Path for an output of other code.
    pub fn place(&self, path: &RelPath) -> Result<PathBuf, StageError> {
        let place = self.path(path);
        let parent = place.parent().unwrap_or(&place);
        // Not after cleanup removed the hidden directory.
        let _together = cleanup::undisturbed();
        fs::create_dir_all(parent).map_err(StageError::context(
            "create a directory for an output",
            &self.paths().final_path(path),
        ))?;
        Ok(place)
    }

    /// Moves closed `outputs` to their final places, and removes `gone` and emptied directories.
    ///
    /// The next [`Stage::open`] or [`repair`] undoes an interrupted change. Each output replaces an
    /// older file without a gap.
    ///
    /// # Errors
    /// If an output is missing, or a path cannot be changed. The destination is then unchanged.
    pub fn commit(mut self, outputs: &[RelPath], gone: &[RelPath]) -> Result<(), StageError> {
        outputs.iter().try_for_each(|path| self.check(path))?;
        let _whole = cleanup::undisturbed();
        let journal = Journal::new(&self.dest, outputs, gone);
        let result = self.change(&journal, outputs, gone).and_then(|()| Journal::end(self.paths()));
        if let Err(error) = result {
            return Err(match Journal::undo(self.paths()) {
                Ok(()) => error,
                Err(_) => StageError::HalfWay { dest: self.dest.clone(), source: Box::new(error) },
            });
        }
        self.committed = true;
        for path in gone {
            self.remove_empty_above(path);
        }
        Ok(())
    }

    /// Temporary path of the output `path`.
    pub fn path(&self, path: &RelPath) -> PathBuf {
        self.paths().output(path)
    }

    fn outputs(&self) -> PathBuf {
        self.lock.directory().join(OUTPUTS)
    }

    fn paths(&self) -> Destination<'_> {
        Destination { dest: &self.dest, hidden: self.lock.directory() }
    }

    fn final_dir(&self, path: &RelPath) -> PathBuf {
        path.parent().map_or_else(|| self.dest.clone(), |parent| self.dest.join(parent.as_str()))
    }

    fn check(&self, path: &RelPath) -> Result<(), StageError> {
        let (output, place) = (self.path(path), self.dest.join(path.as_str()));
        if fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir()) {
            return Err(StageError::Occupied { path: place });
        }
        disk::sync(&output).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StageError::Missing { path: path.clone() },
            _ => StageError::new("write an output to the disk", &place, source),
        })
    }

    fn change(
        &self,
        journal: &Journal,
        outputs: &[RelPath],
        gone: &[RelPath],
    ) -> Result<(), StageError> {
        journal.begin(self.paths())?;
        journal.make_directories(self.paths())?;
        for path in outputs {
            let place = self.paths().final_path(path);
            disk::rename(&self.path(path), &place)
                .map_err(StageError::context("put an output in place", &place))?;
        }
        for path in gone {
            let place = self.paths().final_path(path);
            disk::remove_file(&place)
                .map_err(StageError::context("remove a file of an earlier build", &place))?;
        }
        self.sync_directories(outputs.iter().chain(gone))
    }

    fn sync_directories<'p>(
        &self,
        changed: impl Iterator<Item = &'p RelPath>,
    ) -> Result<(), StageError> {
        let directories: BTreeSet<PathBuf> = changed.map(|path| self.final_dir(path)).collect();
        // Removed paths may be missing together with their directory.
        directories.iter().filter(|path| path.is_dir()).try_for_each(|path| {
            disk::sync(path).map_err(StageError::context("write a directory to the disk", path))
        })
    }

    fn remove_empty_above(&self, path: &RelPath) {
        let above = std::iter::successors(path.parent(), RelPath::parent);
        let _ = above
            .map(|directory| disk::remove_dir(&self.paths().final_path(&directory)))
            .take_while(Result::is_ok)
            .count();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.registration = None;
        // The next build undoes the change.
        if Journal::is_at(self.lock.directory()) {
            return;
        }
        // The next build reports errors.
        let _ = self.lock.clear();
        self.lock.release();
        if !self.committed {
            remove_empty(&self.created);
        }
    }
}

fn registered(hidden: &Path, created: &[PathBuf]) -> Registration {
    let (hidden, created) = (hidden.to_owned(), created.to_owned());
    cleanup::register_removal(move || {
        if Journal::is_at(&hidden) {
            return true;
        }
        let _ = fs::remove_dir_all(&hidden);
        created.iter().rev().for_each(|path| drop(fs::remove_dir(path)));
        fs::symlink_metadata(&hidden).is_err()
    })
}

/// Undoes an interrupted change.
pub fn repair(dest: &Path) -> Result<bool, StageError> {
    if !Journal::is_at(&dest.join(PARTIAL)) {
        return Ok(false);
    }
    Stage::open(dest).map(|_| true)
}
