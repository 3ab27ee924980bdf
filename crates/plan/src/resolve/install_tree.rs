use super::paths::PathMap;
use base::names::RelPath;
use catalog::{Artifact, CatalogEntry, EntryKind, SourcePath};

#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub artifact: &'a Artifact,
    pub entry: &'a CatalogEntry,
}

impl Item<'_> {
    pub fn origin(&self) -> SourcePath {
        SourcePath {
            artifact: self.artifact.id.clone(),
            base: self.entry.base.clone(),
            path: self.entry.path.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Target<'a> {
    File(Item<'a>),
    Directory,
    Missing(String),
    Outside,
    Loop,
}

/// Linux's limit (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Only looked up: sorting would take most of the planning time.
#[derive(Debug, Default)]
pub(super) struct Layer<'a> {
    items: PathMap<&'a str, Item<'a>>,
    directories: PathMap<&'a str, Contents>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Contents {
    Nothing,
    Something,
}

impl<'a> Layer<'a> {
    /// The first entry at a path counts; [`super::ownership`] reports conflicts.
    pub fn new(artifacts: impl Iterator<Item = &'a Artifact>) -> Self {
        let mut layer = Self::default();
        for artifact in artifacts {
            for entry in &artifact.entries {
                let path = entry.path.as_str();
                match entry.kind {
                    EntryKind::Directory => {
                        _ = layer.directories.entry(path).or_insert(Contents::Nothing);
                    }
                    EntryKind::File { .. } | EntryKind::Symlink { .. } => {
                        _ = layer.items.entry(path).or_insert(Item { artifact, entry });
                    }
                }
                layer.fill_parents(path);
            }
        }
        layer
    }

    fn fill_parents(&mut self, path: &'a str) {
        for directory in std::iter::successors(parent(path), |p| parent(p)) {
            if self.directories.insert(directory, Contents::Something) == Some(Contents::Something)
            {
                break; // then all its parents are known too
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct View<'v, 'a> {
    generic: &'v Layer<'a>,
    own: Layer<'a>,
}

impl<'v, 'a> View<'v, 'a> {
    pub fn new(generic: &'v Layer<'a>, own: Layer<'a>) -> Self {
        Self { generic, own }
    }

    /// Does not follow links.
    pub fn get(&self, path: &RelPath) -> Option<Item<'a>> {
        self.item(path.as_str())
    }

    fn item(&self, path: &str) -> Option<Item<'a>> {
        match (self.generic.items.get(path), self.own.items.get(path)) {
            (Some(generic), Some(own)) if own.artifact.id < generic.artifact.id => Some(*own),
            (generic, own) => generic.or(own).copied(),
        }
    }

    fn contents(&self, directory: &str) -> Option<Contents> {
        self.generic.directories.get(directory).max(self.own.directories.get(directory)).copied()
    }

    pub(crate) fn is_empty_directory(&self, path: &RelPath) -> bool {
        self.contents(path.as_str()) != Some(Contents::Something)
    }

    pub fn follow(&self, from: &RelPath, text: &str) -> Target<'a> {
        if text.starts_with('/') {
            return Target::Outside;
        }
        let directory: Vec<&str> = from.segments().collect();
        let mut walk = Walk {
            view: self,
            at: directory[..directory.len() - 1].iter().map(|s| (*s).to_owned()).collect(),
            links: 0,
        };
        match walk.follow_path(text) {
            Ok(()) => walk.arrived(),
            Err(target) => target,
        }
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

struct Walk<'v, 'a> {
    view: &'v View<'v, 'a>,
    at: Vec<String>,
    links: usize,
}

impl<'a> Walk<'_, 'a> {
    fn follow_path(&mut self, text: &str) -> Result<(), Target<'a>> {
        let segments: Vec<&str> = text.split('/').filter(|s| !s.is_empty() && *s != ".").collect();
        for (index, segment) in segments.iter().enumerate() {
            if *segment == ".." {
                self.at.pop().ok_or(Target::Outside)?;
                continue;
            }
            self.at.push((*segment).to_owned());
            self.through_link()?;
            let path = self.at.join("/");
            if index + 1 < segments.len() && !path.is_empty() && self.view.contents(&path).is_none()
            {
                let within =
                    if self.view.item(&path).is_some() { &segments[index + 1..] } else { &[] };
                return Err(Target::Missing([&[path.as_str()], within].concat().join("/")));
            }
        }
        Ok(())
    }

    fn through_link(&mut self) -> Result<(), Target<'a>> {
        let path = self.at.join("/");
        let Some(EntryKind::Symlink { target }) = self.view.item(&path).map(|i| &i.entry.kind)
        else {
            return Ok(());
        };
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Target::Loop);
        }
        if target.starts_with('/') {
            return Err(Target::Outside);
        }
        self.at.pop();
        self.follow_path(target)
    }

    fn arrived(&self) -> Target<'a> {
        let path = self.at.join("/");
        match self.view.item(&path) {
            Some(item) => Target::File(item),
            None if path.is_empty() || self.view.contents(&path).is_some() => Target::Directory,
            None => Target::Missing(path),
        }
    }
}

#[cfg(test)]
mod tests;
