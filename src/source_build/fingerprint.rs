//! One hash for many things.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err as fs;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::git::GitDirectory;
use crate::archive::checksum;
use crate::regular;

/// A hash that grows: equal only when the same texts were added in the same order.
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Begins with what the hash is of.
    pub fn new(of: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add(of);
        hash
    }

    /// Adds a text, with its length, so that no two lists of texts are the same.
    pub fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// The hash in hexadecimal digits.
    pub fn end(self) -> String {
        checksum::Sha256::from(self.0).to_string()
    }
}

/// The hash of a checkout: every file with its path, whether it can be run, and its content; of git's own
/// directory only which commit it has.
///
/// # Errors
/// When something cannot be read.
pub fn of_tree(root: &Path) -> io::Result<String> {
    let mut hash = Fingerprint::new("tree");
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| entry.file_name() != ".git") {
        let entry = entry?;
        let path = entry.path();
        hash.add(&path.strip_prefix(root).unwrap_or(path).to_string_lossy());
        let kind = entry.file_type();
        if kind.is_symlink() {
            hash.add(&fs::read_link(path)?.to_string_lossy());
        } else if kind.is_file() {
            let executable = entry.metadata()?.permissions().mode() & 0o100 != 0;
            hash.add(if executable { "x" } else { "-" });
            hash.add(&regular::sha256(path)?);
        } else if kind.is_dir()
            && let Some(git) = GitDirectory::of(path)?
        {
            hash.add(&format!("{:?} {:?} {}", git.commit(), git.branch(), git.is_shallow()));
        }
    }
    Ok(hash.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_another_when_anything_in_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::write(root.join("a"), "one").unwrap();
        let mut seen = vec![of_tree(root).unwrap()];
        fs::write(root.join("a"), "two").unwrap();
        seen.push(of_tree(root).unwrap());
        fs::set_permissions(root.join("a"), PermissionsExt::from_mode(0o755)).unwrap();
        seen.push(of_tree(root).unwrap());
        fs::os::unix::fs::symlink("a", root.join("b")).unwrap();
        seen.push(of_tree(root).unwrap());
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "1".repeat(40)).unwrap();
        seen.push(of_tree(root).unwrap());
        fs::write(root.join(".git/HEAD"), "2".repeat(40)).unwrap();
        seen.push(of_tree(root).unwrap());
        fs::write(root.join(".git/index"), "not asked").unwrap();
        let last = of_tree(root).unwrap();
        assert_eq!(seen.last(), Some(&last));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 6);
    }
}
