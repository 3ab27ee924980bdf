use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::contents::{File, Package};

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// Path relative to the platform directory, otherwise to site-packages.
    pub path: String,
    /// Old path, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Old size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_size: Option<u64>,
    /// New size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_size: Option<u64>,
    /// Rule that placed it on the new side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Further changes of a moved file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// A group of changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Place {
    /// A path; `DIR/**` for all candidates below a directory, `DIR/…` for some of them.
    pub pattern: String,
    /// Number of files.
    pub files: usize,
    /// Number of candidates at this place.
    pub of: usize,
    /// Old size in bytes.
    pub old_size: u64,
    /// New size in bytes.
    pub new_size: u64,
    /// Rule, if common to all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Further changes of moved files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
}

/// A further change of moved files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Also {
    /// Description.
    pub what: String,
    /// Number of files with it.
    pub files: usize,
}

pub(super) fn change(
    package: &Package<'_>,
    old: Option<&File<'_>>,
    new: Option<&File<'_>>,
) -> FileChange {
    let path = new.or(old).map(|file| package.shown(file).into_owned()).unwrap_or_default();
    let rule = new.and_then(|file| file.rule).filter(|rule| rule.contains(':'));
    FileChange {
        path,
        was: None,
        old_size: old.map(|f| f.size),
        new_size: new.map(|f| f.size),
        rule: rule.map(str::to_owned),
        also: Vec::new(),
    }
}

/// Groups files into at most `limit` places: directories with all candidates, as high as possible,
/// then merges the deepest ones.
pub(super) fn places(files: &[FileChange], universe: &Universe<'_>, limit: usize) -> Vec<Place> {
    let mut walk = Walk { files, universe, sums: sums(files), found: Vec::new() };
    walk.directory("", 0, files.len());
    let mut spans = walk.found.clone();
    let mut depth = spans.iter().map(Span::depth).max().unwrap_or_default();
    while spans.len() > limit {
        spans = merged(spans, depth);
        match depth.checked_sub(1) {
            Some(less) => depth = less,
            None => break,
        }
    }
    spans.iter().map(|span| walk.place(span)).collect()
}

pub(super) struct Universe<'a>(Vec<Cow<'a, str>>);

impl<'a> Universe<'a> {
    pub fn new(paths: impl Iterator<Item = Cow<'a, str>>) -> Self {
        let mut paths: Vec<_> = paths.collect();
        paths.sort_unstable();
        Self(paths)
    }

    fn count(&self, prefix: &str) -> usize {
        let start = self.0.partition_point(|p| &**p < prefix);
        start_with(&self.0[start..], prefix, |p| p)
    }
}

fn start_with<T>(items: &[T], prefix: &str, path: impl Fn(&T) -> &str) -> usize {
    items.partition_point(|item| path(item).starts_with(prefix))
}

/// `start..end`; `directory` is empty or ends in `/`.
#[derive(Debug, Clone)]
struct Span {
    directory: String,
    start: usize,
    end: usize,
    single: bool,
}

impl Span {
    fn depth(&self) -> usize {
        let above = if self.single { &*self.directory } else { above(&self.directory) };
        above.matches('/').count()
    }
}

fn above(directory: &str) -> &str {
    let name = directory.strip_suffix('/').unwrap_or(directory);
    name.rfind('/').map_or("", |at| &directory[..=at])
}

/// Ends in `/`; of sorted paths, it contains all between.
fn common<'p>(first: &'p str, last: &str) -> &'p str {
    let length = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    first.as_bytes()[..length].iter().rposition(|b| *b == b'/').map_or("", |at| &first[..=at])
}

fn sums(files: &[FileChange]) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0)];
    for file in files {
        let (old, new) = sums.last().copied().unwrap_or_default();
        sums.push((
            old + file.old_size.unwrap_or_default(),
            new + file.new_size.unwrap_or_default(),
        ));
    }
    sums
}

struct Walk<'w, 'a> {
    files: &'w [FileChange],
    universe: &'w Universe<'a>,
    sums: Vec<(u64, u64)>,
    found: Vec<Span>,
}

impl Walk<'_, '_> {
    fn directory(&mut self, directory: &str, start: usize, end: usize) {
        if end - start > 1 && self.universe.count(directory) == end - start {
            let directory = common(&self.files[start].path, &self.files[end - 1].path).to_owned();
            self.found.push(Span { directory, start, end, single: false });
            return;
        }
        let mut index = start;
        while index < end {
            let path = &self.files[index].path;
            let Some(len) = path[directory.len()..].find('/') else {
                self.found.push(Span {
                    directory: directory.to_owned(),
                    start: index,
                    end: index + 1,
                    single: true,
                });
                index += 1;
                continue;
            };
            let below = path[..=directory.len() + len].to_owned();
            let count = start_with(&self.files[index..end], &below, |f| f.path.as_str());
            self.directory(&below, index, index + count);
            index += count;
        }
    }

    fn place(&self, span: &Span) -> Place {
        let (files, (from, to)) =
            (span.end - span.start, (self.sums[span.start], self.sums[span.end]));
        let total = if span.single { 1 } else { self.universe.count(&span.directory).max(files) };
        let pattern = if span.single {
            self.files[span.start].path.clone()
        } else {
            format!("{}{}", span.directory, if total == files { "**" } else { "…" })
        };
        let rule = self.files[span.start].rule.clone();
        let rule = rule.filter(|first| {
            self.files[span.start..span.end].iter().all(|f| f.rule.as_ref() == Some(first))
        });
        let also = further_changes(&self.files[span.start..span.end]);
        Place {
            pattern,
            files,
            of: total,
            old_size: to.0 - from.0,
            new_size: to.1 - from.1,
            rule,
            also,
        }
    }
}

fn further_changes(files: &[FileChange]) -> Vec<Also> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for what in files.iter().flat_map(|file| &file.also) {
        *counts.entry(what).or_default() += 1;
    }
    counts.into_iter().map(|(what, files)| Also { what: what.to_owned(), files }).collect()
}

fn merged(spans: Vec<Span>, depth: usize) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        let home =
            ancestor(if span.single { &span.directory } else { above(&span.directory) }, depth);
        match (home, out.last_mut()) {
            (Some(home), Some(last))
                if ancestor(last_home(last, &home), depth).as_deref() == Some(&home) =>
            {
                *last = Span { directory: home, start: last.start, end: span.end, single: false };
            }
            _ => out.push(span),
        }
    }
    out
}

fn last_home<'s>(span: &'s Span, home: &str) -> &'s str {
    if span.single || span.directory == home { &span.directory } else { above(&span.directory) }
}

fn ancestor(directory: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return Some(String::new());
    }
    directory.match_indices('/').nth(depth - 1).map(|(at, _)| directory[..=at].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(files: &[&str], universe: &[&str], limit: usize) -> Vec<String> {
        let change = |path: &&str| FileChange {
            path: (*path).to_owned(),
            was: None,
            old_size: None,
            new_size: Some(1),
            rule: None,
            also: Vec::new(),
        };
        let files: Vec<FileChange> = files.iter().map(change).collect();
        let universe = Universe::new(universe.iter().map(|&p| p.into()));
        let places = places(&files, &universe, limit);
        assert_eq!(
            places.iter().map(|p| p.files).sum::<usize>(),
            files.len(),
            "every file is in one place"
        );
        assert_eq!(places.iter().map(|p| p.new_size).sum::<u64>(), files.len() as u64);
        places.iter().map(|p| format!("{} {}/{}", p.pattern, p.files, p.of)).collect()
    }

    const ALL: [&str; 8] =
        ["a", "lib/a/1", "lib/a/2", "lib/a-b", "lib/b/x/1", "lib/b/x/2", "lib/b/y", "share/s"];

    #[test]
    fn a_directory_that_is_meant_as_a_whole_is_one_place() {
        assert_eq!(patterns(&ALL, &ALL, 9), ["** 8/8"]);
        assert_eq!(patterns(&["lib/a/1", "lib/a/2"], &ALL, 9), ["lib/a/** 2/2"]);
        assert_eq!(patterns(&["lib/b/x/1", "lib/b/x/2", "lib/b/y"], &ALL, 9), ["lib/b/** 3/3"]);
        assert_eq!(patterns(&["lib/b/x/1", "lib/b/x/2"], &ALL, 9), ["lib/b/x/** 2/2"]);
        assert_eq!(
            patterns(&["x/y/1", "x/y/z/2"], &["x/y/1", "x/y/z/2"], 9),
            ["x/y/** 2/2"],
            "no farther up than they lie"
        );
        assert_eq!(
            patterns(&["share/s"], &ALL, 9),
            ["share/s 1/1"],
            "one file is called by its name"
        );
        assert_eq!(
            patterns(&["a", "lib/a-b", "lib/a/1"], &ALL, 9),
            ["a 1/1", "lib/a-b 1/1", "lib/a/1 1/1"]
        );
    }

    #[test]
    fn too_many_places_become_fewer_from_the_deepest_up() {
        let some = ["a", "lib/a-b", "lib/a/1", "lib/b/x/1", "lib/b/y"];
        assert_eq!(patterns(&some, &ALL, 5).len(), 5);
        assert_eq!(
            patterns(&some, &ALL, 4),
            ["a 1/1", "lib/a-b 1/1", "lib/a/1 1/1", "lib/b/… 2/3"]
        );
        assert_eq!(patterns(&some, &ALL, 3), ["a 1/1", "lib/… 4/6"]);
        assert_eq!(patterns(&some, &ALL, 1), ["… 5/8"]);
    }
}
