//! Merges entries that only an HTML page of another program contains.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::layout::PageKeys;
use super::page::Page;
use super::page_store::PageStore;
use super::{PublishError, pause};
use crate::simple::{Files, PageError, Projects, Yanked, beyond_data, is_ours, resolve};
use crate::store::{Bucket, is_web};
use base::names::RelPath;

pub(super) fn files(
    pages: &PageStore<'_>,
    place: &PageKeys,
    title: &str,
) -> Result<(Option<Files>, Option<Arc<Page>>), PublishError> {
    files_but(pages, place, title, &BTreeMap::new())
}

/// Ignores the yank states of another program's page for files in `yanked`.
pub(super) fn files_but(
    pages: &PageStore<'_>,
    place: &PageKeys,
    title: &str,
    yanked: &BTreeMap<String, Yanked>,
) -> Result<(Option<Files>, Option<Arc<Page>>), PublishError> {
    let html = pages.page(&place.html)?;
    let data = pages.page(&place.json)?;
    let parsed = data.as_ref().map(|page| Files::parse(title, &page.bytes)).transpose();
    let mut files = parsed.map_err(|e| wrong(pages.bucket, &place.json, e))?;
    if let Some(html) = others_html(html, files.is_some()) {
        let theirs = Files::of_html(title, &html.bytes);
        let merged = theirs.and_then(|mut theirs| {
            theirs.set_yanked(yanked);
            if let Some(files) = &mut files {
                return files.merge(&theirs.files);
            }
            files = Some(theirs);
            Ok(())
        });
        merged.map_err(|e| wrong(pages.bucket, &place.html, e))?;
    }
    Ok((files, data))
}

pub(super) fn projects(
    pages: &PageStore<'_>,
    place: &PageKeys,
) -> Result<(Option<Projects>, Option<Arc<Page>>), PublishError> {
    let html = pages.page(&place.html)?;
    let data = pages.page(&place.json)?;
    let parsed = data.as_ref().map(|page| Projects::parse(&page.bytes)).transpose();
    let mut projects = parsed.map_err(|e| wrong(pages.bucket, &place.json, e))?;
    if let Some(html) = others_html(html, projects.is_some()) {
        let url = web_address(pages.bucket, &place.html);
        let theirs = Projects::of_html(&html.bytes, url.as_deref());
        let theirs = theirs.map_err(|e| wrong(pages.bucket, &place.html, e))?;
        projects.get_or_insert_default().0.extend(theirs.0);
    }
    Ok((projects, data))
}

/// URL of a page's directory on a web server.
fn web_address(bucket: &dyn Bucket, page: &RelPath) -> Option<String> {
    let server = bucket.name();
    is_web(server).then(|| resolve(&format!("{}/{page}/", server.trim_end_matches('/')), "../"))
}

/// Rejects this program's HTML page with more information than its data: it was edited by hand.
/// `rendered` is made from data read before; `made` reads it again.
pub(super) fn is_as_made(
    pages: &PageStore<'_>,
    place: &PageKeys,
    rendered: Option<String>,
    made: impl Fn() -> Result<Option<String>, PublishError>,
) -> Result<(), PublishError> {
    let mut rendered = Some(rendered);
    for number in 1.. {
        let html = pages.page(&place.html)?.filter(|html| is_ours(&html.bytes));
        // Read after the HTML: additions write data first.
        let made = rendered.take().map_or_else(&made, Ok)?;
        let (Some(html), Some(made)) = (html, made) else { break };
        let Some(says) = beyond_data(&html.bytes, &made) else { break };
        if number == LOOKS {
            let PageKeys { json: data, html: key } = place.clone();
            return Err(PublishError::ByHand {
                store: pages.bucket.name().to_owned(),
                key,
                data,
                says,
            });
        }
        // Removals write HTML first, so it could be older than the data: retry.
        pause::before(number);
        pages.recheck();
    }
    Ok(())
}

/// Reads of a page that seems edited by hand, over some seconds: another program may have written
/// only one of its two files yet.
const LOOKS: usize = 10;

fn others_html(html: Option<Arc<Page>>, has_data: bool) -> Option<Arc<Page>> {
    html.filter(|html| !(has_data && is_ours(&html.bytes)))
}

pub(super) fn wrong(bucket: &dyn Bucket, key: &RelPath, source: PageError) -> PublishError {
    PublishError::Page { store: bucket.name().to_owned(), key: key.clone(), source }
}
