//! Kept work of an earlier build: environment, object files, and the copy of the checkout.
//!
//! If only contents of files changed, these files are copied, and the build system compiles their
//! dependents. `run` lines are not run again: a change of a file that they changed, moved or can
//! read discards the work.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::lock::FETCHED;
use super::reach::CACHE;
use super::tree::{Files, file_line};
use super::used::Used;
use base::regular;
use plan::ProjectBuild;

const RECORD: &str = "work.json";
/// Limit of a record in bytes, because it is read into memory; it lists each file of a checkout.
const LONGEST_RECORD: u64 = 64 << 20;

const FRESH: [&str; 12] = [
    "tmp",
    "out",
    "wheelhouse",
    "dirty",
    "repair",
    "repaired",
    "taken",
    "sdists",
    "out-of-sdist",
    "pip-cache",
    FETCHED,
    CACHE,
];

/// Files that determine the requirements of a build; backends read lists of requirements.
fn is_setting(name: &str) -> bool {
    ["pyproject.toml", "setup.py", "setup.cfg"].contains(&name) || name.starts_with("requirements")
}

/// State of kept work.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Hash of inputs without contents of files.
    key: String,
    /// Mode and hash of each copied file.
    files: Files,
    /// Requirements and tools.
    pub used: Used,
}

impl Record {
    /// State of a checkout at the beginning of a build.
    pub fn new(key: &str, files: Files) -> Self {
        Self { key: key.to_owned(), files, used: Used::default() }
    }

    /// Writes the record; the work can be resumed from now on.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        fs::write(directory.join(RECORD), serde_json::to_string(self).map_err(io::Error::other)?)
    }
}

/// Returns true if an earlier build left work, whose requirements are installed.
pub(crate) fn exists(directory: &Path) -> bool {
    directory.join(RECORD).is_file()
}

pub(crate) fn tidy(directory: &Path) -> io::Result<()> {
    FRESH.map(|name| directory.join(name)).iter().try_for_each(|path| removed(path))
}

fn removed(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { Ok(()) }
}

/// Copies changed files into the copy `source`. If the work cannot be resumed, removes it and
/// returns `None`.
pub(crate) fn resume(
    directory: &Path,
    now: &Record,
    from: &Path,
    is_read: impl Fn(&Path) -> bool,
) -> io::Result<Option<Used>> {
    let source = directory.join("source");
    let before = read(directory);
    let resumed = before.and_then(|before| {
        let changed = changed(&before, now, &source)?;
        (!changed.iter().any(|path| is_read(path))).then_some((changed, before))
    });
    let Some((changed, before)) = resumed else {
        discard(directory)?;
        return Ok(None);
    };
    for path in changed {
        fs::remove_file(source.join(&path))?;
        // `fs::copy` sets a new time: object files are older.
        fs::copy(from.join(&path), source.join(&path))?;
    }
    let record =
        Record { key: now.key.clone(), files: now.files.clone(), used: before.used.clone() };
    record.write(directory)?;
    Ok(Some(before.used))
}

/// Returns true if `run` lines can read a file: it is named, or not in the directory of the
/// project.
pub(crate) fn is_read(project: &ProjectBuild, path: &Path) -> bool {
    let mut words = project.run.iter().flat_map(|command| &command.words);
    let below = project.subdirectory.as_ref();
    let outside = below.is_some_and(|below| !path.starts_with(below.as_str()));
    let named = words.any(|word| word.contains(&*path.to_string_lossy()));
    !project.run.is_empty() && (outside || named)
}

fn discard(directory: &Path) -> io::Result<()> {
    for name in ["source", "build", "env", "requires"] {
        removed(&directory.join(name))?;
    }
    // Project code may write into it, but not create it.
    fs::create_dir_all(directory.join("build"))?;
    match fs::remove_file(directory.join(RECORD)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn read(directory: &Path) -> Option<Record> {
    let text = regular::read_to_string(directory.join(RECORD), LONGEST_RECORD).ok()?;
    serde_json::from_str(&text).ok()
}

fn changed(before: &Record, now: &Record, source: &Path) -> Option<Vec<PathBuf>> {
    if before.key != now.key || !before.files.keys().eq(now.files.keys()) {
        return None;
    }
    let differs = |path: &&PathBuf| before.files[*path] != now.files[*path];
    let changed: Vec<PathBuf> = now.files.keys().filter(differs).cloned().collect();
    let is_plain = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let copied = file_line(&source.join(path)).ok().flatten();
        !is_setting(&name)
            && copied.as_ref() == Some(&before.files[path])
            && !now.files[path].starts_with("120000")
            && !before.files[path].starts_with("120000")
    };
    changed.iter().all(is_plain).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::super::tree::hashed;
    use super::*;

    const NAMES: [&str; 4] = ["a.pyx", "b.pyx", "setup.py", "requirements.txt"];

    fn record(key: &str, from: &Path) -> Record {
        Record::new(key, hashed(from, &NAMES.map(PathBuf::from)).unwrap())
    }

    fn resume(directory: &Path, now: &Record, from: &Path) -> io::Result<Option<Used>> {
        super::resume(directory, now, from, |_| false)
    }

    #[test]
    fn only_plain_changes_of_contents_are_resumed() {
        let dir = tempfile::tempdir().unwrap();
        let (from, work) = (dir.path().join("from"), dir.path().join("work"));
        for place in [&from, &work.join("source")] {
            fs::create_dir_all(place).unwrap();
            for name in NAMES {
                fs::write(place.join(name), "1").unwrap();
            }
        }
        fs::write(work.join("source/a.o"), "").unwrap();
        assert!(resume(&work, &record("k", &from), &from).unwrap().is_none(), "no record");
        assert!(!work.join("source").exists());
        for name in NAMES.into_iter().chain(["a.o"]) {
            fs::create_dir_all(work.join("source")).unwrap();
            fs::write(work.join("source").join(name), "1").unwrap();
        }
        record("k", &from).write(&work).unwrap();
        fs::write(from.join("a.pyx"), "2").unwrap();
        assert!(resume(&work, &record("k", &from), &from).unwrap().is_some());
        assert_eq!(fs::read_to_string(work.join("source/a.pyx")).unwrap(), "2");
        assert!(work.join("source/a.o").is_file());
        // A command changed the copy of a file that changed: its effect is unknown.
        fs::write(work.join("source/b.pyx"), "rendered").unwrap();
        assert!(resume(&work, &record("k", &from), &from).unwrap().is_some(), "b did not change");
        fs::write(from.join("b.pyx"), "2").unwrap();
        assert!(resume(&work, &record("k", &from), &from).unwrap().is_none());
        for change in ["setup.py", "requirements.txt", "a.pyx", "another key"] {
            fs::create_dir_all(work.join("source")).unwrap();
            for name in NAMES {
                fs::copy(from.join(name), work.join("source").join(name)).unwrap();
            }
            record("k", &from).write(&work).unwrap();
            if NAMES.contains(&change) {
                fs::write(from.join(change), "3").unwrap();
            }
            let key = if NAMES.contains(&change) { "k" } else { "other" };
            let is_read = |path: &Path| path == Path::new("a.pyx");
            let resumed = super::resume(&work, &record(key, &from), &from, is_read);
            assert!(resumed.unwrap().is_none(), "{change}");
        }
    }
}
