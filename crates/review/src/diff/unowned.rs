use std::collections::{BTreeMap, HashMap, HashSet};

use super::UnownedChange;
use super::contents::Contents;
use super::places::{FileChange, Universe, places};
use catalog::SourcePath;
use plan::Unowned;

const MOST_PLACES: usize = 4;

fn origins<'a>(side: &Contents<'a>) -> HashSet<&'a SourcePath> {
    side.unowned.into_iter().flatten().map(|u| &u.origin).collect()
}

pub(super) fn reasons<'a>(side: &Contents<'a>) -> HashMap<&'a SourcePath, &'a str> {
    side.unowned.into_iter().flatten().map(|u| (&u.origin, u.reason.as_str())).collect()
}

pub(super) fn changes(old: &Contents<'_>, new: &Contents<'_>) -> Vec<UnownedChange> {
    let (Some(before), Some(after)) = (old.unowned, new.unowned) else { return Vec::new() };
    let (old_origins, new_origins) = (origins(old), origins(new));
    let mut changes = one_sided(after, &old_origins, true);
    changes.extend(one_sided(before, &new_origins, false));
    changes
}

fn one_sided(all: &[Unowned], other: &HashSet<&SourcePath>, now: bool) -> Vec<UnownedChange> {
    let mut artifacts: BTreeMap<String, (Vec<FileChange>, Vec<&str>)> = BTreeMap::new();
    let (mut last, mut name) = (None, String::new());
    for unowned in all {
        // Each name is formatted once.
        if last != Some(&unowned.origin.artifact) {
            last = Some(&unowned.origin.artifact);
            name = unowned.origin.artifact.to_string();
        }
        let (files, paths) = artifacts.entry(name.clone()).or_default();
        paths.push(unowned.origin.path.as_str());
        if !other.contains(&unowned.origin) {
            let size = |on: bool| on.then_some(unowned.size);
            let path = unowned.origin.path.to_string();
            files.push(FileChange {
                path,
                was: None,
                old_size: size(!now),
                new_size: size(now),
                rule: None,
                also: Vec::new(),
            });
        }
    }
    let concerned = artifacts.into_iter().filter(|(_, (files, _))| !files.is_empty());
    let change = |(artifact, (mut files, paths)): (String, (Vec<FileChange>, Vec<&str>))| {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let universe = Universe::new(paths.into_iter().map(Into::into));
        UnownedChange { artifact, now, places: places(&files, &universe, MOST_PLACES), files }
    };
    concerned.map(change).collect()
}
