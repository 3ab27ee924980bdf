use super::super::Diff;
use super::{Line, Section};

pub(super) fn warnings(diff: &Diff) -> Section {
    let line = |now: bool| if now { '+' } else { '-' };
    let lines = diff.warnings.iter().map(|warning| {
        let place = warning.rule.as_ref().filter(|_| warning.now);
        let place = place.map(|rule| format!(" ({rule})")).unwrap_or_default();
        Line::field(line(warning.now), &warning.code, format!("{}{place}", warning.message))
    });
    Section { title: "warnings".to_owned(), lines: lines.collect() }
}

pub(super) fn notes(diff: &Diff) -> Section {
    let line = |now: bool| if now { '+' } else { '-' };
    let lines =
        diff.notes.iter().map(|note| Line::field(line(note.now), "note", note.note.clone()));
    Section { title: "notes of the plans".to_owned(), lines: lines.collect() }
}
