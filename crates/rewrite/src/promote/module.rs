//! Lists of targets in modules of Python: a line with `append('gfx942')` for each, and a default one in
//! `NAME = 'gfx942'`.

use std::collections::BTreeSet;
use std::ops::Range;

use super::change::{Change, Changed};
use super::targets::Targets;
use super::values::{self, NewValue};
use manifest::VersionFile;
use record::content::values::places;

/// Changes the version in a file of a rule and, with `targets`, the lists of targets in a module.
pub(super) fn promoted(
    member: &str,
    text: &str,
    file: &VersionFile,
    new: NewValue<'_>,
    targets: Option<&Targets>,
) -> Changed {
    let versioned = values::promoted(member, text, file.key.as_deref(), new);
    let is_module =
        file.key.is_none() && member.rsplit_once('.').is_some_and(|(_, end)| end == "py");
    let Some(targets) = targets.filter(|_| is_module) else { return versioned };
    let mut pruned = pruned(member, &versioned.text, targets);
    pruned.changes.splice(0..0, versioned.changes);
    pruned
}

/// Removes the lines of targets that are not kept; a value that is such a target becomes the first
/// kept one. Modules that list one target stay.
fn pruned(member: &str, text: &str, targets: &Targets) -> Changed {
    let is_target =
        |(_, range): &(String, Range<usize>)| targets.is_name(base_of(&text[range.clone()]));
    let (items, values): (Vec<_>, Vec<_>) =
        places(member, text, None).into_iter().filter(is_target).partition(|(_, range)| {
            text[..range.start].trim_end_matches(['"', '\'']).ends_with(".append(")
        });
    let listed: BTreeSet<&str> =
        items.iter().map(|(_, range)| base_of(&text[range.clone()])).collect();
    let first = targets.first(listed.iter().copied());
    let (Some(first), true) = (first, listed.len() > 1) else {
        return Changed { text: text.to_owned(), changes: Vec::new() };
    };
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut changes = Vec::new();
    for (field, range) in values {
        let old = &text[range.clone()];
        if targets.drops(base_of(old)) {
            changes.push(Change::new(member, field, old, first));
            edits.push((range, first));
        }
    }
    for (_, range) in items {
        let old = &text[range.clone()];
        if targets.drops(base_of(old)) {
            let line = line_of(text, range.start);
            let list = text[line.start..range.start].split('.').next().unwrap_or_default();
            changes.push(Change::removal(member, list.trim(), old));
            edits.push((line, ""));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    Changed { text: edited(text, edits), changes }
}

/// Part of a target before its features: `gfx942` of `gfx942:xnack+`.
fn base_of(target: &str) -> &str {
    target.split(':').next().unwrap_or(target)
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    start..end
}

fn edited(text: &str, edits: Vec<(Range<usize>, &str)>) -> String {
    let (mut new, mut copied) = (String::with_capacity(text.len()), 0);
    for (range, with) in edits {
        new += &text[copied..range.start];
        new += with;
        copied = range.end;
    }
    new + &text[copied..]
}
