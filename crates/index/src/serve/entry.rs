//! Pages to pass to installers.

use std::path::{Path, PathBuf};

use crate::simple::Projects;
use base::directory::{Entry, walk_where};
use base::regular;

/// A page to pass to an installer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryPage {
    /// Installer option.
    pub option: &'static str,
    /// Path in the directory.
    pub path: String,
}

const LONGEST: u64 = 16 << 20;
/// Depth limit for indexes: `{run}-{platform}/python/{group}/simple`.
const DEEPEST: usize = 4;

impl EntryPage {
    /// Indexes in `directory`, sorted; without any, the page of links at the top.
    pub fn all(directory: &Path) -> Vec<Self> {
        let mut entries: Vec<Self> = indexes(directory)
            .iter()
            .filter_map(|index| {
                let path = index.strip_prefix(directory).ok()?.to_str()?;
                let slash = if path.is_empty() { "" } else { "/" };
                Some(Self { option: "--index-url", path: format!("{path}{slash}") })
            })
            .collect();
        entries.sort();
        if entries.is_empty() && directory.join("index.html").is_file() {
            entries.push(Self { option: "--find-links", path: String::new() });
        }
        entries
    }
}

/// Does not search inside indexes.
fn indexes(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let enters = |entry: &Entry| {
        let is_index = entry.file_type().is_dir() && is_index(entry.path());
        found.extend(is_index.then(|| entry.path().to_owned()));
        !is_index && entry.depth() < DEEPEST
    };
    walk_where(directory, enters).for_each(drop);
    found
}

/// Detects an index by its data, or by the name `simple`.
fn is_index(directory: &Path) -> bool {
    let leads_to_projects = || {
        let data = regular::read(directory.join("index.json"), LONGEST).ok();
        data.is_some_and(|data| Projects::parse(&data).is_ok())
    };
    let is_named_so = directory.file_name().is_some_and(|name| name == "simple");
    directory.join("index.html").is_file() && (is_named_so || leads_to_projects())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installers_begin_at_indexes_else_at_the_page_of_links() {
        let dir = tempfile::tempdir().unwrap();
        let said = || -> Vec<String> {
            let entries = EntryPage::all(dir.path()).into_iter();
            entries.map(|EntryPage { option, path }| format!("{option} {path}")).collect()
        };
        assert!(said().is_empty());
        fs_err::write(dir.path().join("index.html"), "").unwrap();
        assert_eq!(said(), ["--find-links "]);
        for index in ["b-x/python/g/simple", "a-x/python/simple"] {
            let index = dir.path().join(index);
            fs_err::create_dir_all(&index).unwrap();
            fs_err::write(index.join("index.html"), "").unwrap();
        }
        let expected = ["--index-url a-x/python/simple/", "--index-url b-x/python/g/simple/"];
        assert_eq!(said(), expected);
        let data = Projects(["x".to_owned()].into()).json().unwrap();
        for index in ["v5/core", ""] {
            let index = dir.path().join(index);
            fs_err::create_dir_all(&index).unwrap();
            fs_err::write(index.join("index.html"), "").unwrap();
            fs_err::write(index.join("index.json"), "{\"files\":[]}").unwrap();
            assert_eq!(said()[..2], expected);
            fs_err::write(index.join("index.json"), &data).unwrap();
        }
        assert_eq!(said(), ["--index-url "]);
        fs_err::remove_file(dir.path().join("index.html")).unwrap();
        assert_eq!(said(), [expected[0], expected[1], "--index-url v5/core/"]);
    }
}
