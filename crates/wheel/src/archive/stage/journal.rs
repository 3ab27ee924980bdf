//! What is needed to undo a change of the destination, also by another process than the one that began it.
//!
//! A change keeps each file that it replaces or removes under a second name, below `old` in the
//! hidden directory. Then it writes the journal, which names all that is going to change. From
//! there on whoever finds a journal undoes what it names; the change has happened when its journal
//! is removed. Undoing may itself be interrupted: it can be begun again any number of times.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::directory::create_dirs;
use super::{StageError, disk};
use base::names::RelPath;

/// The journal's name in the hidden directory, and what it is called until it is whole.
const NAME: &str = "journal";
const UNFINISHED: &str = "journal.new";
/// Where the files are that a change replaces or removes.
const OLD: &str = "old";
/// Where outputs grow.
pub(super) const OUTPUTS: &str = "outputs";
/// How large a journal may be: paths of a million outputs.
const LARGEST: u64 = 64 << 20;

/// A change of a destination, by paths below it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    /// Directories that it makes, outermost first.
    made: Vec<RelPath>,
    /// Files that it puts where none is.
    added: Vec<RelPath>,
    /// Files that it replaces or removes: kept below `old`.
    kept: Vec<RelPath>,
}

/// A destination and its hidden directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    pub dest: &'a Path,
    pub hidden: &'a Path,
}

impl Journal {
    /// What changes when `outputs` are put in place and `gone` removed.
    pub fn new(dest: &Path, outputs: &[RelPath], gone: &[RelPath]) -> Self {
        let is_there = |path: &&RelPath| fs::symlink_metadata(dest.join(path.as_str())).is_ok();
        let (mut kept, added): (Vec<_>, Vec<_>) = outputs.iter().partition(is_there);
        kept.extend(gone.iter().filter(is_there));
        let above = |path: &RelPath| std::iter::successors(path.parent(), RelPath::parent);
        let missing: BTreeSet<RelPath> = outputs
            .iter()
            .flat_map(above)
            .filter(|directory| !dest.join(directory.as_str()).is_dir())
            .collect();
        let owned = |paths: Vec<&RelPath>| paths.into_iter().cloned().collect();
        Self { made: missing.into_iter().collect(), added: owned(added), kept: owned(kept) }
    }

    /// Keeps what changes and writes the journal down.
    pub fn begin(&self, place: Destination<'_>) -> Result<(), StageError> {
        for path in &self.kept {
            let (from, to) = (place.at(path), place.old(path));
            let parent = to.parent().unwrap_or(place.hidden);
            disk::create_dir_all(parent)
                .and_then(|()| disk::keep(&from, &to))
                .map_err(StageError::at("keep a file of an earlier build", &from))?;
        }
        let write = || -> io::Result<()> {
            let (text, unfinished) = (serde_json::to_vec(self)?, place.hidden.join(UNFINISHED));
            disk::write(&unfinished, &text)?;
            disk::rename(&unfinished, &place.journal())?;
            disk::sync(place.hidden)
        };
        write().map_err(StageError::at("write down what is going to change", place.dest))
    }

    /// Makes the directories that outputs need.
    pub fn make_directories(&self, place: Destination<'_>) -> Result<(), StageError> {
        self.made.iter().try_for_each(|path| create_dirs(&place.at(path), &mut Vec::new()))
    }

    /// The change has happened: nobody undoes it from now on.
    pub fn end(place: Destination<'_>) -> Result<(), StageError> {
        disk::remove_file(&place.journal())
            .map_err(StageError::at("remove the list of changes", place.dest))?;
        // The change stands; a power cut before this is on the disk undoes it, no more.
        let _ = disk::sync(place.hidden);
        Ok(())
    }

    /// Whether there is one.
    pub fn is_at(hidden: &Path) -> bool {
        fs::symlink_metadata(hidden.join(NAME)).is_ok()
    }

    /// Undoes the change of a journal that is there; without one there is nothing to undo.
    pub fn undo(place: Destination<'_>) -> Result<(), StageError> {
        let Some(journal) = Self::read(place)? else { return Ok(()) };
        let mut done = Ok(());
        for path in &journal.kept {
            let (old, there) = (place.old(path), place.at(path));
            if fs::symlink_metadata(&old).is_ok() {
                done = done.and(disk::rename(&old, &there));
            }
        }
        for path in journal.added.iter().filter(|path| !place.output(path).exists()) {
            done = done.and(disk::remove_file(&place.at(path)));
        }
        done.map_err(StageError::at("undo a change that was interrupted", place.dest))?;
        for path in journal.made.iter().rev() {
            let _ = disk::remove_dir(&place.at(path));
        }
        journal.sync(place);
        Self::end(place)
    }

    /// Makes the names that it changes last through a power cut, as far as the disk can.
    fn sync(&self, place: Destination<'_>) {
        let parent = |path: &RelPath| place.at(path).parent().map(Path::to_owned);
        let changed: BTreeSet<PathBuf> =
            self.added.iter().chain(&self.kept).filter_map(parent).collect();
        changed.iter().filter(|directory| directory.is_dir()).for_each(|directory| {
            let _ = disk::sync(directory);
        });
    }

    fn read(place: Destination<'_>) -> Result<Option<Self>, StageError> {
        let path = place.journal();
        let failed = |source| {
            StageError::new("read the list of changes that were interrupted", &path, source)
        };
        let Ok(found) = fs::symlink_metadata(&path) else { return Ok(None) };
        let ours = found.uid() == rustix::process::geteuid().as_raw();
        if !ours || !found.is_file() || found.len() > LARGEST {
            let what = "it is not a file that this user wrote: remove it";
            return Err(failed(io::Error::other(format!("`{}`: {what}", path.display()))));
        }
        let bytes = fs::read(&path).map_err(failed)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|e| {
            failed(io::Error::other(format!("`{}` is not a list of changes: {e}", path.display())))
        })
    }
}

impl Destination<'_> {
    fn journal(self) -> PathBuf {
        self.hidden.join(NAME)
    }

    /// The final place of a path below the destination.
    pub fn at(self, path: &RelPath) -> PathBuf {
        self.dest.join(path.as_str())
    }

    /// Where an output grows.
    pub fn output(self, path: &RelPath) -> PathBuf {
        self.hidden.join(OUTPUTS).join(path.as_str())
    }

    fn old(self, path: &RelPath) -> PathBuf {
        self.hidden.join(OLD).join(path.as_str())
    }
}
