//! Pages of an index, in any layout and of any program.

use std::collections::BTreeSet;

use super::page_store::PageStore;
use super::{Form, PublishError, Shelf, prune, read};
use crate::simple::{self, IndexedFile};
use crate::store::{Bucket, is_web};
use base::names::RelPath;

/// Entries and keys of a project's files.
///
/// # Errors
///
/// Fails for an unreadable page.
pub fn project_files(
    bucket: &dyn Bucket,
    project: &str,
) -> Result<Vec<(IndexedFile, RelPath)>, PublishError> {
    let place = Shelf::from_form(Form::Projects).page(project)?;
    let files = read::files(&PageStore::new(bucket), &place, project)?.0;
    let files = files.into_iter().flat_map(|files| files.files);
    Ok(files
        .filter_map(|file| Some((prune::key_of(&place.html, &file.url)?, file)))
        .map(|(key, file)| (file, key))
        .collect())
}

/// Content of the page of an index.
#[derive(Debug, Clone)]
pub(crate) enum Listing {
    /// Normalized names.
    Projects(BTreeSet<String>),
    /// All packages, of an index with one page.
    Packages(Vec<IndexedFile>),
}

/// Reads the page of an index, in any layout and of any program.
pub(crate) fn listing(bucket: &dyn Bucket) -> Result<Listing, PublishError> {
    let pages = PageStore::new(bucket);
    let (flat, projects) = (Shelf::from_form(Form::Flat), Shelf::from_form(Form::Projects));
    let flat = flat.page("")?;
    if pages.page(&flat.json)?.is_some() {
        let files = read::files(&pages, &flat, "")?.0;
        return Ok(Listing::Packages(files.map_or_else(Vec::new, |page| page.files)));
    }
    if let Some(html) = pages.page(&flat.html)?
        && let Ok(files) = simple::packages_on(&html.bytes)
        && !files.is_empty()
    {
        return Ok(Listing::Packages(files));
    }
    let root = projects.root()?;
    let read = root.map(|root| read::projects(&pages, &root)).transpose()?;
    match read.and_then(|(projects, _)| projects) {
        Some(projects) => Ok(Listing::Projects(projects.0)),
        None => Err(PublishError::NoPages(bucket.name().to_owned())),
    }
}

/// Packages on the page of a project. Web servers may have it only at the address of its directory.
pub(crate) fn pages_of(
    bucket: &dyn Bucket,
    project: &str,
) -> Result<Vec<IndexedFile>, PublishError> {
    let place = Shelf::from_form(Form::Projects).page(project)?;
    let pages = PageStore::new(bucket);
    if pages.page(&place.json)?.is_some() || !is_web(bucket.name()) {
        return Ok(read::files(&pages, &place, project)?
            .0
            .map_or_else(Vec::new, |page| page.files));
    }
    let directory: RelPath = project.parse()?;
    for key in [&place.html, &directory] {
        if let Some(page) = pages.page(key)? {
            let read = simple::packages_on(&page.bytes);
            return read.map_err(|error| read::wrong(bucket, key, error));
        }
    }
    Ok(Vec::new())
}
