//! Copied tree with changing files, so that the artifacts stay as they are.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fs_err as fs;
use object::read::{Object, ObjectSection};
use object::{File, SectionKind};
use walkdir::WalkDir;

/// Distance of changed bytes, far below any block or chunk of a cache.
const STRIDE: usize = 64 << 10;

/// Copies the tree `from` to the new directory `to`, with modes and links.
pub fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    for entry in WalkDir::new(from).sort_by_file_name() {
        let entry = entry.map_err(|e| e.to_string())?;
        let path = to.join(entry.path().strip_prefix(from).map_err(|e| e.to_string())?);
        let kind = entry.file_type();
        let result = if kind.is_dir() {
            fs::create_dir_all(&path)
        } else if kind.is_symlink() {
            fs::read_link(entry.path())
                .and_then(|target| fs_err::os::unix::fs::symlink(target, &path))
        } else {
            fs::copy(entry.path(), &path).map(drop)
        };
        result.map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Old bytes of the changed files.
#[derive(Debug)]
pub struct Changed(Vec<(PathBuf, Vec<u8>)>);

impl Changed {
    /// Changes each file like a rebuild: throughout, but not in its structure. Each `round` writes
    /// other bytes.
    pub fn new(paths: &[PathBuf], round: usize) -> Result<Self, String> {
        let mut originals = Vec::new();
        for path in paths {
            let original = fs::read(path).map_err(|e| e.to_string())?;
            overwrite(path, &changed(&original, round))?;
            originals.push((path.clone(), original));
        }
        Ok(Self(originals))
    }

    /// Restores the files.
    pub fn restore(self) -> Result<(), String> {
        self.0.iter().try_for_each(|(path, bytes)| overwrite(path, bytes))
    }
}

/// Writes a file, even if it is read-only.
fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mode = fs::metadata(path).map_err(|e| e.to_string())?.permissions();
    fs::remove_file(path)
        .and_then(|()| fs::write(path, bytes))
        .and_then(|()| fs::set_permissions(path, mode))
        .map_err(|e| e.to_string())
}

fn changed(original: &[u8], round: usize) -> Vec<u8> {
    let (mut bytes, mask) = (original.to_vec(), round.to_le_bytes()[0].wrapping_add(1).max(1));
    for range in content(original) {
        let first = range.start + range.len().min(STRIDE) / 2;
        for at in (first..range.end).step_by(STRIDE) {
            bytes[at] ^= mask;
        }
    }
    bytes
}

/// Returns the ranges that may change: code and constants of an ELF file, all of any other file.
fn content(bytes: &[u8]) -> Vec<Range<usize>> {
    let whole = 0..bytes.len();
    let Ok(file) = File::parse(bytes) else { return Vec::from([whole]) };
    let kinds = [SectionKind::Text, SectionKind::ReadOnlyData, SectionKind::Data];
    let sections =
        file.sections().filter(|section| section.size() > 4096 && kinds.contains(&section.kind()));
    let inside = |(start, length): (u64, u64)| {
        let (start, end) =
            (usize::try_from(start).ok()?, usize::try_from(start.checked_add(length)?).ok()?);
        (end <= bytes.len()).then_some(start..end)
    };
    sections.filter_map(|section| section.file_range().and_then(inside)).collect()
}
