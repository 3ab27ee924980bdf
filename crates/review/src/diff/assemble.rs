use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;

use super::absent::{self, Absences};
use super::compare::Comparison;
use super::contents::{Area, Contents, EntryContent, File, Package};
use super::difference::Difference;
use super::losses::{self, Compared};
use super::moves::{At, Left, Move};
use super::pair::{self, Pairs};
use super::places::{FileChange, change};
use super::translate::Translation;
use super::{Diff, Extent, FORMAT, FieldChange, PackageChange, Renamed, Side};
use super::{facts, fields, group, moved, remarks, repeated, unowned};
use plan::Step;

pub(super) fn diff(old: &Contents<'_>, new: &Contents<'_>) -> Diff {
    let pairs = pair::pairs(old, new);
    let package_pairs: Vec<_> =
        pairs.indices().map(|(i, j)| (&old.packages[i], &new.packages[j])).collect();
    let translation = Translation::new(package_pairs.iter().copied());
    let words = (&translation, &translation.inverse());
    let mut sides = Sides {
        old,
        new,
        pairs: &pairs,
        words,
        found: vec![ChangedPackage::default(); pairs.slots()],
    };
    let mut leftovers = sides.compare();
    let moves = leftovers.moves(old, new);
    let absences = Absences::new(old, new, &pairs);
    let grouped = moved::grouped(old, new, words, &moves, &absences);
    sides.left_over(&leftovers, &moves, &absences);
    sides.left_out();
    let (old_total, new_total) = sides.totals();
    let mut packages: Vec<PackageChange> =
        (0..pairs.slots()).filter_map(|slot| sides.package(slot)).collect();
    let (leftovers, moves) = (&leftovers, &moves[..]);
    let compared = Compared { old, new, pairs: &pairs, left: leftovers, moves, changed: &packages };
    let losses = losses::find(&compared);
    repeated::shorten(&mut packages, [old, new]);
    Diff {
        format: FORMAT,
        old: side(old, new),
        new: side(new, old),
        losses,
        directories: directories(&package_pairs),
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
    /// Comparisons subtract edits: plans count sizes before.
    edits: i64,
    moved: bool,
}

/// One slot for each new package, then for each removed one.
struct Sides<'s, 'a> {
    old: &'s Contents<'a>,
    new: &'s Contents<'a>,
    pairs: &'s Pairs,
    words: (&'s Translation<'a>, &'s Translation<'a>),
    found: Vec<ChangedPackage>,
}

impl<'a> Sides<'_, 'a> {
    fn compare(&mut self) -> Left {
        let mut leftovers = Left::default();
        let file_places = |packages: &[Package<'_>], package: usize| {
            (0..packages[package].files.len()).map(move |file| At { package, file })
        };
        for (index, was) in self.pairs.old_of.iter().enumerate() {
            match was {
                Some(was) => self.pair(*was, index, &mut leftovers),
                None => leftovers.come.extend(file_places(&self.new.packages, index)),
            }
        }
        for index in self.pairs.vanished() {
            leftovers.gone.extend(file_places(&self.old.packages, index));
        }
        leftovers
    }

    fn pair(&mut self, was: usize, is: usize, left: &mut Left) {
        let (old, new) = (&self.old.packages[was], &self.new.packages[is]);
        self.found[is].fields = fields::differences((self.old, old), (self.new, new), self.words.0);
        let mut comparison = Comparison::new(old, new, self.words);
        let mut before: HashMap<_, usize> = HashMap::with_capacity(old.files.len());
        before.extend(
            old.files.iter().enumerate().map(|(index, file)| ((file.area, file.path), index)),
        );
        let mut paired = vec![false; old.files.len()];
        for (file, now) in new.files.iter().enumerate() {
            let Some(index) =
                before.get(&(now.area, now.path)).copied().filter(|index| !paired[*index])
            else {
                left.come.push(At { package: is, file });
                continue;
            };
            paired[index] = true;
            let then = &old.files[index];
            match (then.content, now.content) {
                (EntryContent::Link(_), EntryContent::Planned(_)) if now.origin().is_some() => {
                    left.filled.push((At { package: was, file: index }, At { package: is, file }));
                }
                (EntryContent::Planned(_), EntryContent::Link(_)) if then.origin().is_some() => {
                    left.emptied.push((At { package: was, file: index }, At { package: is, file }));
                }
                _ => self.changed(&mut comparison, is, then, now),
            }
        }
        let unpaired = paired.iter().enumerate().filter(|(_, paired)| !**paired);
        left.gone.extend(unpaired.map(|(file, _)| At { package: was, file }));
    }

    fn changed(
        &mut self,
        comparison: &mut Comparison<'_, 'a>,
        slot: usize,
        then: &File<'a>,
        now: &File<'a>,
    ) {
        self.found[slot].edits += match (then.content, now.content) {
            (EntryContent::Planned(Step::Relink { .. }), EntryContent::Built(_)) => {
                now.size.cast_signed() - then.size.cast_signed()
            }
            (EntryContent::Built(_), EntryContent::Planned(Step::Relink { .. })) => {
                then.size.cast_signed() - now.size.cast_signed()
            }
            _ => 0,
        };
        for difference in comparison.files(then, now) {
            if difference == Difference::Text
                && let Some(fields) = data(then, now, comparison)
            {
                merge(&mut self.found[slot].fields, fields);
                continue;
            }
            let change = change(comparison.new, Some(then), Some(now));
            self.found[slot].changes.entry(difference).or_default().push(change);
        }
    }

    fn left_over(&mut self, left: &Left, moves: &[Move], absences: &Absences<'_, '_>) {
        let unowned = unowned::reasons(self.new);
        for (from, to) in moves {
            let slot = self.pairs.slot(from.package);
            (self.found[slot].moved, self.found[to.package].moved) = (true, true);
        }
        let dead = left.directories(self.old, self.new, moves);
        for at in left.gone.iter().filter(|at| !dead.gone.contains(at)) {
            let (package, slot) = (&self.old.packages[at.package], self.pairs.slot(at.package));
            let file = &package.files[at.file];
            let unowned = file.origin().and_then(|origin| unowned.get(origin)).map(|reason| {
                let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                format!("unowned now{why}")
            });
            let now = unowned
                .or_else(|| absences.why_gone(at.package, file))
                .or_else(|| self.why_gone(package, file));
            self.add(slot, Difference::Vanished { now }, change(package, Some(file), None));
        }
        for at in left.come.iter().filter(|at| !dead.come.contains(at)) {
            let package = &self.new.packages[at.package];
            let file = &package.files[at.file];
            let reason = absences.why_not_there(at.package, file);
            self.add(
                at.package,
                Difference::Appeared { was: reason },
                change(package, None, Some(file)),
            );
        }
        for (from, to) in left.filled.iter().chain(&left.emptied) {
            let (then, now) = (
                &self.old.packages[from.package].files[from.file],
                &self.new.packages[to.package].files[to.file],
            );
            let step = Difference::Step { old: then.kind(), new: now.kind() };
            self.add(
                to.package,
                step,
                change(&self.new.packages[to.package], Some(then), Some(now)),
            );
        }
    }

    fn why_gone(&self, package: &Package<'_>, file: &File<'_>) -> Option<String> {
        let is_of_artifact =
            file.area == Area::Platform && !matches!(file.content, EntryContent::Directory);
        let name = package.package.filter(|_| is_of_artifact)?;
        self.new.reasons.and_then(|reasons| reasons.0(name, file.path))
    }

    fn left_out(&mut self) {
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
        self.found[slot].changes.entry(difference).or_default().push(change);
    }

    fn totals(&self) -> (Extent, Extent) {
        let mut totals = (Extent::default(), Extent::default());
        for (slot, found) in self.found.iter().enumerate() {
            let (old_index, new_index) = self.pairs.of_slot(slot);
            let sides = [
                (&mut totals.0, old_index.map(|i| &self.old.packages[i])),
                (&mut totals.1, new_index.map(|i| &self.new.packages[i])),
            ];
            for (total, package) in sides {
                let Extent { files, size } =
                    package.map(|p| extent(p, found.edits)).unwrap_or_default();
                *total = Extent { files: total.files + files, size: total.size + size };
            }
        }
        totals
    }

    fn package(&mut self, slot: usize) -> Option<PackageChange> {
        let (old_index, new_index) = self.pairs.of_slot(slot);
        let (old, new) =
            (old_index.map(|i| &self.old.packages[i]), new_index.map(|i| &self.new.packages[i]));
        let ChangedPackage { fields, changes, edits, moved } =
            std::mem::take(&mut self.found[slot]);
        let changes = group::changes(old, new, changes);
        let (before, after) = (old.map(Package::title), new.map(Package::title));
        let renamed = before.is_some() && after.is_some() && before != after;
        let alone = old.is_none() || new.is_none();
        if fields.is_empty() && changes.is_empty() && !renamed && !alone && !moved {
            return None;
        }
        let either = new.or(old)?;
        let first_value = |pick: fn(&Package<'_>) -> Option<String>| {
            new.and_then(pick).or_else(|| old.and_then(pick))
        };
        Some(PackageChange {
            title: either.title(),
            was: before.filter(|_| renamed),
            package: first_value(|p| p.package.map(ToString::to_string)),
            variant: first_value(|p| p.variant.map(str::to_owned)),
            old: old.map(|p| extent(p, edits)),
            new: new.map(|p| extent(p, edits)),
            fields,
            changes,
        })
    }
}

fn extent(package: &Package<'_>, edits: i64) -> Extent {
    let (files, size) = package.extent();
    let built = package.files.iter().any(|file| matches!(file.content, EntryContent::Built(_)));
    Extent { files, size: if built { size.saturating_add_signed(-edits) } else { size } }
}

fn data(
    then: &File<'_>,
    now: &File<'_>,
    comparison: &Comparison<'_, '_>,
) -> Option<Vec<FieldChange>> {
    if now.path.rsplit('/').next() != Some(facts::FILE) {
        return None;
    }
    let (then, now) = (then.text()?, now.text()?);
    facts::difference(
        &comparison.words.0.text(&then, comparison.old.version, comparison.new.version),
        &now,
    )
}

fn merge(fields: &mut Vec<FieldChange>, more: Vec<FieldChange>) {
    for field in more {
        if !fields.iter().any(|known| {
            known.field == field.field
                && known.added == field.added
                && known.removed == field.removed
        }) {
            fields.push(field);
        }
    }
}

fn side(side: &Contents<'_>, other: &Contents<'_>) -> Side {
    Side {
        label: side.label.clone(),
        version: side.version.map(ToString::to_string),
        mode: side.mode.filter(|_| other.mode.is_some()),
        platform_tag: side.platform_tag.map(str::to_owned),
    }
}

fn directories(same: &[(&Package<'_>, &Package<'_>)]) -> Vec<Renamed> {
    let pairs = same
        .iter()
        .filter_map(|(old, new)| old.platform_dir.zip(new.platform_dir))
        .filter(|(old, new)| old != new);
    let renamed: BTreeMap<&str, &str> = pairs.collect();
    renamed
        .into_iter()
        .map(|(old, new)| Renamed { old: old.to_owned(), new: new.to_owned() })
        .collect()
}
