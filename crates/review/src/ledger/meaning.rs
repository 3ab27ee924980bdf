//! Content that differs in bytes: its meaning, or its first difference.

use std::io;

use binary::elf::{self, ElfFacts, ReadAt};
use wheel::package::BufferedContent;

/// Result of a comparison of contents.
pub(super) enum Compared {
    /// The same meaning.
    Meaning,
    /// The same program or library with other search paths, which the text names.
    Rpath(String),
    /// Different; the text is the first difference.
    Different(String),
}

/// Limit of compared texts in bytes, because people write no larger ones.
const LONGEST_TEXT: u64 = 8 << 20;

/// Compares the contents of files at one path.
pub(super) fn compared(
    path: &str,
    theirs: &BufferedContent,
    ours: &BufferedContent,
) -> io::Result<Compared> {
    if let (Ok(Some(old)), Ok(Some(new))) = (elf::facts(theirs), elf::facts(ours)) {
        return Ok(programs(theirs, &old, ours, &new));
    }
    let (Some(old), Some(new)) = (text(theirs)?, text(ours)?) else {
        let sizes = (ReadAt::len(theirs)?, ReadAt::len(ours)?);
        return Ok(Compared::Different(format!("{} bytes → {} bytes", sizes.0, sizes.1)));
    };
    let is_json = std::path::Path::new(path).extension().is_some_and(|it| it == "json");
    Ok(if is_json && same_values(&old, &new) { Compared::Meaning } else { lines(&old, &new) })
}

/// Compares two ELF files by structure, because edits of one program by two editors differ in
/// bytes.
fn programs(
    theirs: &BufferedContent,
    old: &ElfFacts,
    ours: &BufferedContent,
    new: &ElfFacts,
) -> Compared {
    if let Err(violations) = elf::alike(theirs, ours) {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        return Compared::Different(first);
    }
    let paths = |facts: &ElfFacts| (facts.rpath.clone(), facts.runpath.clone());
    if paths(old) == paths(new) {
        return Compared::Meaning;
    }
    Compared::Rpath(format!("{} → {}", old.search_path(), new.search_path()))
}

fn text(kept: &BufferedContent) -> io::Result<Option<String>> {
    let len = ReadAt::len(kept)?;
    if len > LONGEST_TEXT {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    kept.read_exact_at(0, &mut bytes)?;
    Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
}

fn same_values(old: &str, new: &str) -> bool {
    let value = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    value(old).is_some_and(|old| Some(old) == value(new))
}

/// Compares texts line by line; ignores line endings and trailing whitespace of the file.
fn lines(old: &str, new: &str) -> Compared {
    let (old, new) = (old.trim_end(), new.trim_end());
    let mut pairs = (1..).zip(old.lines().zip(new.lines()));
    if let Some((number, (from, to))) = pairs.find(|(_, (from, to))| from != to) {
        let (from, to) = excerpts(from, to);
        return Compared::Different(format!("line {number}: {from} → {to}"));
    }
    let (old, new) = (old.lines().count(), new.lines().count());
    if old == new {
        Compared::Meaning
    } else {
        Compared::Different(format!("{old} lines → {new} lines"))
    }
}

/// Excerpts of two lines that include their first difference, because lines of generated files can
/// be long.
fn excerpts(old: &str, new: &str) -> (String, String) {
    const LENGTH: usize = 60;
    const BEFORE: usize = 20;
    let equal = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let start = if equal < LENGTH - BEFORE { 0 } else { equal - BEFORE };
    let excerpt = |line: &str| {
        let cut = if start > 0 { "…" } else { "" };
        let shown: String = line.chars().skip(start).take(LENGTH).collect();
        let rest = if line.chars().count() > start + LENGTH { "…" } else { "" };
        format!("`{cut}{shown}{rest}`")
    };
    (excerpt(old), excerpt(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(old: &str, new: &str) -> String {
        match lines(old, new) {
            Compared::Different(text) => text,
            _ => "none".to_owned(),
        }
    }

    #[test]
    fn shows_the_first_difference_of_a_line() {
        assert_eq!(difference("a\r\nb", "a\nb\n\n"), "none");
        assert_eq!(difference("a\n  b", "a\n    b"), "line 2: `  b` → `    b`");
        let (same, rest) = ("s".repeat(100), "r".repeat(100));
        assert_eq!(
            difference(&format!("{same}1{rest}"), &format!("{same}2")),
            format!("line 1: `…{0}1{1}…` → `…{0}2`", "s".repeat(20), "r".repeat(39))
        );
        assert_eq!(
            difference(&format!("1{same}"), "2"),
            format!("line 1: `1{}…` → `2`", "s".repeat(59))
        );
    }
}
