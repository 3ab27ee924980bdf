//! Comparison of rpaths, resolved below site-packages, because `$ORIGIN` is another directory for
//! each file.

use std::collections::HashSet;

use super::difference::Difference;
use super::translate::Translation;
use binary::elf::{Rpath, RpathEntry, resolve_relative};

pub(super) struct FileRpath<'t> {
    pub rpath: &'t str,
    pub file: &'t str,
}

pub(super) fn difference(
    old: &FileRpath<'_>,
    new: &FileRpath<'_>,
    translation: &Translation<'_>,
) -> Option<Difference> {
    let translated = translation.path(old.rpath);
    let before = directories(&translated, &translation.path(old.file));
    let after = directories(new.rpath, new.file);
    if before.iter().map(|d| &d.path).eq(after.iter().map(|d| &d.path)) {
        // A moved file spells the same directories in another way, and a loader searches a repeated
        // directory once.
        let is_as_expected = translated == new.rpath
            || old.file != new.file
            || entries(&translated).eq(entries(new.rpath));
        let spelled_differently = || Difference::Rpath {
            removed: vec![translated.into_owned()],
            added: vec![new.rpath.to_owned()],
            order: Vec::new(),
        };
        return (!is_as_expected).then(spelled_differently);
    }
    let (removed, kept_before): (Vec<_>, Vec<_>) =
        before.iter().partition(|d| !after.iter().any(|other| other.path == d.path));
    let (added, kept_after): (Vec<_>, Vec<_>) =
        after.iter().partition(|d| !before.iter().any(|other| other.path == d.path));
    let paths = |all: Vec<&Directory>| all.into_iter().map(|d| d.path.clone()).collect::<Vec<_>>();
    let shown = |all: Vec<&Directory>| all.into_iter().map(|d| d.shown.clone()).collect::<Vec<_>>();
    Some(Difference::Rpath {
        removed: shown(removed),
        added: shown(added),
        order: reordered(&paths(kept_before), &paths(kept_after)),
    })
}

fn reordered(before: &[String], after: &[String]) -> Vec<String> {
    let stable = longest_common_subsequence(before, after);
    let moved = after.iter().enumerate().filter(|(_, directory)| !stable.contains(directory));
    let phrases = moved.map(|(at, directory)| match after.get(at + 1) {
        Some(next) => format!("{directory} before {next}"),
        None => format!("{directory} last"),
    });
    phrases.collect()
}

/// Returns the longest common subsequence: its directories keep their order, all others moved.
fn longest_common_subsequence<'t>(before: &'t [String], after: &[String]) -> Vec<&'t String> {
    let mut longest: Vec<Vec<&'t String>> = vec![Vec::new(); after.len() + 1];
    for directory in before {
        let mut diagonal = Vec::new();
        for (at, other) in after.iter().enumerate() {
            let above = longest[at + 1].clone();
            if directory == other {
                longest[at + 1] = diagonal;
                longest[at + 1].push(directory);
            } else if longest[at].len() > longest[at + 1].len() {
                let (upper, lower) = longest.split_at_mut(at + 1);
                lower[0].clone_from(&upper[at]);
            }
            diagonal = above;
        }
    }
    longest.pop().unwrap_or_default()
}

struct Directory {
    path: String,
    /// Text for the report. A bare `$ORIGIN` stays as written, so that files in several directories
    /// with the same change are one line.
    shown: String,
}

/// Returns the entries of an rpath that loaders search: each once, none empty.
fn entries(rpath: &str) -> impl Iterator<Item = RpathEntry<'_>> {
    let mut unique = HashSet::new();
    Rpath::new(rpath).directories().filter(move |entry| unique.insert(entry.as_str()))
}

/// Returns the directories that a loader searches for a file, each once.
fn directories(rpath: &str, file: &str) -> Vec<Directory> {
    let (parent, _) = file.rsplit_once('/').unwrap_or_default();
    let mut directories: Vec<Directory> = Vec::new();
    for entry in entries(rpath) {
        let path = entry.installed_directory(parent).unwrap_or_else(|| entry.to_string());
        if !directories.iter().any(|directory| directory.path == path) {
            let shown = if entry.as_str() == "$ORIGIN" { entry.to_string() } else { path.clone() };
            directories.push(Directory { path, shown });
        }
    }
    directories
}

/// Resolves the target of a link. `None` if it leads out of site-packages.
pub(super) fn resolve_link(file: &str, target: &str) -> Option<String> {
    resolve_relative(file.rsplit_once('/').unwrap_or_default().0, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(old: &str, new: &str) -> Option<Difference> {
        let file = "_core/lib/llvm/lib/liba.so";
        difference(
            &FileRpath { rpath: old, file },
            &FileRpath { rpath: new, file },
            &Translation::default(),
        )
    }

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|&s| s.to_owned()).collect()
    }

    fn rpath(removed: &[&str], added: &[&str], order: &[&str]) -> Difference {
        Difference::Rpath {
            removed: strings(removed),
            added: strings(added),
            order: strings(order),
        }
    }

    #[test]
    fn names_the_next_directory_of_a_moved_one() {
        let moved = |before: &str, after: &str| {
            let list = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            reordered(&list(before), &list(after)).join(", ")
        };
        assert_eq!(moved("abcd", "abcd"), "");
        assert_eq!(moved("abcd", "dabc"), "d before a");
        assert_eq!(moved("abcd", "bcda"), "a last");
        assert_eq!(moved("abcd", "acbd").len(), "c before b".len(), "one of both moved, not both");
    }

    #[test]
    fn repeated_directories_are_no_difference() {
        assert_eq!(differ("$ORIGIN:$ORIGIN", "$ORIGIN"), None);
        assert_eq!(differ("$ORIGIN/../..", "$ORIGIN/../..:$ORIGIN/../.."), None);
        assert_eq!(
            differ("$ORIGIN:$ORIGIN", "$ORIGIN:$ORIGIN/../..").unwrap(),
            rpath(&[], &["_core/lib"], &[])
        );
    }

    #[test]
    fn directories_are_relative_to_site_packages() {
        assert_eq!(differ("$ORIGIN:$ORIGIN/../..", "$ORIGIN:$ORIGIN/../.."), None);
        assert_eq!(
            differ("$ORIGIN", "$ORIGIN:$ORIGIN/../..").unwrap(),
            rpath(&[], &["_core/lib"], &[])
        );
        assert_eq!(
            differ("/opt:$ORIGIN/../..", "$ORIGIN/../..").unwrap(),
            rpath(&["/opt"], &[], &[])
        );
        assert_eq!(
            differ("$ORIGIN:$ORIGIN/../..", "$ORIGIN/../..:$ORIGIN").unwrap(),
            rpath(&[], &[], &["_core/lib before _core/lib/llvm/lib"])
        );
        assert_eq!(
            differ("$ORIGIN/../lib", "$ORIGIN").unwrap(),
            rpath(&["$ORIGIN/../lib"], &["$ORIGIN"], &[]),
            "written differently"
        );
        assert_eq!(
            differ("$ORIGIN/../../../../..", "$ORIGIN").unwrap(),
            rpath(&["$ORIGIN/../../../../.."], &["$ORIGIN"], &[])
        );
    }
}
