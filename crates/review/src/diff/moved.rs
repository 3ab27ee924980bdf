//! Groups of moved files.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::absent::Absences;
use super::compare::{Comparison, apart};
use super::contents::{Contents, Package};
use super::difference::Difference;
use super::group::of_package;
use super::moves::Move;
use super::places::{FileChange, Place, Universe, change, places};
use super::translate::Translations;
use super::{Moved, MovedEnd};

/// Common properties of a group.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// Index of the old package.
    from: usize,
    /// Index of the new package.
    to: usize,
    /// Different part of the old path.
    old: String,
    /// Different part of the new path.
    new: String,
    reason: Option<String>,
}

/// Limit of places of a group with unchanged paths; with changed ones, it has one place.
const MOST_PLACES: usize = 8;

/// Groups moves by packages, difference of the paths, and reason; the largest group is first.
pub(super) fn grouped<'a>(
    old: &Contents<'a>,
    new: &Contents<'a>,
    translations: &Translations<'a>,
    moves: &[Move],
    absences: &Absences<'_, '_>,
) -> Vec<Moved> {
    let mut comparisons: HashMap<(usize, usize), Comparison<'_, 'a>> = HashMap::new();
    let mut groups: IndexMap<Key, Vec<FileChange>> = IndexMap::new();
    for (old_place, new_place) in moves {
        let (old_package, new_package) =
            (&old.packages[old_place.package], &new.packages[new_place.package]);
        let (old_file, new_file) =
            (&old_package.files[old_place.file], &new_package.files[new_place.file]);
        let comparison = comparisons
            .entry((old_place.package, new_place.package))
            .or_insert_with(|| Comparison::new(old_package, new_package, translations));
        let also: Vec<String> =
            comparison.files(old_file, new_file).iter().filter_map(further_change).collect();
        let (before, after) = (old_package.shown(old_file), new_package.shown(new_file));
        let (x, y) = if before == after { ("", "") } else { apart(&before, &after) };
        let key = Key {
            from: old_place.package,
            to: new_place.package,
            old: x.to_owned(),
            new: y.to_owned(),
            reason: absences.reason_in_new(old_place.package, old_file),
        };
        let old_path = (before != after).then(|| before.into_owned());
        groups.entry(key).or_default().push(FileChange {
            was: old_path,
            also,
            ..change(new_package, Some(old_file), Some(new_file))
        });
    }
    let mut universes: HashMap<usize, Universe<'a>> = HashMap::new();
    let mut moved_files = Vec::new();
    for (key, files) in groups {
        let universe = universes
            .entry(key.from)
            .or_insert_with(|| of_package(Some(&old.packages[key.from]), |_| true));
        moved_files.push(moved(
            &old.packages[key.from],
            &new.packages[key.to],
            key,
            files,
            universe,
        ));
    }
    moved_files.sort_by_key(|m| std::cmp::Reverse(m.files.len()));
    moved_files
}

/// Describes further changes, except link targets and search paths, which follow the place.
fn further_change(difference: &Difference) -> Option<String> {
    match difference {
        Difference::Step { old, new } => Some(format!("{old} → {new}")),
        Difference::Rpath { .. } => Some("rpath".to_owned()),
        Difference::Executable { now } => {
            Some(if *now { "executable now" } else { "not executable now" }.to_owned())
        }
        Difference::Stack { .. } => Some("executable stack".to_owned()),
        Difference::Size => Some("size".to_owned()),
        Difference::Content => Some("content".to_owned()),
        _ => None,
    }
}

fn moved(
    old: &Package<'_>,
    new: &Package<'_>,
    key: Key,
    mut files: Vec<FileChange>,
    universe: &Universe<'_>,
) -> Moved {
    let end =
        |p: &Package<'_>| MovedEnd { title: p.title(), variant: p.variant.map(str::to_owned) };
    let (old_end, new_end, reason) = (end(old), end(new), key.reason);
    if files[0].was.is_none() {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let places = places(&files, universe, MOST_PLACES);
        return Moved { from: old_end, to: new_end, reason, places, pattern: None, files };
    }
    // By old paths, because `universe` has the files of the old package.
    files.sort_by(|a, b| a.was.cmp(&b.was));
    let before: Vec<FileChange> = files
        .iter()
        .map(|f| FileChange { path: f.was.clone().unwrap_or_default(), ..f.clone() })
        .collect();
    let mut places = places(&before, universe, 1);
    let pattern = places.first_mut().map(|place| renamed(place, &key.old, &key.new, &before));
    Moved { from: old_end, to: new_end, reason, places, pattern, files }
}

/// New pattern of a place: `b/x` of `a/x` for files that moved from `a` to `b`.
fn renamed(place: &mut Place, old: &str, new: &str, files: &[FileChange]) -> String {
    if files.len() == 1 {
        return format!("{new}{}", &files[0].path[old.len()..]);
    }
    // The place can be above the old prefix.
    if let Some(rest) = place.pattern.strip_prefix(old) {
        return format!("{new}{rest}");
    }
    place.pattern = format!("{old}/…");
    format!("{new}/…")
}
