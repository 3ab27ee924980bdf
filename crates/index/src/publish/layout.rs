//! Keys of packages and pages.

use std::borrow::Cow;
use std::path::Path;

use super::{PublishError, named};
use crate::simple::{IndexedFile, Local, RECORD, resolve, url};
use base::names::{PackageName, PathError, RelPath};
use manifest::{Aggregate, Publishing, ShelfRule};
use wheel::archive::Timestamp;

/// Shelves of a store. The first match takes a project.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Shelves, each an index.
    pub shelves: Vec<Shelf>,
    /// Index above all shelves, and the stream of its documents.
    pub aggregate: Option<(Aggregate, String)>,
    /// Stream.
    pub stream: Option<String>,
}

impl Default for Layout {
    fn default() -> Self {
        Self::from_form(Form::Flat)
    }
}

/// Part of a store that is one index.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Directory; `None` is the top.
    pub base: Option<RelPath>,
    /// Kind of pages.
    pub form: Form,
    /// Projects of the shelf.
    pub takes: Takes,
    /// Clients and caches must request pages each time.
    pub uncached: bool,
}

/// Kind of pages on a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One directory with one page, for `--find-links`.
    Flat,
    /// A page for each project, and a page of links to them, for `--index-url`.
    Projects,
}

/// Projects that a shelf takes.
#[derive(Debug, Clone)]
pub enum Takes {
    /// All projects.
    All,
    /// Projects of a manifest line.
    Named(ShelfRule),
}

#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub(super) local: &'a Local,
    pub(super) shelf: &'a Shelf,
    pub(super) key: RelPath,
    pub(super) entry: IndexedFile,
}

impl Placed<'_> {
    pub(super) fn patches(&self) -> impl Iterator<Item = (Result<RelPath, PathError>, &Path)> {
        self.local.patches.iter().map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (self.key.with_file_name(&name), &**path)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageKeys {
    pub(super) json: RelPath,
    /// Page for clients without PEP 691.
    pub(super) html: RelPath,
}

impl Layout {
    /// One shelf at the top for all projects.
    pub fn from_form(form: Form) -> Self {
        Self { shelves: vec![Shelf::from_form(form)], aggregate: None, stream: None }
    }

    /// Shelves of a manifest. Caches must not keep their pages.
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

    /// Sets the stream.
    #[must_use]
    pub fn in_stream(self, stream: Option<&str>) -> Self {
        Self { stream: stream.map(str::to_owned), ..self }
    }

    /// Layout of one index. A shelf without rules has a subdirectory for a further index.
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

    pub(super) fn shelf(&self, project: &str) -> Option<&Shelf> {
        self.shelves.iter().find(|shelf| match &shelf.takes {
            Takes::All => true,
            Takes::Named(rule) => rule.takes(project),
        })
    }

    pub(super) fn place<'a>(
        &'a self,
        locals: &'a [Local],
        public: Option<&str>,
        time: Option<Timestamp>,
    ) -> Result<Vec<Placed<'a>>, PublishError> {
        let place = |local: &'a Local| {
            let owner = self.shelf(&local.project);
            let owner = owner.ok_or_else(|| PublishError::Homeless(named(local)))?;
            let place = owner.page(&local.project)?;
            let key = place.html.with_file_name(&local.file_name)?;
            let url = url(&place.html, &key);
            let public = public.map(|public| resolve(&owner.address(public, &local.project), &url));
            let entry = local.entry(url, public.as_deref(), time);
            Ok(Placed { local, shelf: owner, key, entry })
        };
        locals.iter().map(place).collect()
    }
}

impl Shelf {
    pub(super) fn from_form(form: Form) -> Self {
        Self { base: None, form, takes: Takes::All, uncached: false }
    }

    pub(super) fn public(&self) -> Cow<'_, str> {
        match (&self.takes, &self.base) {
            (Takes::All, None) => "/".into(),
            (Takes::All, Some(base)) => format!("/{base}/").into(),
            (Takes::Named(rule), _) => rule.public.as_str().into(),
        }
    }

    pub(super) fn address(&self, public: &str, project: &str) -> String {
        let base = format!("{}{}", public.trim_end_matches('/'), self.public());
        if project.is_empty() || self.form == Form::Flat {
            base
        } else {
            format!("{base}{project}/")
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let rule = match &self.takes {
            Takes::All => None,
            Takes::Named(rule) => Some(rule),
        };
        let globs = rule.into_iter().flat_map(|rule| &rule.projects);
        globs.map(|glob| glob.as_str()).filter(|name| !name.contains(['*', '?', '[', '{']))
    }

    pub(super) fn page(&self, project: &str) -> Result<PageKeys, PathError> {
        match self.form {
            Form::Flat => self.files("", RECORD),
            Form::Projects => self.files(&format!("{project}/"), "index.json"),
        }
    }

    /// Page of links; `None` for a flat shelf.
    pub(super) fn root(&self) -> Result<Option<PageKeys>, PathError> {
        match self.form {
            Form::Flat => Ok(None),
            Form::Projects => self.files("", "index.json").map(Some),
        }
    }

    pub(super) fn title<'p>(&self, project: &'p str) -> &'p str {
        if self.form == Form::Flat { "Packages" } else { project }
    }

    fn files(&self, directory: &str, json: &str) -> Result<PageKeys, PathError> {
        let key = |name: &str| -> Result<RelPath, PathError> {
            let path: RelPath = format!("{directory}{name}").parse()?;
            Ok(self.base.as_ref().map_or(path.clone(), |base| base.join(&path)))
        };
        Ok(PageKeys { json: key(json)?, html: key("index.html")? })
    }
}
