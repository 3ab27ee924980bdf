//! Expected outputs in the repository, so that git shows the effect of a change.
//!
//! `UPDATE_EXPECT=1 cargo test --test all NAME` rewrites the files of a test.

use std::path::{Path, PathBuf};

/// Compares a file of the repository with the current output.
pub fn compare(path: &str, found: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if let Some(difference) = difference(&file, found) {
        panic!("{difference}");
    }
}

/// Returns the difference between a file and the current output; none after rewriting it.
pub fn difference(file: &Path, found: &str) -> Option<String> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs_err::write(file, found).unwrap();
        return None;
    }
    let expected = fs_err::read_to_string(file).unwrap_or_default();
    if expected == found {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let at = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let line = |lines: &[&str]| lines.get(at).map_or("nothing".to_owned(), |l| format!("`{l}`"));
    let (file, number) = (file.display(), at + 1);
    Some(format!(
        "{file}:{number}: {} is expected, and {} is made now; \
         UPDATE_EXPECT=1 writes the file anew, and git diff shows all of it",
        line(&old),
        line(&new)
    ))
}
