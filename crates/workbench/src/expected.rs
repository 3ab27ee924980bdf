//! Expected outputs in the repository, so that git shows the effect of a change.
//!
//! `./tasks accept NAME` rewrites the files of a test: it sets `UPDATE_EXPECT`.

use std::path::Path;

use fs_err as fs;

/// Compares a file, by its path in the repository, with the current output.
#[track_caller]
pub fn compare(path: &str, output: &str) {
    if let Some(difference) = difference(&crate::checkout().join(path), output) {
        panic!("{difference}");
    }
}

/// Returns the difference between a file and the current output; none after rewriting it.
pub fn difference(file: &Path, output: &str) -> Option<String> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, output).unwrap();
        return None;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    first_difference(&expected, output).map(|text| format!("{}:{text}", file.display()))
}

/// Describes the first line that differs, with its number.
fn first_difference(expected: &str, output: &str) -> Option<String> {
    if expected == output {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), output.lines().collect());
    let at = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let line = |lines: &[&str]| lines.get(at).map_or("nothing".to_owned(), |l| format!("`{l}`"));
    Some(format!(
        "{}: {} is expected, and {} is made now; \
         `./tasks accept` with the name of the test rewrites the file, and `git diff` shows the change",
        at + 1,
        line(&old),
        line(&new)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_line_that_differs() {
        let starts = |expected, output, start: &str| {
            let text = first_difference(expected, output).unwrap();
            assert!(text.starts_with(start), "{text}");
        };
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        starts("a\nb\n", "a\nc\n", "2: `b` is expected, and `c` is made now");
        starts("a\n", "a\nb\n", "2: nothing is expected, and `b` is made now");
        // Lines alone do not show a missing line break.
        starts("a\n", "a", "2: nothing is expected, and nothing is made now");
    }
}
