//! Pages that link to packages in another store, with hashes.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{Form, Layout, PageKeys, Shelf};
use super::page_cache::PageCache;
use super::page_store::PageStore;
use super::writer::Writer;
use super::{PublishError, Step, read};
use crate::simple::{
    Files, IndexedFile, Link, PageError, Projects, addresses, is_absolute, is_ours, project_of,
};
use crate::store::Bucket;
use base::address::Address;
use base::names::RelPath;

/// Source and extent of a mirror.
#[derive(Debug, Clone)]
pub struct Mirror {
    /// Layout of the source.
    pub layout: Layout,
    /// Public address of the source, with a final `/`.
    pub public: String,
    /// Normalized names; empty for all.
    pub projects: BTreeSet<String>,
    /// Checks only.
    pub dry_run: bool,
    /// Pages of earlier runs.
    pub cache: Option<PageCache>,
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mirrored {
    /// Projects with pages.
    pub projects: usize,
    /// Packages on the pages.
    pub packages: usize,
    /// Page files.
    pub pages: usize,
    /// Removed pages.
    pub removed: usize,
}

/// Writes pages for the packages of `source` to `dest`; passes changes to `report`. Errors precede
/// all writes.
pub fn mirror(
    source: &dyn Bucket,
    dest: &dyn Bucket,
    mirror: &Mirror,
    report: &dyn Fn(&Step),
) -> Result<Mirrored, PublishError> {
    let cached = |bucket| PageStore::cached(bucket, mirror.cache.as_ref());
    let (source, dest) = (&cached(source), &cached(dest));
    let pages = pages(source, mirror)?;
    check(&pages, &mirror.projects)?;
    if pages.is_empty() {
        return Err(PublishError::NoPages(source.bucket.name().to_owned()));
    }
    // The destination has one index.
    let shelf = Shelf::from_form(Form::Projects);
    let (of_projects, root) = texts(dest, &shelf, &pages)?;
    let earlier = earlier_projects(dest, &shelf)?;
    for project in earlier.iter().chain(pages.keys()) {
        check_mirror(dest, &shelf.page(project)?, relative_package)?;
    }
    let obsolete = obsolete(dest, &shelf, &earlier, &pages)?;
    for (key, _) in of_projects.iter().chain(&root) {
        check_ours(dest, key)?;
    }
    let writer = Writer { pages: dest };
    let write = |texts: &[Text]| {
        texts.iter().try_fold(0, |pages, (key, text)| {
            let written = if mirror.dry_run {
                writer.would_remake(key, report, text)
            } else {
                writer.remade(key, report, || Ok(text.clone()))
            };
            written.map(|written| pages + written)
        })
    };
    if !mirror.dry_run {
        dest.bucket.check_writes()?;
    }
    let mut written = write(&of_projects)?;
    if !mirror.dry_run {
        // The next run after an interruption finds their projects on the root page.
        obsolete.iter().try_for_each(|key| dest.bucket.delete(key))?;
    }
    written += write(&root)?;
    Ok(Mirrored {
        projects: pages.len(),
        packages: pages.values().map(|files| files.files.len()).sum(),
        pages: written,
        removed: obsolete.len(),
    })
}

/// Text of a page file.
type Text = (RelPath, String);

/// Pages of projects, and of their list.
fn texts(
    dest: &PageStore<'_>,
    shelf: &Shelf,
    pages: &BTreeMap<String, Files>,
) -> Result<(Vec<Text>, Vec<Text>), PublishError> {
    let pair = |place: PageKeys, json: serde_json::Result<String>, html| {
        let json = json.map_err(|e| read::wrong(dest.bucket, &place.json, e.into()))?;
        Ok::<_, PublishError>([(place.json, json), (place.html, html)])
    };
    let (mut of_projects, mut root) = (Vec::new(), Vec::new());
    for files in pages.values() {
        of_projects.extend(pair(shelf.page(&files.name)?, files.json(), files.html())?);
    }
    if let Some(place) = shelf.root()? {
        let projects = Projects(pages.keys().cloned().collect());
        root.extend(pair(place, projects.json(), projects.html())?);
    }
    Ok((of_projects, root))
}

fn pages(source: &PageStore<'_>, mirror: &Mirror) -> Result<BTreeMap<String, Files>, PublishError> {
    let mut pages: BTreeMap<String, Files> = BTreeMap::new();
    let is_chosen = |project: &str| mirror.projects.is_empty() || mirror.projects.contains(project);
    // Further indexes have other packages of equal names.
    for shelf in &mirror.layout.of_index(None).shelves {
        let projects = match shelf.root()? {
            // The page of all projects is not needed, and can have links that are refused.
            Some(_) if !mirror.projects.is_empty() => mirror.projects.clone(),
            Some(root) => read::projects(source, &root)?.0.unwrap_or_default().0,
            None => BTreeSet::from([String::new()]),
        };
        for project in projects.iter().filter(|project| project.is_empty() || is_chosen(project)) {
            let place = shelf.page(project)?;
            let address_of_page = shelf.address(&mirror.public, project);
            let files = read::files(source, &place, project)?.0;
            let mut by_project: BTreeMap<String, Vec<IndexedFile>> = BTreeMap::new();
            for mut entry in files.into_iter().flat_map(|files| files.files) {
                if let Some(name) = project_on(project, &entry).filter(|name| is_chosen(name)) {
                    let address = |url: &str| {
                        let link = Link::parse(url).map(|link| link.on_page(&address_of_page));
                        link.ok_or_else(|| {
                            let url = PageError::Address(Address::new(url));
                            read::wrong(source.bucket, &place.json, url)
                        })
                    };
                    entry.url = address(&entry.url)?;
                    let provenance = entry.provenance().map(address).transpose()?;
                    let entry = entry.with_provenance(provenance);
                    by_project.entry(name).or_default().push(entry);
                }
            }
            for (project, entries) in by_project {
                let page = pages.entry(project).or_insert_with_key(|project| Files::new(project));
                page.merge(&entries).map_err(|e| read::wrong(source.bucket, &place.json, e))?;
            }
        }
    }
    Ok(pages)
}

fn project_on(project: &str, file: &IndexedFile) -> Option<String> {
    let of_name = project_of(&file.filename).map(|(project, _)| project);
    of_name.or_else(|| Some(project.to_owned()).filter(|name| !name.is_empty()))
}

fn check(pages: &BTreeMap<String, Files>, projects: &BTreeSet<String>) -> Result<(), PublishError> {
    let absent: Vec<String> = projects
        .iter()
        .filter(|name| !pages.contains_key(*name))
        .map(|n| format!("`{n}`"))
        .collect();
    if !absent.is_empty() {
        return Err(PublishError::Absent(absent));
    }
    let entries = pages.values().flat_map(|files| &files.files);
    let bare = entries.filter(|entry| entry.sha256().is_none());
    let bare: Vec<String> = bare.map(|entry| format!("`{}`", entry.filename)).collect();
    if bare.is_empty() { Ok(()) } else { Err(PublishError::NoHash(bare)) }
}

fn earlier_projects(dest: &PageStore<'_>, shelf: &Shelf) -> Result<BTreeSet<String>, PublishError> {
    let Some(root) = shelf.root()? else { return Ok(BTreeSet::new()) };
    check_mirror(dest, &root, |html| Projects::of_html(html, None).is_err())?;
    let page = dest.page(&root.json)?.filter(|page| is_ours(&page.bytes));
    let projects = page.and_then(|page| Projects::parse(&page.bytes).ok()).unwrap_or_default();
    Ok(projects.0)
}

/// Rejects this program's pages with relative links: another index would be lost. `is_other`
/// checks HTML.
fn check_mirror(
    dest: &PageStore<'_>,
    place: &PageKeys,
    is_other: impl Fn(&[u8]) -> bool,
) -> Result<(), PublishError> {
    for (key, is_html) in [(&place.json, false), (&place.html, true)] {
        let page = dest.page(key)?.filter(|page| is_ours(&page.bytes));
        let is_other =
            |bytes: &[u8]| if is_html { is_other(bytes) } else { relative_package(bytes) };
        if page.is_some_and(|page| is_other(&page.bytes)) {
            let (store, key) = (dest.bucket.name().to_owned(), key.clone());
            return Err(PublishError::NoMirror { store, key });
        }
    }
    Ok(())
}

fn relative_package(page: &[u8]) -> bool {
    addresses(page).iter().any(|address| !is_absolute(address))
}

fn obsolete(
    dest: &PageStore<'_>,
    shelf: &Shelf,
    earlier: &BTreeSet<String>,
    pages: &BTreeMap<String, Files>,
) -> Result<Vec<RelPath>, PublishError> {
    let mut obsolete = Vec::new();
    for project in earlier.iter().filter(|project| !pages.contains_key(*project)) {
        let PageKeys { json, html } = shelf.page(project)?;
        for key in [html, json] {
            if dest.page(&key)?.is_some_and(|page| is_ours(&page.bytes)) {
                obsolete.push(key);
            }
        }
    }
    Ok(obsolete)
}

fn check_ours(dest: &PageStore<'_>, key: &RelPath) -> Result<(), PublishError> {
    match dest.page(key)? {
        Some(page) if !is_ours(&page.bytes) => {
            Err(PublishError::Foreign { store: dest.bucket.name().to_owned(), key: key.clone() })
        }
        _ => Ok(()),
    }
}
