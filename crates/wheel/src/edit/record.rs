use std::collections::HashMap;

use crate::archive::checksum::Digest;
use crate::archive::wheel::record::{field, own_row, row};
use crate::package::Wheel;
use crate::package::record::Rows;

/// Order of the rows of a new RECORD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Order of the old RECORD; new rows last.
    Old,
    /// Order of the members.
    Members,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    number: usize,
    text: &'t str,
}

/// Rows of the old RECORD. Each line is one row, because quoted line breaks cannot occur: paths of members
/// have none.
pub(super) struct OldRecord<'t> {
    /// Paths with their rows; `None` once taken.
    lines: Vec<(String, Option<Line<'t>>)>,
    by_path: HashMap<String, usize>,
}

/// Row of the new RECORD.
pub(super) struct Row {
    /// Number of the old row; the largest one for a new row.
    number: usize,
    text: String,
}

impl<'t> OldRecord<'t> {
    pub fn read(text: &'t str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty()).enumerate();
        let lines = lines.map(|(number, text)| (path(text), Some(Line { number, text })));
        let lines: Vec<_> = lines.collect();
        // The first row of a path counts: collected last, it replaces the others.
        let by_path = lines.iter().enumerate().rev().map(|(at, (path, _))| (path.clone(), at));
        Self { by_path: by_path.collect(), lines }
    }

    /// Takes the row of a path, so that [`Self::remaining_rows`] omits it.
    pub fn take(&mut self, path: &str) -> Option<Line<'t>> {
        self.lines[*self.by_path.get(path)?].1.take()
    }

    /// Rows that no member took, except those of dropped members and of RECORD (`record`). Rows without a
    /// member in `old` remain, because an edit repairs nothing: only `verify` reports them.
    pub fn remaining_rows(
        &self,
        old: &Wheel,
        record: &str,
        renamed: impl Fn(&str) -> Option<String>,
    ) -> Vec<Row> {
        let is_taken =
            |path: &str| self.by_path.get(path).is_some_and(|at| self.lines[*at].1.is_none());
        let is_dropped =
            |path: &str| path == record || old.zip().find(path).is_some() && !is_taken(path);
        let lines = self.lines.iter().filter(|(path, _)| !is_dropped(path));
        let row = |(path, line): &(String, Option<Line<'_>>)| {
            Row::new(*line, renamed(path).as_deref().unwrap_or(path), None)
        };
        lines.filter_map(row).collect()
    }
}

fn path(line: &str) -> String {
    fields(line).map_or_else(String::new, |[path, ..]| path)
}

fn fields(line: &str) -> Option<[String; 3]> {
    Rows::new(line.as_bytes()).next()?.ok()
}

impl Row {
    /// Row of a new digest; without one, the old row under the new name; `None` without both.
    pub fn new(line: Option<Line<'_>>, name: &str, digest: Option<Digest>) -> Option<Self> {
        let number = line.map_or(usize::MAX, |line| line.number);
        let text = match (digest, line.map(|line| (line.text, fields(line.text)))) {
            (Some(digest), _) => row(name, &digest),
            (None, Some((_, Some([path, hash, size])))) if path != name => {
                format!("{},{},{}\n", field(name), field(&hash), field(&size))
            }
            (None, Some((text, _))) => format!("{text}\n"),
            (None, None) => return None,
        };
        Some(Self { number, text })
    }
}

/// Text of a RECORD. The last row is that of RECORD, without hash and size.
pub(super) fn text(mut rows: Vec<Row>, order: Order, name: &str) -> String {
    if order == Order::Old {
        rows.sort_by_key(|row| row.number);
    }
    rows.into_iter().map(|row| row.text).chain([own_row(name)]).collect()
}
