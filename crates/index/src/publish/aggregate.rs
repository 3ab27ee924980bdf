//! Index of all shelves: a page, and documents for the server that routes requests to shelves.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::layout::{Layout, Shelf};
use super::page_store::PageStore;
use super::pages::Pages;
use super::writer::Writer;
use super::{PublishError, Step, read};
use crate::simple::Projects;
use base::names::RelPath;
use manifest::Aggregate;

const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    public_base: &'a str,
    stream: &'a str,
    routes: Vec<Route>,
}

/// Sorted by owner, then by name.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    owner_path: String,
    package: String,
    target: String,
}

#[derive(Serialize)]
struct Validation<'a> {
    schema_version: u32,
    generation_mode: &'static str,
    /// False: the pages were compared with their packages at publication only.
    content_validated: bool,
    stream: &'a str,
    counts: Counts,
    owners: BTreeMap<&'a str, usize>,
    packages: BTreeSet<&'a str>,
    unpublished_packages: BTreeSet<&'a str>,
    unowned_packages: BTreeSet<String>,
}

#[derive(Serialize)]
struct Counts {
    owners: usize,
    packages: usize,
    unpublished_packages: usize,
    unowned_packages: usize,
}

#[derive(Default)]
struct OnShelves<'a> {
    /// Projects on the shelf of their rule.
    owned: BTreeMap<String, &'a Shelf>,
    /// Projects on a shelf although their rule names another shelf, or no rule exists.
    unowned: BTreeSet<String>,
}

type Make<'a> = Box<dyn Fn() -> Result<String, PublishError> + 'a>;

#[derive(Clone, Copy)]
pub(super) struct Above<'a> {
    store: &'a PageStore<'a>,
    layout: &'a Layout,
    aggregate: &'a Aggregate,
    stream: &'a str,
    /// Pages of the same run.
    new: Option<&'a Pages<'a>>,
}

impl<'a> Above<'a> {
    pub(super) fn of(store: &'a PageStore<'a>, layout: &'a Layout) -> Option<Self> {
        let (aggregate, stream) = layout.aggregate.as_ref()?;
        Some(Self { store, layout, aggregate, stream, new: None })
    }

    pub(super) fn with(self, new: &'a Pages<'a>) -> Self {
        Self { new: Some(new), ..self }
    }

    /// Key of the routes document, which records the stream.
    pub(super) fn routes(self) -> &'a RelPath {
        &self.aggregate.routes
    }

    /// Repeats if other programs change a file. Returns the number of changed files.
    pub(super) fn write(self, told: &dyn Fn(&Step)) -> Result<usize, PublishError> {
        let writer = Writer { pages: self.store };
        let written = self.files()?.into_iter().map(|(key, make)| writer.remade(&key, told, make));
        written.sum()
    }

    /// Reports the steps of [`Above::write`].
    pub(super) fn tell(self, told: &dyn Fn(&Step)) -> Result<usize, PublishError> {
        let writer = Writer { pages: self.store };
        let all = self.files()?.into_iter();
        all.map(|(key, make)| writer.would_remake(&key, told, &make()?)).sum()
    }

    fn files(self) -> Result<Vec<(RelPath, Make<'a>)>, PublishError> {
        let Self { store, layout, aggregate, stream, .. } = self;
        let at = |name: &str| -> Result<RelPath, PublishError> {
            Ok(aggregate.path.join(&name.parse()?))
        };
        let page =
            move || Ok::<_, PublishError>(Projects(self.found()?.owned.into_keys().collect()));
        let text = move |text: serde_json::Result<String>, key: &RelPath| {
            text.map_err(|error| read::wrong(store.bucket, key, error.into()))
        };
        let (json, html, json_key) = (at("index.json")?, at("index.html")?, at("index.json")?);
        let mut files: Vec<(RelPath, Make<'a>)> = vec![
            (
                aggregate.routes.clone(),
                Box::new(move || {
                    text(routes(&self.found()?, aggregate, stream), &aggregate.routes)
                }),
            ),
            (json, Box::new(move || text(page()?.json(), &json_key))),
            (html, Box::new(move || Ok(page()?.html()))),
        ];
        if let Some(key) = &aggregate.validation {
            let make = move || text(validation(&self.found()?, layout, stream), key);
            files.push((key.clone(), Box::new(make)));
        }
        Ok(files)
    }

    fn found(self) -> Result<OnShelves<'a>, PublishError> {
        let mut found = OnShelves::default();
        for shelf in &self.layout.shelves {
            let Some(root) = shelf.root()? else { continue };
            let mut projects = read::projects(self.store, &root)?.0.unwrap_or_default().0;
            projects.extend(self.new.iter().flat_map(|new| new.names(&root)).cloned());
            for project in projects {
                if self.layout.shelf(&project).is_some_and(|owner| std::ptr::eq(owner, shelf)) {
                    found.owned.insert(project, shelf);
                } else {
                    found.unowned.insert(project);
                }
            }
        }
        Ok(found)
    }
}

fn routes(
    found: &OnShelves<'_>,
    aggregate: &Aggregate,
    stream: &str,
) -> serde_json::Result<String> {
    let route = |(project, shelf): (&String, &&_)| {
        let owner_path = Shelf::public(shelf).to_owned();
        let target = format!("{owner_path}{project}/");
        Route { owner_path, package: project.clone(), target }
    };
    let mut routes: Vec<Route> = found.owned.iter().map(route).collect();
    routes.sort();
    let public_base = &aggregate.public;
    lines(&Document { schema_version: SCHEMA, public_base, stream, routes })
}

fn validation(found: &OnShelves<'_>, layout: &Layout, stream: &str) -> serde_json::Result<String> {
    let mut owners: BTreeMap<&str, usize> =
        layout.shelves.iter().map(|shelf| (shelf.public(), 0)).collect();
    for shelf in found.owned.values() {
        *owners.entry(shelf.public()).or_default() += 1;
    }
    let packages: BTreeSet<&str> = found.owned.keys().map(String::as_str).collect();
    let named = layout.shelves.iter().flat_map(Shelf::names);
    let unpublished: BTreeSet<&str> = named.filter(|name| !packages.contains(name)).collect();
    let counts = Counts {
        owners: owners.len(),
        packages: packages.len(),
        unpublished_packages: unpublished.len(),
        unowned_packages: found.unowned.len(),
    };
    lines(&Validation {
        schema_version: SCHEMA,
        generation_mode: "pages",
        content_validated: false,
        stream,
        counts,
        owners,
        packages,
        unpublished_packages: unpublished,
        unowned_packages: found.unowned.clone(),
    })
}

fn lines(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n")
}
