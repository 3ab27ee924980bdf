//! Where installers begin in a directory that `rockpack index` wrote pages in.

use std::path::Path;

use walkdir::WalkDir;

/// A page that an installer is given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryPage {
    /// The option of pip and uv that takes it.
    pub option: &'static str,
    /// Its path below the directory, without a `/` in front.
    pub path: String,
}

/// Indexes lie no deeper: `{run}-{platform}/python/{group}/simple`.
const DEEPEST: usize = 4;

impl EntryPage {
    /// Those of `directory`, sorted: each index, else the page of links at the top.
    pub fn all(directory: &Path) -> Vec<Self> {
        let mut entries: Vec<Self> = WalkDir::new(directory)
            .min_depth(1)
            .max_depth(DEEPEST)
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| {
                entry.file_name() == "simple" && entry.path().join("index.html").is_file()
            })
            .filter_map(|entry| {
                let path = entry.path().strip_prefix(directory).ok()?.to_str()?;
                Some(Self { option: "--index-url", path: format!("{path}/") })
            })
            .collect();
        entries.sort();
        if entries.is_empty() && directory.join("index.html").is_file() {
            entries.push(Self { option: "--find-links", path: String::new() });
        }
        entries
    }
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
    }
}
