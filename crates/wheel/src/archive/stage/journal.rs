//! Journal to undo a change of the destination, also from another process.
//!
//! A change keeps replaced and removed files below `old` in the hidden directory, then writes the
//! journal with all changed paths; removing the journal completes it. Undoing can be interrupted
//! and repeated.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::directory::create_dirs;
use super::{StageError, disk};
use base::names::RelPath;

const NAME: &str = "journal";
const UNFINISHED: &str = "journal.new";
const OLD: &str = "old";
pub(super) const OUTPUTS: &str = "outputs";
/// Paths of a million outputs.
const LARGEST: u64 = 64 << 20;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    made: Vec<RelPath>,
    added: Vec<RelPath>,
    kept: Vec<RelPath>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    pub dest: &'a Path,
    pub hidden: &'a Path,
}

impl Journal {
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

    /// Keeps changed files and writes the journal.
    pub fn begin(&self, place: Destination<'_>) -> Result<(), StageError> {
        for path in &self.kept {
            let (present, backup) = (place.final_path(path), place.old(path));
            let parent = backup.parent().unwrap_or(place.hidden);
            disk::create_dir_all(parent)
                .and_then(|()| disk::keep(&present, &backup))
                .map_err(StageError::context("keep a file of an earlier build", &present))?;
        }
        let write = || -> io::Result<()> {
            let (text, unfinished) = (serde_json::to_vec(self)?, place.hidden.join(UNFINISHED));
            disk::write(&unfinished, &text)?;
            disk::rename(&unfinished, &place.journal())?;
            disk::sync(place.hidden)
        };
        write().map_err(StageError::context("write the list of changes", place.dest))
    }

    pub(crate) fn make_directories(&self, place: Destination<'_>) -> Result<(), StageError> {
        self.made.iter().try_for_each(|path| create_dirs(&place.final_path(path), &mut Vec::new()))
    }

    /// From now on, the change is not undone.
    pub fn end(place: Destination<'_>) -> Result<(), StageError> {
        disk::remove_file(&place.journal())
            .map_err(StageError::context("remove the list of changes", place.dest))?;
        // Without this sync, a power failure can only undo the change.
        let _ = disk::sync(place.hidden);
        Ok(())
    }

    pub(crate) fn is_at(hidden: &Path) -> bool {
        fs::symlink_metadata(hidden.join(NAME)).is_ok()
    }

    pub(crate) fn undo(place: Destination<'_>) -> Result<(), StageError> {
        let Some(journal) = Self::read(place)? else { return Ok(()) };
        let mut result = Ok(());
        for path in &journal.kept {
            let (old, present) = (place.old(path), place.final_path(path));
            if fs::symlink_metadata(&old).is_ok() {
                result = result.and(disk::rename(&old, &present));
            }
        }
        for path in journal.added.iter().filter(|path| !place.output(path).exists()) {
            result = result.and(disk::remove_file(&place.final_path(path)));
        }
        result.map_err(StageError::context("undo an interrupted change", place.dest))?;
        for path in journal.made.iter().rev() {
            let _ = disk::remove_dir(&place.final_path(path));
        }
        journal.sync(place);
        Self::end(place)
    }

    fn sync(&self, place: Destination<'_>) {
        let parent = |path: &RelPath| place.final_path(path).parent().map(Path::to_owned);
        let changed: BTreeSet<PathBuf> =
            self.added.iter().chain(&self.kept).filter_map(parent).collect();
        changed.iter().filter(|directory| directory.is_dir()).for_each(|directory| {
            let _ = disk::sync(directory);
        });
    }

    fn read(place: Destination<'_>) -> Result<Option<Self>, StageError> {
        let path = place.journal();
        let failed =
            |source| StageError::new("read the list of interrupted changes", &path, source);
        let Ok(found) = fs::symlink_metadata(&path) else { return Ok(None) };
        let ours = found.uid() == rustix::process::geteuid().as_raw();
        if !ours || !found.is_file() || found.len() > LARGEST {
            let message = "this user did not write it; remove it";
            return Err(failed(io::Error::other(format!("`{}`: {message}", path.display()))));
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

    pub fn final_path(self, path: &RelPath) -> PathBuf {
        self.dest.join(path.as_str())
    }

    pub fn output(self, path: &RelPath) -> PathBuf {
        self.hidden.join(OUTPUTS).join(path.as_str())
    }

    fn old(self, path: &RelPath) -> PathBuf {
        self.hidden.join(OLD).join(path.as_str())
    }
}
