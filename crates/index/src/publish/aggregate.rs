//! Index of all shelves: a page, and documents for the server that routes requests.
//!
//! The documents have the form of `aggregate_index.py` upstream (schema 2), with unowned projects
//! in addition.

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
    public_base: &'a str,
    stream: &'a str,
    generation_mode: &'static str,
    /// False: the pages were compared with their packages at publication only.
    content_validated: bool,
    package_count: usize,
    unpublished_package_count: usize,
    owners: BTreeMap<String, Owner>,
    packages: Vec<Published>,
    unpublished_packages: BTreeSet<Unpublished>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    unowned_packages: BTreeSet<String>,
}

#[derive(Serialize, Default)]
struct Owner {
    package_count: usize,
}

#[derive(Serialize)]
struct Published {
    name: String,
    owner_path: String,
    product_root_index: String,
    package_index: String,
    source: &'static str,
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Unpublished {
    owner_path: String,
    name: String,
    product_root_index: String,
}

#[derive(Default)]
struct OnShelves<'a> {
    owned: BTreeMap<String, &'a Shelf>,
    /// Projects on a shelf without or against a rule.
    unowned: BTreeSet<String>,
}

type Make<'a> = Box<dyn Fn() -> Result<String, PublishError> + 'a>;

#[derive(Clone, Copy)]
pub(super) struct Above<'a> {
    store: &'a PageStore<'a>,
    layout: &'a Layout,
    aggregate: &'a Aggregate,
    stream: &'a str,
    new: Option<&'a Pages<'a>>,
}

impl<'a> Above<'a> {
    pub(super) fn new(store: &'a PageStore<'a>, layout: &'a Layout) -> Option<Self> {
        let (aggregate, stream) = layout.aggregate.as_ref()?;
        Some(Self { store, layout, aggregate, stream, new: None })
    }

    pub(super) fn with_new_pages(self, new: &'a Pages<'a>) -> Self {
        Self { new: Some(new), ..self }
    }

    pub(super) fn routes(self) -> &'a RelPath {
        &self.aggregate.routes
    }

    /// Repeats if other programs change a file. Returns the number of changed files.
    pub(super) fn write(self, report: &dyn Fn(&Step)) -> Result<usize, PublishError> {
        let writer = Writer { pages: self.store };
        let counts = self.files()?.into_iter().map(|(key, make)| writer.remade(&key, report, make));
        counts.sum()
    }

    /// Reports the files that [`Self::write`] would change.
    pub(super) fn preview(self, report: &dyn Fn(&Step)) -> Result<usize, PublishError> {
        let writer = Writer { pages: self.store };
        let files = self.files()?.into_iter();
        files.map(|(key, make)| writer.would_remake(&key, report, &make()?)).sum()
    }

    fn files(self) -> Result<Vec<(RelPath, Make<'a>)>, PublishError> {
        let Self { store, layout, aggregate, stream, .. } = self;
        let key_of = |name: &str| -> Result<RelPath, PublishError> {
            Ok(aggregate.path.join(&name.parse()?))
        };
        let page =
            move || Ok::<_, PublishError>(Projects(self.collect()?.owned.into_keys().collect()));
        let text = move |text: serde_json::Result<String>, key: &RelPath| {
            text.map_err(|error| read::wrong(store.bucket, key, error.into()))
        };
        let (json, html, json_key) =
            (key_of("index.json")?, key_of("index.html")?, key_of("index.json")?);
        let mut files: Vec<(RelPath, Make<'a>)> = vec![
            (
                aggregate.routes.clone(),
                Box::new(move || {
                    text(routes(&self.collect()?, aggregate, stream), &aggregate.routes)
                }),
            ),
            (json, Box::new(move || text(page()?.json(), &json_key))),
            (html, Box::new(move || Ok(page()?.html()))),
        ];
        if let Some(key) = &aggregate.validation {
            let make = move || text(validation(&self.collect()?, (layout, aggregate), stream), key);
            files.push((key.clone(), Box::new(make)));
        }
        Ok(files)
    }

    fn collect(self) -> Result<OnShelves<'a>, PublishError> {
        let mut projects = OnShelves::default();
        for shelf in &self.layout.shelves {
            let Some(root) = shelf.root()? else { continue };
            let mut names = read::projects(self.store, &root)?.0.unwrap_or_default().0;
            names.extend(self.new.iter().flat_map(|new| new.names(&root)).cloned());
            for project in names {
                if self.layout.shelf(&project).is_some_and(|owner| std::ptr::eq(owner, shelf)) {
                    projects.owned.insert(project, shelf);
                } else {
                    projects.unowned.insert(project);
                }
            }
        }
        Ok(projects)
    }
}

/// Path of a shelf beside the aggregate: `core/whl` for `/rocm/core/whl/` beside `/rocm/whl/`.
fn owner_path(aggregate: &Aggregate, shelf: &Shelf) -> String {
    let base = public_base(aggregate);
    let above = base.rsplit_once('/').map_or("", |(above, _)| above);
    let path = shelf.public();
    let path = path.trim_end_matches('/');
    let below = path.strip_prefix(above).filter(|below| below.starts_with('/'));
    below.unwrap_or(path).trim_start_matches('/').to_owned()
}

fn public_base(aggregate: &Aggregate) -> &str {
    aggregate.public.trim_end_matches('/')
}

fn root_index(shelf: &Shelf) -> String {
    format!("{}index.html", shelf.public())
}

fn all_routes<'a>(projects: &OnShelves<'a>, aggregate: &Aggregate) -> Vec<(Route, &'a Shelf)> {
    let route = |project: &String, shelf: &Shelf| Route {
        owner_path: owner_path(aggregate, shelf),
        package: project.clone(),
        target: format!("{}{project}/", shelf.public()),
    };
    let owned = projects.owned.iter();
    let mut routes: Vec<_> =
        owned.map(|(project, shelf)| (route(project, shelf), *shelf)).collect();
    routes.sort_by(|(a, _), (b, _)| a.cmp(b));
    routes
}

fn routes(
    projects: &OnShelves<'_>,
    aggregate: &Aggregate,
    stream: &str,
) -> serde_json::Result<String> {
    let routes = all_routes(projects, aggregate).into_iter().map(|(route, _)| route).collect();
    let public_base = public_base(aggregate);
    lines(&Document { schema_version: SCHEMA, public_base, stream, routes })
}

fn validation(
    projects: &OnShelves<'_>,
    (layout, aggregate): (&Layout, &Aggregate),
    stream: &str,
) -> serde_json::Result<String> {
    let routes = all_routes(projects, aggregate);
    let mut owners: BTreeMap<String, Owner> = BTreeMap::new();
    for (route, _) in &routes {
        owners.entry(route.owner_path.clone()).or_default().package_count += 1;
    }
    let packages: Vec<Published> = routes
        .into_iter()
        .map(|(route, shelf)| Published {
            name: route.package,
            owner_path: route.owner_path,
            product_root_index: root_index(shelf),
            package_index: route.target + "index.html",
            source: "exact",
        })
        .collect();
    let named = layout.shelves.iter().flat_map(|shelf| shelf.names().map(move |n| (n, shelf)));
    let unpublished: BTreeSet<Unpublished> = named
        .filter(|(name, _)| !projects.owned.contains_key(*name))
        .map(|(name, shelf)| Unpublished {
            owner_path: owner_path(aggregate, shelf),
            name: name.to_owned(),
            product_root_index: root_index(shelf),
        })
        .collect();
    lines(&Validation {
        schema_version: SCHEMA,
        public_base: public_base(aggregate),
        stream,
        generation_mode: "content",
        content_validated: false,
        package_count: packages.len(),
        unpublished_package_count: unpublished.len(),
        owners,
        packages,
        unpublished_packages: unpublished,
        unowned_packages: projects.unowned.clone(),
    })
}

fn lines(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n")
}
