//! Packages, their companions, and pages that name them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use percent_encoding::percent_decode_str;

use crate::publish::layout::{Form, Layout, PageKeys, Shelf};
use crate::publish::page_store::PageStore;
use crate::publish::workers::run_parallel;
use crate::publish::{PublishError, page, read};
use crate::simple::{IndexedFile, Link, addresses, project_of};
use crate::store::{ErrorKind, Object, StoreError};
use base::names::RelPath;
use base::version::Version;

#[derive(Debug)]
pub(super) struct Item {
    object: Object,
    /// Companions: `{package}.{ending}`.
    companions: Vec<Object>,
    pub(super) project: String,
    version: Version,
    /// A page of the layout names it.
    pub(super) is_named: bool,
    pub(super) is_yanked: bool,
}

impl Item {
    pub(super) fn key(&self) -> &RelPath {
        &self.object.key
    }

    pub(super) fn version(&self) -> &str {
        self.version.as_str()
    }

    pub(super) fn size(&self) -> u64 {
        self.object.size
    }

    pub(super) fn uploaded(&self) -> Option<SystemTime> {
        self.object.modified
    }

    pub(super) fn object(&self) -> &Object {
        &self.object
    }

    pub(super) fn metadata(&self) -> Option<&Object> {
        self.companions.iter().find(|object| object.key.as_str().ends_with(".metadata"))
    }

    /// Package last.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.companions.iter().chain([&self.object])
    }
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) place: PageKeys,
    pub(super) title: String,
    pub(super) uncached: bool,
    pub(super) names: BTreeSet<RelPath>,
    yanked: BTreeSet<RelPath>,
}

#[derive(Debug)]
pub(super) struct Inventory {
    items: BTreeMap<RelPath, Item>,
    pub(super) pages: Vec<Page>,
    /// File names on other pages, with one such page.
    elsewhere: BTreeMap<String, RelPath>,
}

impl Inventory {
    pub(super) fn read(
        store: &PageStore<'_>,
        layout: &Layout,
        jobs: usize,
    ) -> Result<Self, PublishError> {
        let objects = store.bucket.list(None)?;
        let mut places = BTreeMap::new();
        let indexes = indexes(&objects);
        let in_index = |key: &RelPath| key.parent().is_some_and(|above| indexes.contains(&above));
        for object in objects.iter().filter(|object| !in_index(&object.key)) {
            for shelf in &layout.shelves {
                let Some(project) = project_at(shelf, &object.key) else { continue };
                let place = shelf.page(project)?;
                if [&place.json, &place.html].contains(&&object.key) {
                    let title = shelf.title(project).to_owned();
                    places.insert(place, (title, shelf.uncached));
                }
            }
        }
        let places: Vec<_> = places.into_iter().collect();
        let listed: BTreeSet<&RelPath> = objects.iter().map(|object| &object.key).collect();
        let pages = run_parallel(&places, jobs, |(place, (title, uncached))| {
            let (place, title, uncached) = (place.clone(), title.clone(), *uncached);
            let (names, yanked) = listed_keys(store, &place)?;
            for key in [&place.json, &place.html].into_iter().filter(|key| listed.contains(key)) {
                store.page(key)?.ok_or_else(|| hidden(store, key))?;
            }
            Ok::<_, PublishError>(Page { place, title, uncached, names, yanked })
        })?;
        let elsewhere = elsewhere(store, layout, &objects, &pages, jobs)?;
        let items = items(layout, objects, &pages);
        Ok(Self { items, pages, elsewhere })
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    pub(super) fn named_elsewhere(&self, item: &Item) -> Option<&RelPath> {
        self.elsewhere.get(item.key().file_name())
    }

    pub(super) fn projects<'i>(&'i self, page: &'i Page) -> impl Iterator<Item = &'i str> {
        page.names.iter().filter_map(|key| Some(&*self.items.get(key)?.project))
    }
}

/// Without a listed page, the packages that it names would seem to be of no page.
fn hidden(store: &PageStore<'_>, key: &RelPath) -> StoreError {
    let text = "it is listed and cannot be found: try again when the store is consistent";
    StoreError::of_key(ErrorKind::Unavailable, store.bucket.name(), "read", key, text)
}

fn indexes(objects: &[Object]) -> BTreeSet<RelPath> {
    let pages = objects.iter().filter(|object| object.key.file_name() == "index.json");
    pages.filter_map(|page| page.key.parent()?.parent()).collect()
}

fn project_at<'k>(shelf: &Shelf, key: &'k RelPath) -> Option<&'k str> {
    let below = match &shelf.base {
        None => key.as_str(),
        Some(base) => key.as_str().strip_prefix(base.as_str())?.strip_prefix('/')?,
    };
    match (shelf.form, below.split_once('/')) {
        (Form::Flat, None) => Some(""),
        (Form::Projects, Some((project, file))) if !file.contains('/') => Some(project),
        _ => None,
    }
}

/// Keys of listed and of yanked packages, from data and HTML: an interrupted run may have written
/// only one.
pub(super) fn listed_keys(
    store: &PageStore<'_>,
    place: &PageKeys,
) -> Result<(BTreeSet<RelPath>, BTreeSet<RelPath>), PublishError> {
    let files = read::files(store, place, "")?.0;
    let entries: Vec<IndexedFile> = files.into_iter().flat_map(|files| files.files).collect();
    let yanked = entries.iter().filter(|entry| entry.yanked.reason().is_some());
    let yanked = yanked.filter_map(|entry| listed_key(&place.html, &entry.url)).collect();
    let html = store.page(&place.html)?;
    let shown = html.map(|page| addresses(&page.bytes)).unwrap_or_default();
    let urls = entries.into_iter().map(|IndexedFile { url, .. }| url).chain(shown);
    Ok((urls.filter_map(|url| listed_key(&place.html, &url)).collect(), yanked))
}

/// Key of a listed package. An address on a server does not tell the place in the store, which is then
/// beside the page: better listed by mistake than of no page.
pub(super) fn listed_key(page: &RelPath, url: &str) -> Option<RelPath> {
    key_of(page, url).or_else(|| page.with_file_name(&file_name(url)?).ok())
}

/// Decoded name of the file at an address.
fn file_name(address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next()?;
    Some(percent_decode_str(path.rsplit('/').next()?).decode_utf8().ok()?.into_owned())
}

pub(crate) fn key_of(page: &RelPath, url: &str) -> Option<RelPath> {
    Link::parse(url)?.key(page)
}

/// Compares file names: copies and mirrors have other addresses.
fn elsewhere(
    store: &PageStore<'_>,
    layout: &Layout,
    objects: &[Object],
    pages: &[Page],
    jobs: usize,
) -> Result<BTreeMap<String, RelPath>, PublishError> {
    let files = |place: &PageKeys| [place.json.clone(), place.html.clone()];
    let mut own_keys: BTreeSet<RelPath> =
        pages.iter().flat_map(|page| files(&page.place)).collect();
    for shelf in &layout.shelves {
        own_keys.extend(shelf.root()?.iter().flat_map(files));
    }
    let is_page = |key: &&RelPath| {
        let name = key.file_name();
        (name.rsplit('.').next() == Some("html") || ["index.json", "packages.json"].contains(&name))
            && !own_keys.contains(*key)
    };
    let pages: Vec<&RelPath> = objects.iter().map(|object| &object.key).filter(is_page).collect();
    let names = |key: &&RelPath| {
        let page = page::object_at(store.bucket, key)?.ok_or_else(|| hidden(store, key))?;
        let addresses = addresses(&page.bytes);
        let names = addresses.iter().filter_map(|address| file_name(address));
        Ok::<Vec<_>, PublishError>(names.map(|name| (name, (*key).clone())).collect())
    };
    Ok(run_parallel(&pages, jobs, names)?.into_iter().flatten().collect())
}

fn items(layout: &Layout, objects: Vec<Object>, pages: &[Page]) -> BTreeMap<RelPath, Item> {
    let mut items: BTreeMap<RelPath, Item> = BTreeMap::new();
    let mut companions = Vec::new();
    for object in objects {
        // Packages in directories of other names do not belong to the index.
        let is_place = |project: &str| {
            let mut places =
                layout.shelves.iter().filter_map(|shelf| project_at(shelf, &object.key));
            places.any(|place| place.is_empty() || place == project)
        };
        match project_of(object.key.file_name()).filter(|(project, _)| is_place(project)) {
            Some((project, version)) => {
                let is_named = pages.iter().any(|page| page.names.contains(&object.key));
                let is_yanked = pages.iter().any(|page| page.yanked.contains(&object.key));
                let item =
                    Item { companions: Vec::new(), project, version, is_named, is_yanked, object };
                items.insert(item.key().clone(), item);
            }
            None => companions.push(object),
        }
    }
    for object in companions {
        let key = object.key.as_str();
        let ends = key.match_indices('.').map(|(dot, _)| &key[..dot]);
        let package =
            ends.filter_map(|end| end.parse::<RelPath>().ok()).find(|k| items.contains_key(k));
        if let Some(item) = package.and_then(|package| items.get_mut(&package)) {
            item.companions.push(object);
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_servers_are_files_beside_the_page() {
        let key = |url| listed_key(&"a/b/index.html".parse().unwrap(), url).map(|k| k.to_string());
        for url in ["https://h/c/x-1%2By.whl#sha256=00", "/c/x-1+y.whl?z=/", "//h/x-1+y.whl"] {
            assert_eq!(key(url).as_deref(), Some("a/b/x-1+y.whl"), "{url}");
        }
        assert_eq!(key("../c/x.whl").as_deref(), Some("a/c/x.whl"));
        assert_eq!(key("https://h/c/"), None);
    }

    #[test]
    fn relative_urls_are_keys() {
        let key = |url| key_of(&"a/b/index.html".parse().unwrap(), url).map(|key| key.to_string());
        assert_eq!(key("x-1%2By.whl#sha256=00").as_deref(), Some("a/b/x-1+y.whl"));
        assert_eq!(key("../../c/./x.whl").as_deref(), Some("c/x.whl"));
        for url in ["https://h/x.whl", "/x.whl", "../../../x.whl", "a%2Fb/../..", ""] {
            assert_eq!(key(url).filter(|key| key.contains("x.whl")), None, "{url}");
        }
    }
}
