//! All that is installed together, as one tree: what links are resolved over.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Artifact, Catalog, Entry, EntryKind, Origin};
use crate::names::RelPath;

/// An entry with the artifact that has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub artifact: &'a Artifact,
    pub entry: &'a Entry,
}

impl Item<'_> {
    /// Where its bytes are.
    pub fn origin(&self) -> Origin {
        Origin { artifact: self.artifact.id.clone(), base: self.entry.base.clone(), path: self.entry.path.clone() }
    }
}

/// Where a path leads.
#[derive(Debug, Clone)]
pub(super) enum Target<'a> {
    /// A regular file, all links followed.
    File(Item<'a>),
    /// A directory.
    Directory,
    /// Nothing: the path that is not there.
    Missing(String),
    /// Out of the installation.
    Outside,
    /// In a circle.
    Loop,
}

/// Links followed before a path counts as a circle; Linux gives up after as many (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// The installed tree of some artifacts.
#[derive(Debug)]
pub(super) struct View<'a> {
    items: BTreeMap<&'a str, Item<'a>>,
    directories: BTreeSet<&'a str>,
}

impl<'a> View<'a> {
    /// The tree of the artifacts that `sees` lets in. Where two have a path, the first by name counts;
    /// whether they may is ownership's business, not resolution's.
    pub fn new(catalog: &'a Catalog, sees: impl Fn(&Artifact) -> bool) -> Self {
        let (mut items, mut directories) = (BTreeMap::new(), BTreeSet::new());
        for artifact in catalog.artifacts.iter().filter(|a| sees(a)) {
            for entry in &artifact.entries {
                let path = entry.path.as_str();
                match entry.kind {
                    EntryKind::Directory => _ = directories.insert(path),
                    EntryKind::File { .. } | EntryKind::Symlink { .. } => _ = items.entry(path).or_insert(Item { artifact, entry }),
                }
                let parents = std::iter::successors(parent(path), |p| parent(p));
                directories.extend(parents.take_while(|p| !p.is_empty()));
            }
        }
        Self { items, directories }
    }

    /// What is installed at `path`, links not followed.
    pub fn get(&self, path: &RelPath) -> Option<Item<'a>> {
        self.items.get(path.as_str()).copied()
    }

    /// Whether nothing at all is below the directory.
    pub fn is_empty_directory(&self, path: &RelPath) -> bool {
        let prefix = format!("{path}/");
        let below = |first: Option<&&str>| first.is_some_and(|p| p.starts_with(&prefix));
        !below(self.items.range(prefix.as_str()..).next().map(|(p, _)| p)) && !below(self.directories.range(prefix.as_str()..).next())
    }

    /// Where the link `text` at `from` leads.
    pub fn follow(&self, from: &RelPath, text: &str) -> Target<'a> {
        if text.starts_with('/') {
            return Target::Outside;
        }
        let directory: Vec<&str> = from.segments().collect();
        let mut walk = Walk { view: self, at: directory[..directory.len() - 1].iter().map(|s| (*s).to_owned()).collect(), links: 0 };
        match walk.go(text) {
            Ok(()) => walk.arrived(),
            Err(target) => target,
        }
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

struct Walk<'v, 'a> {
    view: &'v View<'a>,
    at: Vec<String>,
    links: usize,
}

impl<'a> Walk<'_, 'a> {
    fn go(&mut self, text: &str) -> Result<(), Target<'a>> {
        let segments: Vec<&str> = text.split('/').filter(|s| !s.is_empty() && *s != ".").collect();
        for (index, segment) in segments.iter().enumerate() {
            if *segment == ".." {
                self.at.pop().ok_or(Target::Outside)?;
                continue;
            }
            self.at.push((*segment).to_owned());
            self.through_link()?;
            let here = self.at.join("/");
            if index + 1 < segments.len() && !here.is_empty() && !self.view.directories.contains(here.as_str()) {
                // A file is no directory: nothing is below it.
                let within = if self.view.items.contains_key(here.as_str()) { &segments[index + 1..] } else { &[] };
                return Err(Target::Missing([&[here.as_str()], within].concat().join("/")));
            }
        }
        Ok(())
    }

    /// When a link is here, goes where it leads.
    fn through_link(&mut self) -> Result<(), Target<'a>> {
        let here = self.at.join("/");
        let Some(EntryKind::Symlink { target }) = self.view.items.get(here.as_str()).map(|i| &i.entry.kind) else { return Ok(()) };
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Target::Loop);
        }
        if target.starts_with('/') {
            return Err(Target::Outside);
        }
        self.at.pop();
        self.go(target)
    }

    fn arrived(&self) -> Target<'a> {
        let here = self.at.join("/");
        match self.view.items.get(here.as_str()) {
            Some(item) => Target::File(*item),
            None if here.is_empty() || self.view.directories.contains(here.as_str()) => Target::Directory,
            None => Target::Missing(here),
        }
    }
}
