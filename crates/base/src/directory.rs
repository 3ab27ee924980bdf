//! Entries of directories, in the order of their names.

use std::fs::{FileType, Metadata};
use std::io;
use std::path::Path;

use fs_err as fs;
use walkdir::{DirEntry, WalkDir};

/// Entries of a directory, sorted by name. Errors name it.
pub fn entries(dir: impl AsRef<Path>) -> io::Result<Vec<fs::DirEntry>> {
    let mut entries = fs::read_dir(dir.as_ref())?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

/// UTF-8 names in a directory, sorted.
pub fn names(dir: impl AsRef<Path>) -> io::Result<Vec<String>> {
    let entries = entries(dir)?;
    Ok(entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Returns true for a directory without entries.
pub fn is_empty(dir: impl AsRef<Path>) -> io::Result<bool> {
    Ok(fs::read_dir(dir.as_ref())?.next().transpose()?.is_none())
}

/// A directory, and all files, links and directories below it. Errors name the entry.
pub fn walk(root: &Path) -> impl Iterator<Item = io::Result<Entry>> {
    let root_len = root.components().count();
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    walk.map(move |entry| Ok(Entry { entry: entry?, root_len }))
}

/// Entries as of [`walk`], without entries that `enters` refuses and all below them.
pub fn walk_where(
    root: &Path,
    mut enters: impl FnMut(&Entry) -> bool,
) -> impl Iterator<Item = io::Result<Entry>> {
    let root_len = root.components().count();
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(move |entry| enters(&Entry { entry: entry.clone(), root_len }));
    walk.map(move |entry| Ok(Entry { entry: entry?, root_len }))
}

/// Entries as of [`walk`], with the targets of links in place of links.
///
/// # Errors
///
/// Fails if a link leads to a directory above it or to nothing.
pub fn walk_through_links(root: &Path) -> impl Iterator<Item = io::Result<Entry>> {
    let root_len = root.components().count();
    let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    walk.map(move |entry| Ok(Entry { entry: entry?, root_len }))
}

/// Entry of a walk, possibly the root.
#[derive(Debug)]
pub struct Entry {
    entry: DirEntry,
    root_len: usize,
}

impl Entry {
    /// Path, beginning with the root.
    pub fn path(&self) -> &Path {
        self.entry.path()
    }

    /// Path below the root.
    pub fn below(&self) -> &Path {
        let mut components = self.path().components();
        components.by_ref().take(self.root_len).for_each(drop);
        components.as_path()
    }

    /// Name, with `U+FFFD` for bytes that are not UTF-8.
    pub fn name(&self) -> String {
        self.entry.file_name().to_string_lossy().into_owned()
    }

    /// Number of directories above, including the root.
    pub fn depth(&self) -> usize {
        self.entry.depth()
    }

    /// Returns true for a name below the root that begins with a dot.
    pub fn is_hidden(&self) -> bool {
        self.depth() > 0 && self.entry.file_name().as_encoded_bytes().starts_with(b".")
    }

    /// Kind of entry.
    pub fn file_type(&self) -> FileType {
        self.entry.file_type()
    }

    /// Metadata of the entry.
    pub fn metadata(&self) -> io::Result<Metadata> {
        Ok(self.entry.metadata()?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn lists_entries_sorted_and_links_as_entries() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        assert!(entries(&root).unwrap_err().to_string().contains("root"));
        assert!(walk(&root).next().unwrap().unwrap_err().to_string().contains("root"));
        fs::create_dir_all(root.join("b/inner")).unwrap();
        assert!(is_empty(root.join("b/inner")).unwrap() && !is_empty(&root).unwrap());
        for file in ["c", "a", "b/inner/.hidden", "b/file"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink("b", root.join("link")).unwrap();
        assert_eq!(names(&root).unwrap(), ["a", "b", "c", "link"]);
        let below = |entry: io::Result<Entry>| entry.unwrap().below().display().to_string();
        let entries: Vec<String> = walk(&root).map(below).collect();
        assert_eq!(entries, ["", "a", "b", "b/file", "b/inner", "b/inner/.hidden", "c", "link"]);
        let selected: Vec<String> =
            walk_where(&root, |entry| !entry.is_hidden() && entry.name() != "c")
                .map(below)
                .collect();
        assert_eq!(selected, ["", "a", "b", "b/file", "b/inner", "link"]);
        let files = walk_through_links(&root).filter(|e| e.as_ref().unwrap().file_type().is_file());
        let files: Vec<String> = files.map(below).collect();
        let expected = ["a", "b/file", "b/inner/.hidden", "c", "link/file", "link/inner/.hidden"];
        assert_eq!(files, expected);
    }
}
