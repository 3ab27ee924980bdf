//! Outputs appear whole, under their final names, or not at all.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::names::RelPath;

mod file;
mod lock;
#[cfg(test)]
mod tests;

pub use file::StagedFile;
use lock::Lock;

/// The hidden directory below the destination in which outputs grow.
pub const PARTIAL: &str = ".rockpack-partial";
/// The directory below the destination in which finished packages are.
pub const DIST: &str = "dist";

/// Why outputs could not be made or put in place.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Another build writes to the same destination.
    #[error("another build is writing to `{}`: wait for it, or choose another destination", .dest.display())]
    Busy {
        /// The destination.
        dest: PathBuf,
    },
    /// The destination, or what lies above it, is a file.
    #[error("`{}` is not a directory, packages cannot be written there", .path.display())]
    NotADirectory {
        /// The path that is a file.
        path: PathBuf,
    },
    /// The destination may not be written.
    #[error("no permission to write to `{}`", .path.display())]
    NotWritable {
        /// The destination.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The destination is on a file system that nobody may write.
    #[error("`{}` is on a read-only file system", .path.display())]
    ReadOnly {
        /// The destination.
        path: PathBuf,
    },
    /// The file system of the destination has no room.
    #[error("the disk that holds `{}` is full", .path.display())]
    Full {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// One output was made twice.
    #[error("the output `{path}` is made twice")]
    Twice {
        /// Its path below the destination.
        path: RelPath,
    },
    /// An output was promised and not made.
    #[error("the output `{path}` was never made")]
    Missing {
        /// Its path below the destination.
        path: RelPath,
    },
    /// An output's place is taken by a directory.
    #[error("`{}` is a directory, an output cannot take its name", .path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// Anything else; the cause says which operation and which path.
    #[error("failed to {doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system says, with the path.
        source: io::Error,
    },
}

impl StageError {
    /// What an error at `path` while `doing` something means to the one who reads it.
    fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path, source },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::PermissionDenied => Self::NotWritable { path, source },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { doing, source },
        }
    }

    fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(doing, path, source)
    }
}

/// A destination directory that one build has to itself.
///
/// Outputs grow in a hidden directory below it and get their names when the stage is
/// committed. Dropped before that, it leaves the destination as it was. What a killed build
/// left is removed by the next.
#[derive(Debug)]
pub struct Stage {
    dest: PathBuf,
    /// Directories that did not exist before, outermost first.
    created: Vec<PathBuf>,
    lock: Lock,
    committed: bool,
}

impl Stage {
    /// Opens `dest` for one build, creating it if it does not exist.
    ///
    /// # Errors
    /// When another build has it open, when it is no directory or may not be written, and when
    /// what a killed build left cannot be removed.
    pub fn open(dest: &Path) -> Result<Self, StageError> {
        let mut created = Vec::new();
        let lock = create_dirs(dest, &mut created).and_then(|()| Lock::take(dest));
        let lock = lock.inspect_err(|_| remove_empty(&created))?;
        let stage = Self { dest: dest.to_owned(), created, lock, committed: false };
        stage.lock.clear()?;
        create_dir(&stage.outputs())?;
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
        let place = self.outputs().join(path.as_str());
        let parent = place.parent().unwrap_or(&place);
        fs::create_dir_all(parent).map_err(StageError::at("create a directory for an output", &shown))?;
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&place);
        let file = file.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StageError::Twice { path: path.clone() },
            _ => StageError::new("create an output", &shown, source),
        })?;
        let mode = PermissionsExt::from_mode(0o644);
        file.set_permissions(mode).map_err(StageError::at("set the mode of an output", &shown))?;
        Ok(StagedFile::new(file, shown))
    }

    /// Puts `outputs` in place, all of which have been created here and closed.
    ///
    /// Then deletes what earlier builds left: files in `dist/` and in its directories for which
    /// `is_ours` holds and that are not among `outputs`. Gives their paths, sorted.
    ///
    /// # Errors
    /// When an output was never made or cannot be put in place. Whatever can be known before
    /// the first output is moved is checked then; should moving fail later, those moved stay.
    pub fn commit(mut self, outputs: &[RelPath], is_ours: impl Fn(&RelPath) -> bool) -> Result<Vec<RelPath>, StageError> {
        outputs.iter().try_for_each(|path| self.check(path))?;
        for path in outputs {
            create_dirs(self.final_dir(path).as_path(), &mut self.created)?;
        }
        self.committed = true;
        outputs.iter().try_for_each(|path| self.put_in_place(path))?;
        let stale = self.remove_stale(outputs, is_ours)?;
        self.sync_directories(outputs)?;
        Ok(stale)
    }

    /// Puts `outputs` in place, one after the other in this order, and then deletes `gone`, paths below
    /// the destination, with the directories that become empty.
    ///
    /// Whoever reads meanwhile sees each file as it was or as it is, and finds what an output names if
    /// that comes before it.
    ///
    /// # Errors
    /// As [`Stage::commit`].
    pub fn replace(mut self, outputs: &[RelPath], gone: &[RelPath]) -> Result<(), StageError> {
        outputs.iter().try_for_each(|path| self.check(path))?;
        for path in outputs {
            create_dirs(self.final_dir(path).as_path(), &mut self.created)?;
        }
        self.committed = true;
        outputs.iter().try_for_each(|path| self.put_in_place(path))?;
        for path in gone {
            let place = self.dest.join(path.as_str());
            fs::remove_file(&place).map_err(StageError::at("remove what is no longer named", &place))?;
            let above = std::iter::successors(path.parent(), RelPath::parent);
            let _ = above.map(|directory| fs::remove_dir(self.dest.join(directory.as_str()))).take_while(Result::is_ok).count();
        }
        self.sync_directories(outputs)
    }

    /// Where the output grows that will be `path` below the destination.
    pub fn path(&self, path: &RelPath) -> PathBuf {
        self.outputs().join(path.as_str())
    }

    fn outputs(&self) -> PathBuf {
        self.lock.directory().join("outputs")
    }

    fn final_dir(&self, path: &RelPath) -> PathBuf {
        path.parent().map_or_else(|| self.dest.clone(), |parent| self.dest.join(parent.as_str()))
    }

    /// Checks that an output was made and can get its name, and that its bytes are on the disk.
    fn check(&self, path: &RelPath) -> Result<(), StageError> {
        let place = self.dest.join(path.as_str());
        if fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir()) {
            return Err(StageError::Occupied { path: place });
        }
        let file = fs::File::open(self.outputs().join(path.as_str())).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StageError::Missing { path: path.clone() },
            _ => StageError::new("open an output", &place, source),
        })?;
        file.sync_all().map_err(StageError::at("write an output to the disk", &place))
    }

    fn put_in_place(&self, path: &RelPath) -> Result<(), StageError> {
        let place = self.dest.join(path.as_str());
        fs::rename(self.outputs().join(path.as_str()), &place).map_err(StageError::at("put an output in place", &place))
    }

    /// Makes the new names last through a power cut.
    fn sync_directories(&self, outputs: &[RelPath]) -> Result<(), StageError> {
        let directories: BTreeSet<PathBuf> = outputs.iter().map(|path| self.final_dir(path)).collect();
        let sync = |path: &PathBuf| fs::File::open(path)?.sync_all();
        directories.iter().try_for_each(|path| sync(path).map_err(StageError::at("write a directory to the disk", path)))
    }

    fn remove_stale(&self, outputs: &[RelPath], is_ours: impl Fn(&RelPath) -> bool) -> Result<Vec<RelPath>, StageError> {
        let mut stale = self.files_in_dist()?;
        stale.retain(|path| !outputs.contains(path) && is_ours(path));
        for path in &stale {
            let place = self.dest.join(path.as_str());
            fs::remove_file(&place).map_err(StageError::at("remove an output of an earlier build", &place))?;
            // A family's directory that is empty now goes too; one that is not, stays.
            if let Some(family) = place.parent().filter(|_| path.depth() == 2) {
                let _ = fs::remove_dir(family);
            }
        }
        Ok(stale)
    }

    /// The files in `dist/` and in its directories, sorted. Names that are no paths of ours are left out.
    fn files_in_dist(&self) -> Result<Vec<RelPath>, StageError> {
        let root = self.dest.join(DIST);
        if !root.is_dir() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(&root).min_depth(1).max_depth(2).sort_by_file_name() {
            let entry = entry.map_err(|e| StageError::new("list earlier outputs", &root, e.into()))?;
            let below = entry.path().strip_prefix(&self.dest).ok().and_then(Path::to_str);
            if !entry.file_type().is_dir() {
                found.extend(below.and_then(|path| path.parse::<RelPath>().ok()));
            }
        }
        found.sort();
        Ok(found)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure; the next build tries again.
        let _ = self.lock.clear();
        self.lock.release();
        if !self.committed {
            remove_empty(&self.created);
        }
    }
}

fn create_dir(path: &Path) -> Result<(), StageError> {
    fs::create_dir(path).map_err(StageError::at("create a directory", path))
}

/// Creates `path` and what is missing above it, and adds what it created to `created`.
fn create_dirs(path: &Path, created: &mut Vec<PathBuf>) -> Result<(), StageError> {
    match fs::create_dir(path) {
        Ok(()) => created.push(path.to_owned()),
        Err(_) if path.is_dir() => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(StageError::NotADirectory { path: path.to_owned() }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(parent) => {
                create_dirs(parent, created)?;
                create_dirs(path, created)?;
            }
            None => return Err(StageError::new("create a directory", path, e)),
        },
        Err(e) => return Err(StageError::new("create a directory", path, e)),
    }
    Ok(())
}

/// Removes these directories, innermost first, unless something else has moved in.
fn remove_empty(created: &[PathBuf]) {
    for path in created.iter().rev() {
        let _ = fs::remove_dir(path);
    }
}
