//! Hash of the files of a checkout.
//!
//! SHA-256 of a text with one line per file, sorted by path bytes: `MODE SHA256<tab>PATH`. `MODE`
//! is git's (100644, 100755, or 120000 for a link), `SHA256` the hash of the content or of a link's
//! target path.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use base::hash::Sha256;
use base::regular;

/// Lines of files, `MODE SHA256`.
pub(crate) type Files = BTreeMap<PathBuf, String>;

/// Reads the files of a checkout; skips other file types.
pub(crate) fn hashed(checkout: &Path, files: &[PathBuf]) -> io::Result<Files> {
    let line = |path: &PathBuf| {
        let line = file_line(&checkout.join(path)).transpose()?;
        Some(line.map(|line| (path.clone(), line)))
    };
    files.iter().filter_map(line).collect()
}

pub(crate) fn tree_hash(files: &Files) -> String {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by(|(a, _), (b, _)| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    let mut text = Vec::new();
    for (path, line) in files {
        text.extend(format!("{line}\t").bytes());
        text.extend(path.as_os_str().as_bytes());
        text.push(b'\n');
    }
    Sha256::of(&text).to_string()
}

pub(crate) fn file_line(path: &Path) -> io::Result<Option<String>> {
    Ok(file_hash(path)?.map(|(mode, hash)| format!("{mode} {hash}")))
}

/// git's mode and the content's hash; `None` for other file types.
pub(crate) fn file_hash(path: &Path) -> io::Result<Option<(&'static str, String)>> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        let target = fs::read_link(path)?;
        return Ok(Some(("120000", Sha256::of(target.as_os_str().as_bytes()).to_string())));
    }
    if !metadata.is_file() {
        return Ok(None);
    }
    let executable = metadata.permissions().mode() & 0o100 != 0;
    let mode = if executable { "100755" } else { "100644" };
    Ok(Some((mode, regular::sha256(path)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_hash_is_the_hash_of_a_listing() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/b"), "one").unwrap();
        fs::write(root.join("a.c"), "two").unwrap();
        fs::set_permissions(root.join("a.c"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::os::unix::fs::symlink("a.c", root.join("link")).unwrap();
        let files = ["a/b", "a.c", "link"].map(PathBuf::from);
        let hash = |text: &str| Sha256::of(text.as_bytes()).to_string();
        let text = format!(
            "100755 {}\ta.c\n100644 {}\ta/b\n120000 {}\tlink\n",
            hash("two"),
            hash("one"),
            hash("a.c")
        );
        assert_eq!(tree_hash(&hashed(root, &files).unwrap()), hash(&text));
    }
}
