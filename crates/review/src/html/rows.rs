use std::borrow::Cow;

use indexmap::IndexSet;
use serde::Serialize;

use super::column::Column;
use catalog::{ArtifactId, SourcePath};

pub(super) struct Row<'p> {
    /// Number from 1; 0 for none.
    pub distribution: u64,
    pub part: Part,
    /// A substitute for absent and unowned files.
    pub step: &'static str,
    pub path: Cow<'p, str>,
    pub size: u64,
    pub executable: bool,
    pub rule: &'p str,
    pub source: Option<&'p SourcePath>,
    pub detail: Cow<'p, str>,
    pub rpath: &'p str,
}

#[derive(Clone, Copy)]
pub(super) enum Part {
    File,
    License,
    Archive,
}

/// Texts by number; number 0 is the empty text.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Texts<'p>(IndexSet<Cow<'p, str>>);

impl<'p> Texts<'p> {
    fn number(&mut self, text: Cow<'p, str>) -> u64 {
        self.0.insert_full(text).0 as u64
    }

    fn number_of(&mut self, text: &str) -> u64 {
        self.0
            .get_index_of(text)
            .map_or_else(|| self.number(Cow::Owned(text.to_owned())), |at| at as u64)
    }
}

#[derive(Default, Serialize)]
pub(super) struct Directories {
    parent: Column,
    name: Column,
    #[serde(skip)]
    known: IndexSet<(u64, u64)>,
    #[serde(skip)]
    last: (String, u64),
}

impl Directories {
    fn number(&mut self, path: &str, texts: &mut Texts<'_>) -> u64 {
        if self.last.0 != path {
            let number = path
                .split('/')
                .filter(|name| !name.is_empty())
                .fold(0, |parent, name| self.below(parent, texts.number_of(name)));
            self.last = (path.to_owned(), number);
        }
        self.last.1
    }

    fn below(&mut self, parent: u64, name: u64) -> u64 {
        let (index, new) = self.known.insert_full((parent, name));
        if new {
            self.parent.push(parent);
            self.name.push(name);
        }
        index as u64 + 1
    }
}

#[derive(Serialize)]
pub(super) struct Rows<'p> {
    strings: Texts<'p>,
    directories: Directories,
    artifacts: IndexSet<&'p ArtifactId>,
    steps: IndexSet<&'static str>,
    columns: Columns,
}

#[derive(Default, Serialize)]
struct Columns {
    distribution: Column,
    part: Column,
    step: Column,
    directory: Column,
    name: Column,
    size: Column,
    executable: Column,
    rule: Column,
    artifact: Column,
    base: Column,
    /// Number of leading segments of the path that the source's path lacks.
    strip: Column,
    /// Path of the source, unless it is the path without these segments.
    source: Column,
    detail: Column,
    rpath: Column,
}

impl<'p> Rows<'p> {
    pub(super) fn new() -> Self {
        Self {
            strings: Texts(IndexSet::from([Cow::Borrowed("")])),
            directories: Directories::default(),
            artifacts: IndexSet::new(),
            steps: IndexSet::new(),
            columns: Columns::default(),
        }
    }

    pub(super) fn push(&mut self, row: Row<'p>) {
        let columns = &mut self.columns;
        let (directory, name) = row.path.rsplit_once('/').unwrap_or(("", &row.path));
        columns.directory.push(self.directories.number(directory, &mut self.strings));
        columns.name.push(self.strings.number_of(name));
        columns.distribution.push(row.distribution);
        columns.part.push(row.part as u64);
        columns.step.push(self.steps.insert_full(row.step).0 as u64);
        columns.size.push(row.size);
        columns.executable.push(row.executable.into());
        columns.rule.push(self.strings.number(row.rule.into()));
        columns.detail.push(self.strings.number(row.detail));
        columns.rpath.push(self.strings.number(row.rpath.into()));
        self.push_source(&row.path, row.source);
    }

    fn push_source(&mut self, path: &str, source: Option<&'p SourcePath>) {
        let columns = &mut self.columns;
        let above = source.and_then(|s| segments_above(path, s.path.as_str()));
        columns
            .artifact
            .push(source.map_or(0, |s| self.artifacts.insert_full(&s.artifact).0 as u64 + 1));
        columns.base.push(source.map_or(0, |s| self.strings.number(s.base.as_str().into())));
        columns.strip.push(above.unwrap_or(0));
        let whole = source.filter(|_| above.is_none());
        columns.source.push(whole.map_or(0, |s| self.strings.number(s.path.as_str().into())));
    }
}

fn segments_above(path: &str, tail: &str) -> Option<u64> {
    let head = path.strip_suffix(tail)?;
    (head.is_empty() || head.ends_with('/')).then(|| head.matches('/').count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_leading_segments_above_a_source() {
        assert_eq!(segments_above("p/lib/a", "lib/a"), Some(1));
        assert_eq!(segments_above("lib/a", "lib/a"), Some(0));
        assert_eq!(segments_above("p/xlib/a", "lib/a"), None);
        assert_eq!(segments_above("p/lib/b", "lib/a"), None);
    }

    #[test]
    fn numbers_directories_by_parent_and_name() {
        let (mut texts, mut directories) =
            (Texts(IndexSet::from([Cow::Borrowed("")])), Directories::default());
        let numbers =
            ["", "a", "a/b", "b/a", "a/b", "b"].map(|path| directories.number(path, &mut texts));
        assert_eq!(numbers, [0, 1, 2, 4, 2, 3]);
        assert_eq!(
            serde_json::to_string(&directories).unwrap(),
            r#"{"parent":[0,1,0,3],"name":[1,2,2,1]}"#
        );
    }
}
