//! Rpaths relative to site-packages: `$ORIGIN` differs for each file.

use super::difference::Difference;
use super::translate::Translation;
use binary::elf::{Rpath, RpathEntry, walked};

pub(super) struct Searched<'t> {
    pub rpath: &'t str,
    pub at: &'t str,
}

pub(super) fn difference(
    old: &Searched<'_>,
    new: &Searched<'_>,
    translation: &Translation<'_>,
) -> Option<Difference> {
    let translated = translation.path(old.rpath);
    let (before, after) =
        (resolved(&translated, &translation.path(old.at)), resolved(new.rpath, new.at));
    if before.iter().map(|d| &d.path).eq(after.iter().map(|d| &d.path)) {
        let is_same = translated == new.rpath || old.at != new.at;
        let spelling = || Difference::Rpath {
            removed: vec![translated.into_owned()],
            added: vec![new.rpath.to_owned()],
            order: Vec::new(),
        };
        return (!is_same).then(spelling);
    }
    let (gone, kept): (Vec<_>, Vec<_>) =
        before.iter().partition(|d| !after.iter().any(|other| other.path == d.path));
    let (come, still): (Vec<_>, Vec<_>) =
        after.iter().partition(|d| !before.iter().any(|other| other.path == d.path));
    let paths = |all: Vec<&Directory>| all.into_iter().map(|d| d.path.clone()).collect::<Vec<_>>();
    let shown = |all: Vec<&Directory>| all.into_iter().map(|d| d.shown.clone()).collect::<Vec<_>>();
    Some(Difference::Rpath {
        removed: shown(gone),
        added: shown(come),
        order: reordered(&paths(kept), &paths(still)),
    })
}

fn reordered(before: &[String], after: &[String]) -> Vec<String> {
    let stable = in_both_orders(before, after);
    let moved = after.iter().enumerate().filter(|(_, directory)| !stable.contains(directory));
    let phrases = moved.map(|(at, directory)| match after.get(at + 1) {
        Some(next) => format!("{directory} before {next}"),
        None => format!("{directory} last"),
    });
    phrases.collect()
}

fn in_both_orders<'t>(before: &'t [String], after: &[String]) -> Vec<&'t String> {
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
    /// Text common to files of a rule, with `$ORIGIN`.
    shown: String,
}

fn resolved(rpath: &str, at: &str) -> Vec<Directory> {
    let (directory, _) = at.rsplit_once('/').unwrap_or_default();
    let resolved = |entry: RpathEntry<'_>| {
        let path = entry.inside(directory).unwrap_or_else(|| entry.to_string());
        Directory {
            shown: if entry.as_str() == "$ORIGIN" { entry.to_string() } else { path.clone() },
            path,
        }
    };
    Rpath::new(rpath).directories().map(resolved).collect()
}

/// `None` if it leads outside.
pub(super) fn follow(at: &str, way: &str) -> Option<String> {
    walked(at.rsplit_once('/').unwrap_or_default().0, way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(old: &str, new: &str) -> Option<Difference> {
        let at = "_core/lib/llvm/lib/liba.so";
        difference(
            &Searched { rpath: old, at },
            &Searched { rpath: new, at },
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
    fn what_changed_places_is_told_with_its_neighbour() {
        let told = |before: &str, after: &str| {
            let list = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            reordered(&list(before), &list(after)).join(", ")
        };
        assert_eq!(told("abcd", "abcd"), "");
        assert_eq!(told("abcd", "dabc"), "d before a");
        assert_eq!(told("abcd", "bcda"), "a last");
        assert_eq!(told("abcd", "acbd").len(), "c before b".len(), "one of both moved, not both");
    }

    #[test]
    fn directories_are_told_below_site_packages() {
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
