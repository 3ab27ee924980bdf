use std::collections::BTreeSet;

use super::contents::{Contents, Package};
use super::{NoteChange, WarningChange, absent};
use plan::Warning;

type Pairs<'p, 'a> = [(&'p Package<'a>, &'p Package<'a>)];

pub(super) fn notes(
    old: &Contents<'_>,
    new: &Contents<'_>,
    pairs: &Pairs<'_, '_>,
) -> Vec<NoteChange> {
    let (Some(old), Some(new)) = (old.notes, new.notes) else { return Vec::new() };
    let old_notes: Vec<String> = old.iter().map(|note| renamed(&note.text, pairs)).collect();
    let new_notes: Vec<String> =
        new.iter().map(|note| absent::without_lines(&note.text).into_owned()).collect();
    let only = |texts: &[String], others: &[String]| -> Vec<usize> {
        let other_set: BTreeSet<&String> = others.iter().collect();
        (0..texts.len()).filter(|index| !other_set.contains(&texts[*index])).collect()
    };
    let removed = only(&old_notes, &new_notes).into_iter().map(|index| (&old[index], false));
    let added = only(&new_notes, &old_notes).into_iter().map(|index| (&new[index], true));
    removed.chain(added).map(|(note, now)| NoteChange { note: note.text.clone(), now }).collect()
}

pub(super) fn warnings(
    old: &Contents<'_>,
    new: &Contents<'_>,
    pairs: &Pairs<'_, '_>,
) -> Vec<WarningChange> {
    let (Some(old), Some(new)) = (old.warnings, new.warnings) else { return Vec::new() };
    let key = |warning: &Warning, text: String| (warning.code.clone(), text);
    let unexpected = |all: &'_ [Warning]| -> Vec<Warning> {
        all.iter().filter(|warning| warning.expected.is_none()).cloned().collect()
    };
    let (old, new) = (unexpected(old), unexpected(new));
    let old_keys: BTreeSet<_> = old.iter().map(|w| key(w, renamed(&w.message, pairs))).collect();
    let new_keys: BTreeSet<_> = new.iter().map(|w| key(w, w.message.clone())).collect();
    let removed = old.iter().filter(|w| !new_keys.contains(&key(w, renamed(&w.message, pairs))));
    let added = new.iter().filter(|w| !old_keys.contains(&key(w, w.message.clone())));
    removed.map(|w| change(w, false)).chain(added.map(|w| change(w, true))).collect()
}

fn change(warning: &Warning, now: bool) -> WarningChange {
    WarningChange {
        code: warning.code.clone(),
        message: warning.message.clone(),
        rule: warning.places.first().map(|place| place.rule.clone()),
        now,
    }
}

fn renamed(text: &str, pairs: &Pairs<'_, '_>) -> String {
    let text = absent::without_lines(text).into_owned();
    let names = pairs.iter().flat_map(|(old, new)| {
        let directories = old.platform_dir.zip(new.platform_dir);
        std::iter::once((old.name.as_str(), new.name.as_str())).chain(directories)
    });
    let differ = names.filter(|(old, new)| old != new);
    differ.fold(text, |text, (old, new)| text.replace(old, new))
}
