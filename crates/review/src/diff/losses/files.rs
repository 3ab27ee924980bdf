use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::contents::{Area, EntryContent, File, Package};
use super::super::moves::At;
use super::offered::Offered;
use super::{Compared, Found, LossKind, Of, general};
use plan::LossSubject;

/// Finds files that no new package has, or only ones that the old one does not require.
pub(super) fn find(compared: &Compared<'_, '_>, offered: &Offered<'_, '_>, found: &mut Found) {
    let Compared { old, new, pairs, unpaired, moves, .. } = compared;
    let stays = |at: &&At| pairs.new_of[at.package].is_some();
    let file = |at: &At| &old.packages[at.package].files[at.file];
    let lost_places: Vec<&At> =
        unpaired.removed.iter().filter(stays).filter(|at| counts(file(at))).collect();
    let holders = holders(compared, &lost_places.iter().map(|at| file(at).path).collect());
    let mut ends: BTreeMap<At, Vec<usize>> = BTreeMap::new();
    for at in lost_places {
        ends.insert(*at, holders.get(file(at).path).cloned().unwrap_or_default());
    }
    for (from, to) in moves.iter().filter(|(from, _)| stays(&from) && counts(file(from))) {
        // Users open paths: equal bytes under another name are of no use to them.
        let has_path = new.packages[to.package].files[to.file].path == file(from).path;
        ends.entry(*from).or_default().extend(has_path.then_some(to.package));
    }
    for (at, ends) in ends {
        let (package, file) = (&old.packages[at.package], file(&at));
        let Some(is) = pairs.new_of[at.package] else { continue };
        let is_brought =
            |end: &usize| *end == is || offered.installs(&new.packages[is], &new.packages[*end]);
        if ends.iter().any(is_brought) {
            continue;
        }
        let subject =
            LossSubject { package: package.package, name: file.path, source: file.origin() };
        let size = file.size;
        match ends.iter().min() {
            Some(end) => {
                // A line that drops files does not accept that they have another owner.
                let subject = LossSubject { source: None, ..subject };
                let (old_name, new_name) = (general(package), general(&new.packages[*end]));
                found.add(Of::new(LossKind::Elsewhere, &old_name), &new_name, &subject, size, new);
            }
            None => found.add(kind_of_loss(package, file), "", &subject, size, new),
        }
    }
}

fn holders<'a>(
    compared: &Compared<'_, 'a>,
    paths: &HashSet<&'a str>,
) -> HashMap<&'a str, Vec<usize>> {
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    if paths.is_empty() {
        return holders;
    }
    for (index, package) in compared.new.packages.iter().enumerate() {
        for file in package.files.iter().filter(|file| counts(file) && paths.contains(file.path)) {
            holders.entry(file.path).or_default().push(index);
        }
    }
    holders
}

fn kind_of_loss<'p>(package: &Package<'p>, file: &File<'_>) -> Of<'p> {
    let loss = |kind| Of::new(kind, "");
    match package.variant {
        _ if is_library(file.path) => loss(LossKind::Libraries),
        variant @ Some(_) => Of { variant, ..loss(LossKind::DeviceCode) },
        None if file.executable => loss(LossKind::Programs),
        None => loss(LossKind::Files),
    }
}

/// Texts and licences of every package are rockpack's own.
pub(super) fn counts(file: &File<'_>) -> bool {
    file.area == Area::Platform && !matches!(file.content, EntryContent::Directory)
}

pub(super) fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let version = |rest: &str| rest.is_empty() || rest.starts_with('.');
    let shared = name.split_once(".so").is_some_and(|(_, rest)| version(rest));
    shared || name.to_ascii_lowercase().ends_with(".dll")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        for path in ["lib/libx.so", "lib/libx.so.1.2", "bin/X.DLL"] {
            assert!(is_library(path), "{path}");
        }
        for path in ["lib/libx.a", "lib/x.sorted", "lib/libx.so.d/file.txt", "bin/so"] {
            assert!(!is_library(path), "{path}");
        }
    }
}
