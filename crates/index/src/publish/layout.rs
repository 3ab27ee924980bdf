//! Where packages and pages go.

use super::{PublishError, named};
use crate::simple::{IndexedFile, Local, RECORD, url};
use base::names::{PackageName, PathError, RelPath};
use manifest::{Aggregate, Publishing, ShelfRule};
use wheel::archive::Timestamp;

/// The shelves of a store. A project goes to the first that takes it.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Each is an index by itself.
    pub shelves: Vec<Shelf>,
    /// The index above all of them, and the name of the stream that its documents say.
    pub aggregate: Option<(Aggregate, String)>,
    /// The stream that the store is for, where that was given.
    pub stream: Option<String>,
}

impl Default for Layout {
    /// One page for all packages, at the top.
    fn default() -> Self {
        Self::of(Form::Flat)
    }
}

/// A part of a store that is one index.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Where it is; nothing is the top.
    pub base: Option<RelPath>,
    /// Which pages it has.
    pub form: Form,
    /// What may lie on it.
    pub takes: Takes,
    /// Whether clients and caches have to ask for pages anew each time.
    pub uncached: bool,
}

/// Which pages a shelf has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All packages side by side with one page, for `--find-links`. What stands on the page is in [`RECORD`].
    Flat,
    /// A directory with a page for each project, and a page that leads there, for `--index-url`.
    Projects,
}

/// Which projects a shelf takes.
#[derive(Debug, Clone)]
pub enum Takes {
    /// All.
    All,
    /// Those that a line of the manifest names.
    Named(ShelfRule),
}

/// A package and where it goes.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    /// The package.
    pub(super) local: &'a Local,
    /// The shelf that takes it.
    pub(super) shelf: &'a Shelf,
    /// Its key.
    pub(super) key: RelPath,
    /// What a page says of it.
    pub(super) entry: IndexedFile,
}

/// The two files of a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageKeys {
    /// What it says, as data.
    pub(super) json: RelPath,
    /// What clients get that ask for nothing else.
    pub(super) html: RelPath,
}

impl Layout {
    /// One index at the top that takes all.
    pub fn of(form: Form) -> Self {
        Self { shelves: vec![Shelf::of(form)], aggregate: None, stream: None }
    }

    /// The shelves of a manifest, in a store of this stream. Caches may not keep their pages.
    pub fn of_manifest(publishing: &Publishing, stream: &str) -> Self {
        let shelf = |rule: &ShelfRule| Shelf {
            base: Some(rule.path.value.clone()),
            form: Form::Projects,
            takes: Takes::Named(rule.clone()),
            uncached: true,
        };
        let aggregate = publishing.aggregate.clone();
        Self {
            shelves: publishing.shelves.iter().map(shelf).collect(),
            aggregate: aggregate.map(|aggregate| (aggregate, stream.to_owned())),
            stream: Some(stream.to_owned()),
        }
    }

    /// The same in a store of this stream.
    #[must_use]
    pub fn in_stream(self, stream: Option<&str>) -> Self {
        Self { stream: stream.map(str::to_owned), ..self }
    }

    /// The part of an index that has a selector of its own, or of the index of all packages. Where no shelf says where
    /// it is, it has a directory of its name.
    #[must_use]
    pub(super) fn of_index(&self, index: Option<&PackageName>) -> Self {
        let is_for = |shelf: &&Shelf| match &shelf.takes {
            Takes::All => true,
            Takes::Named(rule) => rule.index.as_deref() == index,
        };
        let place = |shelf: &Shelf| {
            let below = index.filter(|_| matches!(shelf.takes, Takes::All));
            let below = below.and_then(|index| index.as_str().parse::<RelPath>().ok());
            let base = match (&shelf.base, below) {
                (Some(base), Some(below)) => Some(base.join(&below)),
                (base, below) => below.or_else(|| base.clone()),
            };
            Shelf { base, ..shelf.clone() }
        };
        Self {
            shelves: self.shelves.iter().filter(is_for).map(place).collect(),
            aggregate: self.aggregate.clone().filter(|_| index.is_none()),
            stream: self.stream.clone(),
        }
    }

    /// The shelf that takes a project.
    pub(super) fn shelf(&self, project: &str) -> Option<&Shelf> {
        self.shelves.iter().find(|shelf| match &shelf.takes {
            Takes::All => true,
            Takes::Named(rule) => rule.takes(project),
        })
    }

    /// Where each package goes.
    pub(super) fn place<'a>(
        &'a self,
        locals: &'a [Local],
        time: Option<Timestamp>,
    ) -> Result<Vec<Placed<'a>>, PublishError> {
        let place = |local: &'a Local| {
            let owner = self.shelf(&local.project);
            let owner = owner.ok_or_else(|| PublishError::Homeless(named(local)))?;
            let place = owner.page(&local.project)?;
            let key = place.html.with_file_name(&local.file_name)?;
            let entry = local.entry(url(&place.html, &key), time);
            Ok(Placed { local, shelf: owner, key, entry })
        };
        locals.iter().map(place).collect()
    }
}

impl Shelf {
    /// One at the top that takes all.
    pub(super) fn of(form: Form) -> Self {
        Self { base: None, form, takes: Takes::All, uncached: false }
    }

    /// Where clients see it.
    pub(super) fn public(&self) -> &str {
        match &self.takes {
            Takes::All => "/",
            Takes::Named(rule) => &rule.public,
        }
    }

    /// The projects that it is for, as far as they are named one by one.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let rule = match &self.takes {
            Takes::All => None,
            Takes::Named(rule) => Some(rule),
        };
        let globs = rule.into_iter().flat_map(|rule| &rule.projects);
        globs.map(|glob| glob.as_str()).filter(|name| !name.contains(['*', '?', '[', '{']))
    }

    /// The page that names the packages of a project.
    pub(super) fn page(&self, project: &str) -> Result<PageKeys, PathError> {
        match self.form {
            Form::Flat => self.files("", RECORD),
            Form::Projects => self.files(&format!("{project}/"), "index.json"),
        }
    }

    /// The page that leads to projects.
    pub(super) fn root(&self) -> Result<Option<PageKeys>, PathError> {
        match self.form {
            Form::Flat => Ok(None),
            Form::Projects => self.files("", "index.json").map(Some),
        }
    }

    /// What a page is called that has this project.
    pub(super) fn title<'p>(&self, project: &'p str) -> &'p str {
        if self.form == Form::Flat { "Packages" } else { project }
    }

    fn files(&self, directory: &str, json: &str) -> Result<PageKeys, PathError> {
        let at = |name: &str| -> Result<RelPath, PathError> {
            let path: RelPath = format!("{directory}{name}").parse()?;
            Ok(self.base.as_ref().map_or(path.clone(), |base| base.join(&path)))
        };
        Ok(PageKeys { json: at(json)?, html: at("index.html")? })
    }
}
