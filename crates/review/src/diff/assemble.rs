use std::collections::HashMap;

use indexmap::IndexMap;

use super::absent::{self, Absences};
use super::compare::Comparison;
use super::contents::{Area, Contents, EntryContent, File, Package};
use super::difference::Difference;
use super::losses::{self, Compared};
use super::moves::{At, Move, Unpaired};
use super::pair::{self, Pairs};
use super::places::{FileChange, change};
use super::translate::Translations;
use super::{Diff, Extent, FORMAT, FieldChange, PackageChange, Renamed, Side};
use super::{facts, fields, group, moved, remarks, repeated, unowned};
use plan::Step;

pub(super) fn diff(old: &Contents<'_>, new: &Contents<'_>) -> Diff {
    let pairs = pair::pairs(old, new);
    let package_pairs: Vec<_> =
        pairs.indices().map(|(i, j)| (&old.packages[i], &new.packages[j])).collect();
    let directories = package_pairs.iter().filter_map(|(o, n)| o.platform_dir.zip(n.platform_dir));
    let translations = Translations::new(directories);
    let mut sides = Sides {
        old,
        new,
        pairs: &pairs,
        translations: &translations,
        changed_packages: vec![ChangedPackage::default(); pairs.slots()],
    };
    let mut unpaired = sides.compare();
    let moves = unpaired.moves(old, new);
    let absences = Absences::new(old, new, &pairs);
    let grouped = moved::grouped(old, new, &translations, &moves, &absences);
    sides.add_unpaired_files(&unpaired, &moves, &absences);
    sides.add_absences();
    // Before the packages are taken: taking one removes its relinked bytes, which the totals include.
    let (old_total, new_total) = sides.totals();
    let mut packages: Vec<PackageChange> =
        (0..pairs.slots()).filter_map(|slot| sides.take_package_change(slot)).collect();
    let (unpaired, moves) = (&unpaired, &moves[..]);
    let compared = Compared { old, new, pairs: &pairs, unpaired, moves, changed: &packages };
    let losses = losses::find(&compared);
    repeated::shorten(&mut packages, [old, new]);
    Diff {
        format: FORMAT,
        old: side(old, new),
        new: side(new, old),
        losses,
        directories: renamed_directories(&translations),
        moved: grouped,
        same: pairs.slots() - packages.len(),
        packages,
        old_total,
        new_total,
        unowned: unowned::changes(old, new),
        warnings: remarks::warnings(old, new, &package_pairs),
        notes: remarks::notes(old, new, &package_pairs),
    }
}

#[derive(Debug, Clone, Default)]
struct ChangedPackage {
    fields: Vec<FieldChange>,
    changes: IndexMap<Difference, Vec<FileChange>>,
    /// Bytes that relinking adds to the files of the finished side, compared with the planned one.
    /// [`extent`] subtracts them from the finished side, because plans have the sizes of the sources.
    relinked_bytes: i64,
    moved: bool,
}

/// Both sides of a comparison, with the changes of each package.
struct Sides<'s, 'a> {
    old: &'s Contents<'a>,
    new: &'s Contents<'a>,
    pairs: &'s Pairs,
    translations: &'s Translations<'a>,
    /// By slot: one for each new package, then one for each removed package.
    changed_packages: Vec<ChangedPackage>,
}

impl<'a> Sides<'_, 'a> {
    fn compare(&mut self) -> Unpaired {
        let mut unpaired = Unpaired::default();
        let file_places = |packages: &[Package<'_>], package: usize| {
            (0..packages[package].files.len()).map(move |file| At { package, file })
        };
        for (index, old_index) in self.pairs.old_of.iter().enumerate() {
            match old_index {
                Some(old_index) => self.compare_packages(*old_index, index, &mut unpaired),
                None => unpaired.added.extend(file_places(&self.new.packages, index)),
            }
        }
        for index in self.pairs.vanished() {
            unpaired.removed.extend(file_places(&self.old.packages, index));
        }
        unpaired
    }

    fn compare_packages(&mut self, old_index: usize, new_index: usize, unpaired: &mut Unpaired) {
        let (old, new) = (&self.old.packages[old_index], &self.new.packages[new_index]);
        self.changed_packages[new_index].fields =
            fields::differences((self.old, old), (self.new, new), &self.translations.forward);
        let mut comparison = Comparison::new(old, new, self.translations);
        let mut old_by_path: HashMap<_, usize> = HashMap::with_capacity(old.files.len());
        old_by_path.extend(
            old.files.iter().enumerate().map(|(index, file)| ((file.area, file.path), index)),
        );
        let mut paired = vec![false; old.files.len()];
        for (file, new_file) in new.files.iter().enumerate() {
            let new_place = At { package: new_index, file };
            let key = (new_file.area, new_file.path);
            // A built wheel can list a path twice: only one entry of each side is paired.
            let Some(index) = old_by_path.get(&key).copied().filter(|index| !paired[*index]) else {
                unpaired.added.push(new_place);
                continue;
            };
            paired[index] = true;
            let old_place = At { package: old_index, file: index };
            let old_file = &old.files[index];
            match (old_file.content, new_file.content) {
                (EntryContent::Link(_), EntryContent::Planned(_))
                    if new_file.origin().is_some() =>
                {
                    unpaired.filled.push((old_place, new_place));
                }
                (EntryContent::Planned(_), EntryContent::Link(_))
                    if old_file.origin().is_some() =>
                {
                    unpaired.emptied.push((old_place, new_place));
                }
                _ => self.compare_files(&mut comparison, new_index, old_file, new_file),
            }
        }
        let without_pair = paired.iter().enumerate().filter(|(_, paired)| !**paired);
        unpaired.removed.extend(without_pair.map(|(file, _)| At { package: old_index, file }));
    }

    fn compare_files(
        &mut self,
        comparison: &mut Comparison<'_, 'a>,
        slot: usize,
        old: &File<'a>,
        new: &File<'a>,
    ) {
        self.changed_packages[slot].relinked_bytes += match (old.content, new.content) {
            (EntryContent::Planned(Step::Relink { .. }), EntryContent::Built(_)) => {
                new.size.cast_signed() - old.size.cast_signed()
            }
            (EntryContent::Built(_), EntryContent::Planned(Step::Relink { .. })) => {
                old.size.cast_signed() - new.size.cast_signed()
            }
            _ => 0,
        };
        for difference in comparison.files(old, new) {
            if difference == Difference::Text
                && let Some(fields) = facts_difference(old, new, comparison)
            {
                merge(&mut self.changed_packages[slot].fields, fields);
                continue;
            }
            self.add(slot, difference, change(comparison.new, Some(old), Some(new)));
        }
    }

    fn add_unpaired_files(
        &mut self,
        unpaired: &Unpaired,
        moves: &[Move],
        absences: &Absences<'_, '_>,
    ) {
        let unowned_reasons = unowned::reasons(self.new);
        for (from, to) in moves {
            let slot = self.pairs.slot(from.package);
            self.changed_packages[slot].moved = true;
            self.changed_packages[to.package].moved = true;
        }
        let implied = unpaired.implied_directories(self.old, self.new, moves);
        for at in unpaired.removed.iter().filter(|at| !implied.removed.contains(at)) {
            let (package, slot) = (&self.old.packages[at.package], self.pairs.slot(at.package));
            let file = &package.files[at.file];
            let unowned = file.origin().and_then(|origin| unowned_reasons.get(origin));
            let unowned_text = unowned.map(|reason| {
                let suffix = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                format!("unowned now{suffix}")
            });
            // Unowned first, because it is an error of the new side; then the plan's reason for this
            // file; then the manifest's rule for its path.
            let reason = unowned_text
                .or_else(|| absences.reason_in_new(at.package, file))
                .or_else(|| self.reason_of_manifest(package, file));
            self.add(slot, Difference::Vanished { now: reason }, change(package, Some(file), None));
        }
        for at in unpaired.added.iter().filter(|at| !implied.added.contains(at)) {
            let package = &self.new.packages[at.package];
            let file = &package.files[at.file];
            let reason = absences.reason_in_old(at.package, file);
            self.add(
                at.package,
                Difference::Appeared { was: reason },
                change(package, None, Some(file)),
            );
        }
        for (from, to) in unpaired.filled.iter().chain(&unpaired.emptied) {
            let (old_file, new_file) = (
                &self.old.packages[from.package].files[from.file],
                &self.new.packages[to.package].files[to.file],
            );
            let step = Difference::Step { old: old_file.kind(), new: new_file.kind() };
            self.add(
                to.package,
                step,
                change(&self.new.packages[to.package], Some(old_file), Some(new_file)),
            );
        }
    }

    fn reason_of_manifest(&self, package: &Package<'_>, file: &File<'_>) -> Option<String> {
        let can_have_reason =
            file.area == Area::Platform && !matches!(file.content, EntryContent::Directory);
        let name = package.package.filter(|_| can_have_reason)?;
        self.new.reasons.and_then(|reasons| reasons.0(name, file.path))
    }

    fn add_absences(&mut self) {
        for (slot, difference, path) in absent::changes(self.old, self.new, self.pairs) {
            self.add(
                slot,
                difference,
                FileChange {
                    path,
                    was: None,
                    old_size: None,
                    new_size: None,
                    rule: None,
                    also: Vec::new(),
                },
            );
        }
    }

    fn add(&mut self, slot: usize, difference: Difference, change: FileChange) {
        self.changed_packages[slot].changes.entry(difference).or_default().push(change);
    }

    fn totals(&self) -> (Extent, Extent) {
        let mut totals = (Extent::default(), Extent::default());
        for (slot, changed) in self.changed_packages.iter().enumerate() {
            let (old_index, new_index) = self.pairs.of_slot(slot);
            let sides = [
                (&mut totals.0, old_index.map(|i| &self.old.packages[i])),
                (&mut totals.1, new_index.map(|i| &self.new.packages[i])),
            ];
            for (total, package) in sides {
                let Extent { files, size } =
                    package.map(|p| extent(p, changed.relinked_bytes)).unwrap_or_default();
                *total = Extent { files: total.files + files, size: total.size + size };
            }
        }
        totals
    }

    /// Removes the changes of a package from its slot; `None` if it is unchanged.
    fn take_package_change(&mut self, slot: usize) -> Option<PackageChange> {
        let (old_index, new_index) = self.pairs.of_slot(slot);
        let (old, new) =
            (old_index.map(|i| &self.old.packages[i]), new_index.map(|i| &self.new.packages[i]));
        let ChangedPackage { fields, changes, relinked_bytes, moved } =
            std::mem::take(&mut self.changed_packages[slot]);
        let changes = group::changes(old, new, changes);
        let (old_title, new_title) = (old.map(Package::title), new.map(Package::title));
        let is_renamed = old_title.is_some() && new_title.is_some() && old_title != new_title;
        let is_one_sided = old.is_none() || new.is_none();
        if fields.is_empty() && changes.is_empty() && !is_renamed && !is_one_sided && !moved {
            return None;
        }
        let either = new.or(old)?;
        let first_value = |pick: fn(&Package<'_>) -> Option<String>| {
            new.and_then(pick).or_else(|| old.and_then(pick))
        };
        Some(PackageChange {
            title: either.title(),
            was: old_title.filter(|_| is_renamed),
            package: first_value(|p| p.package.map(ToString::to_string)),
            variant: first_value(|p| p.variant.map(str::to_owned)),
            old: old.map(|p| extent(p, relinked_bytes)),
            new: new.map(|p| extent(p, relinked_bytes)),
            fields,
            changes,
        })
    }
}

fn extent(package: &Package<'_>, relinked_bytes: i64) -> Extent {
    let (files, size) = package.extent();
    let built = package.files.iter().any(|file| matches!(file.content, EntryContent::Built(_)));
    Extent { files, size: if built { size.saturating_add_signed(-relinked_bytes) } else { size } }
}

/// Returns the differences of a module with facts as fields; `None` for other files.
fn facts_difference(
    old: &File<'_>,
    new: &File<'_>,
    comparison: &Comparison<'_, '_>,
) -> Option<Vec<FieldChange>> {
    if new.path.rsplit('/').next() != Some(facts::FILE) {
        return None;
    }
    let (old_text, new_text) = (old.text()?, new.text()?);
    facts::difference(
        &comparison.translations.forward.text(
            &old_text,
            comparison.old.version,
            comparison.new.version,
        ),
        &new_text,
    )
}

/// Adds fields. Skips equal ones: METADATA and the module of facts have some in common, and the
/// difference shows them once.
fn merge(fields: &mut Vec<FieldChange>, more: Vec<FieldChange>) {
    for field in more {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
}

fn side(side: &Contents<'_>, other: &Contents<'_>) -> Side {
    Side {
        label: side.label.clone(),
        version: side.version.map(ToString::to_string),
        // Built packages do not record their mode; shown for one side alone, it would look like a change.
        mode: side.mode.filter(|_| other.mode.is_some()),
        platform_tag: side.platform_tag.map(str::to_owned),
    }
}

fn renamed_directories(translations: &Translations<'_>) -> Vec<Renamed> {
    let directories = translations.forward.directories();
    directories.map(|(old, new)| Renamed { old: old.to_owned(), new: new.to_owned() }).collect()
}
