//! One index of what all shelves have: a page, and documents for the server that leads to the shelves.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::layout::{Layout, Place, Shelf};
use super::pages::Pages;
use super::{PublishError, Step};
use crate::index::Projects;
use crate::manifest::Aggregate;
use crate::names::RelPath;

/// The documents' version.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    public_base: &'a str,
    stream: &'a str,
    routes: Vec<Route>,
}

/// In the order of a document: by owner, then by name.
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
    /// What a page says of its packages was compared with them when they were published, not now.
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

/// What the shelves have.
#[derive(Default)]
struct Found<'a> {
    /// Where each project is whose shelf the manifest says.
    owned: BTreeMap<String, &'a Shelf>,
    /// Projects on a shelf that another one has to have, or none.
    unowned: BTreeSet<String>,
}

/// Writes the page and the documents, as often as others change them meanwhile, and says how many files were not
/// right yet.
///
/// # Errors
/// When the store fails, or a page of a shelf is none.
pub(super) fn write(
    pages: &Pages<'_>,
    layout: &Layout,
    aggregate: &Aggregate,
    stream: &str,
    told: &dyn Fn(&Step),
) -> Result<usize, PublishError> {
    let at =
        |name: &str| -> Result<RelPath, PublishError> { Ok(aggregate.path.join(&name.parse()?)) };
    let place = Place { json: at("index.json")?, html: at("index.html")? };
    let look = || found(pages, layout);
    let page = || Ok::<_, PublishError>(Projects(look()?.owned.into_keys().collect()));
    let text = |text: serde_json::Result<String>, key: &RelPath| {
        text.map_err(|error| pages.wrong(key, error.into()))
    };
    let mut written = pages.remade(&aggregate.routes, told, || {
        text(routes(&look()?, aggregate, stream), &aggregate.routes)
    })?;
    written += pages.remade(&place.json, told, || text(page()?.json(), &place.json))?;
    written += pages.remade(&place.html, told, || Ok(page()?.html()))?;
    if let Some(key) = &aggregate.validation {
        written += pages.remade(key, told, || text(validation(&look()?, layout, stream), key))?;
    }
    Ok(written)
}

fn found<'a>(pages: &Pages<'_>, layout: &'a Layout) -> Result<Found<'a>, PublishError> {
    let mut found = Found::default();
    for shelf in &layout.shelves {
        let Some(root) = shelf.root()? else { continue };
        for project in pages.projects(&root)?.0.unwrap_or_default().0 {
            if layout.shelf(&project).is_some_and(|owner| std::ptr::eq(owner, shelf)) {
                found.owned.insert(project, shelf);
            } else {
                found.unowned.insert(project);
            }
        }
    }
    Ok(found)
}

fn routes(found: &Found<'_>, aggregate: &Aggregate, stream: &str) -> serde_json::Result<String> {
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

fn validation(found: &Found<'_>, layout: &Layout, stream: &str) -> serde_json::Result<String> {
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
