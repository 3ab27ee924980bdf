use std::collections::{BTreeMap, HashSet};

use super::super::contents::Package;
use super::super::difference::Difference;
use super::{Compared, Found, LossKind, Of, general};
use plan::LossSubject;

pub(super) fn find(compared: &Compared<'_, '_>, found: &mut Found) {
    let Compared { old, new, pairs, .. } = compared;
    let names: HashSet<String> = new.packages.iter().map(|p| p.name.normalized()).collect();
    for (was, package) in old.packages.iter().enumerate() {
        if names.contains(&package.name.normalized()) {
            // Another wheel or family of the same name.
            if pairs.new_of[was].is_none() {
                lost_package(compared, found, package);
            }
            continue;
        }
        match pairs.new_of[was].or_else(|| heir(compared, was)) {
            Some(is) => {
                let (old_name, new_name) = (general(package), general(&new.packages[is]));
                found.add(
                    Of::new(LossKind::Renamed, &old_name),
                    &new_name,
                    &subject(package),
                    0,
                    new,
                );
            }
            None => lost_package(compared, found, package),
        }
    }
    shrunk(compared, found);
}

fn lost_package(compared: &Compared<'_, '_>, found: &mut Found, package: &Package<'_>) {
    let kind = Of::new(LossKind::Package, "");
    let title = package.title();
    let subject = LossSubject { name: &title, ..subject(package) };
    found.add(kind, "", &subject, package.extent().1, compared.new);
}

fn subject<'p>(package: &'p Package<'_>) -> LossSubject<'p> {
    LossSubject { package: package.package, name: package.name.as_str(), source: None }
}

fn heir(compared: &Compared<'_, '_>, was: usize) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, to) in compared.moves.iter().filter(|(from, _)| from.package == was) {
        *counts.entry(to.package).or_default() += 1;
    }
    let (heir, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let files = &compared.old.packages[was].files;
    let file_count = files.iter().filter(|file| super::files::counts(file)).count();
    (count * 2 > file_count).then_some(heir)
}

/// Finds packages whose unmoved files shrink by over a tenth.
fn shrunk(compared: &Compared<'_, '_>, found: &mut Found) {
    for change in compared.changed {
        let (Some(before), Some(_)) = (change.old, change.new) else { continue };
        let sizes = change.changes.iter().filter(|group| group.difference == Difference::Size);
        let (mut old_size, mut new_size) = (0, 0);
        for file in sizes.flat_map(|group| &group.files) {
            old_size += file.old_size.unwrap_or_default();
            new_size += file.new_size.unwrap_or_default();
        }
        let lost_bytes = u64::saturating_sub(old_size, new_size);
        if lost_bytes * 10 > before.size {
            let package = compared
                .old
                .packages
                .iter()
                .find(|p| p.title() == *change.was.as_ref().unwrap_or(&change.title));
            let subject = LossSubject {
                package: package.and_then(|package| package.package),
                name: &change.title,
                source: None,
            };
            let variant = change.variant.as_deref().unwrap_or_default();
            let percent = (lost_bytes * 100 / before.size).to_string();
            found.add(
                Of::new(LossKind::Shrunk, variant),
                &percent,
                &subject,
                lost_bytes,
                compared.new,
            );
        }
    }
}
