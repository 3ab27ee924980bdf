//! Outputs appear whole, under their final names, or not at all.

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
mod settling;
#[cfg(test)]
mod tests;

use directory::{create_dirs, remove_empty};
use journal::{Destination, Journal, OUTPUTS};
use lock::Lock;

pub use crew::{done, written};
pub use error::StageError;
pub use file::StagedFile;
pub use settling::SettlingFile;

/// The hidden directory below the destination in which outputs grow.
pub const PARTIAL: &str = ".rockpack-partial";
/// The directory below the destination in which finished packages are.
pub const DIST: &str = "dist";

/// A destination directory that one build has to itself.
///
/// Outputs grow in a hidden directory below it and get their names when the stage is
/// committed. Dropped before that, it leaves the destination as it was. What a killed build
/// left is removed by the next; a change that was interrupted is undone.
#[derive(Debug)]
pub struct Stage {
    dest: PathBuf,
    /// Directories that did not exist before, outermost first.
    created: Vec<PathBuf>,
    lock: Lock,
    committed: bool,
    /// Gone before the lock is, so that nobody else's directory is removed.
    registration: Option<Registration>,
}

impl Stage {
    /// Opens `dest` for one build, creating it if it does not exist.
    ///
    /// # Errors
    /// When another build has it open, when it is no directory or may not be written, and when
    /// what a killed build left cannot be undone or removed.
    pub fn open(dest: &Path) -> Result<Self, StageError> {
        // What is made here is registered before the process can be told to end.
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
        disk::create_dir(&outputs).map_err(StageError::at("create a directory", &outputs))?;
        Ok(stage)
    }

    /// The destination.
    pub fn dest(&self) -> &Path {
        &self.dest
    }

    /// Creates the output that will be `path` below the destination. May be called from any thread.
    ///
    /// # Errors
    /// When there is one of this name already, and when it cannot be created.
    pub fn create(&self, path: &RelPath) -> Result<StagedFile, StageError> {
        let shown = self.dest.join(path.as_str());
        let place = self.place(path)?;
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&place);
        let file = file.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StageError::Twice { path: path.clone() },
            _ => StageError::new("create an output", &shown, source),
        })?;
        let mode = PermissionsExt::from_mode(0o644);
        file.set_permissions(mode).map_err(StageError::at("set the mode of an output", &shown))?;
        Ok(StagedFile::new(file, shown))
    }

    /// Where an output grows that somebody else makes; the directory that it is in is there.
    ///
    /// # Errors
    /// When that directory cannot be made.
    pub fn place(&self, path: &RelPath) -> Result<PathBuf, StageError> {
        let place = self.path(path);
        let parent = place.parent().unwrap_or(&place);
        // Not once the hidden directory has been removed.
        let _together = cleanup::undisturbed();
        fs::create_dir_all(parent)
            .map_err(StageError::at("create a directory for an output", &self.paths().at(path)))?;
        Ok(place)
    }

    /// Puts `outputs` in place, all of which have been created here and closed, and removes `gone`: paths
    /// below the destination, with the directories that become empty.
    ///
    /// That is one change: it happens or it does not, also when the process is killed in it; then the
    /// next [`Stage::open`] or [`repair`] undoes it. Outputs appear in their order, each in the place of
    /// an older one without a moment in which neither is there, and before anything is removed.
    ///
    /// # Errors
    /// When an output was never made or cannot be put in place, and when something that is to go cannot
    /// be removed. The destination is then as it was.
    pub fn commit(mut self, outputs: &[RelPath], gone: &[RelPath]) -> Result<(), StageError> {
        outputs.iter().try_for_each(|path| self.check(path))?;
        let _whole = cleanup::undisturbed();
        let journal = Journal::new(&self.dest, outputs, gone);
        let done = self.change(&journal, outputs, gone).and_then(|()| Journal::end(self.paths()));
        if let Err(error) = done {
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

    /// Where the output grows that will be `path` below the destination.
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

    /// Checks that an output was made and can get its name, and that its bytes are on the disk.
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

    /// The steps of a change, which its journal can undo at any of them.
    fn change(
        &self,
        journal: &Journal,
        outputs: &[RelPath],
        gone: &[RelPath],
    ) -> Result<(), StageError> {
        journal.begin(self.paths())?;
        journal.make_directories(self.paths())?;
        for path in outputs {
            let place = self.paths().at(path);
            disk::rename(&self.path(path), &place)
                .map_err(StageError::at("put an output in place", &place))?;
        }
        for path in gone {
            let place = self.paths().at(path);
            disk::remove_file(&place)
                .map_err(StageError::at("remove a file of an earlier build", &place))?;
        }
        self.sync_directories(outputs.iter().chain(gone))
    }

    /// Makes the new names last through a power cut.
    fn sync_directories<'p>(
        &self,
        changed: impl Iterator<Item = &'p RelPath>,
    ) -> Result<(), StageError> {
        let directories: BTreeSet<PathBuf> = changed.map(|path| self.final_dir(path)).collect();
        // What was to go may be gone already, with its directory.
        directories.iter().filter(|path| path.is_dir()).try_for_each(|path| {
            disk::sync(path).map_err(StageError::at("write a directory to the disk", path))
        })
    }

    /// Removes the directories above a file that is gone which are empty now.
    fn remove_empty_above(&self, path: &RelPath) {
        let above = std::iter::successors(path.parent(), RelPath::parent);
        let _ = above
            .map(|directory| disk::remove_dir(&self.paths().at(&directory)))
            .take_while(Result::is_ok)
            .count();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.registration = None;
        // A change that could not be undone: the next one who opens the destination undoes it.
        if Journal::is_at(self.lock.directory()) {
            return;
        }
        // Nobody is left to tell of a failure; the next build tries again.
        let _ = self.lock.clear();
        self.lock.release();
        if !self.committed {
            remove_empty(&self.created);
        }
    }
}

/// Has the hidden directory removed, and what was made for it, when the process is told to end.
fn registered(hidden: &Path, created: &[PathBuf]) -> Registration {
    let (hidden, created) = (hidden.to_owned(), created.to_owned());
    cleanup::removal(move || {
        if Journal::is_at(&hidden) {
            return true;
        }
        let _ = fs::remove_dir_all(&hidden);
        created.iter().rev().for_each(|path| drop(fs::remove_dir(path)));
        fs::symlink_metadata(&hidden).is_err()
    })
}

/// Undoes a change of `dest` that was interrupted, if there is one; tells whether there was.
///
/// # Errors
/// When it cannot be undone, or another build has the destination open.
pub fn repair(dest: &Path) -> Result<bool, StageError> {
    if !Journal::is_at(&dest.join(PARTIAL)) {
        return Ok(false);
    }
    Stage::open(dest).map(|_| true)
}
