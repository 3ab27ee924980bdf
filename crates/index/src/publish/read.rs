//! The data of a page is its JSON. An HTML page of another program can contain more entries; these
//! are merged.

use std::collections::BTreeMap;

use super::layout::PageKeys;
use super::{PublishError, pause};
use crate::simple::{Files, PageError, Projects, Yanked, beyond_data, is_ours};
use crate::store::{Bucket, ErrorKind, Object, StoreError};
use base::names::RelPath;

pub(super) const LONGEST_PAGE: u64 = 256 << 20;

pub(super) struct Page {
    pub(super) object: Object,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn page(bucket: &dyn Bucket, key: &RelPath) -> Result<Option<Page>, StoreError> {
    let content = match bucket.get(key, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        content => content?,
    };
    let object = content.object.clone();
    Ok(Some(Page { object, bytes: content.bytes(bucket, LONGEST_PAGE)? }))
}

/// Reads a page and its data file.
pub(super) fn files(
    bucket: &dyn Bucket,
    place: &PageKeys,
    title: &str,
) -> Result<(Option<Files>, Option<Page>), PublishError> {
    files_but(bucket, place, title, &BTreeMap::new())
}

/// Ignores the yank states of another program's page for files in `yanked`.
pub(super) fn files_but(
    bucket: &dyn Bucket,
    place: &PageKeys,
    title: &str,
    yanked: &BTreeMap<String, Yanked>,
) -> Result<(Option<Files>, Option<Page>), PublishError> {
    let data = page(bucket, &place.json)?;
    let parsed = data.as_ref().map(|page| Files::parse(title, &page.bytes)).transpose();
    let mut there = parsed.map_err(|e| wrong(bucket, &place.json, e))?;
    if let Some(html) = others_html(bucket, place, there.is_some())? {
        let theirs = Files::of_html(title, &html.bytes);
        let merged = theirs.and_then(|mut theirs| {
            theirs.set_yanked(yanked);
            if let Some(files) = &mut there {
                return files.merge(&theirs.files);
            }
            there = Some(theirs);
            Ok(())
        });
        merged.map_err(|e| wrong(bucket, &place.html, e))?;
    }
    Ok((there, data))
}

pub(super) fn projects(
    bucket: &dyn Bucket,
    place: &PageKeys,
) -> Result<(Option<Projects>, Option<Page>), PublishError> {
    let data = page(bucket, &place.json)?;
    let parsed = data.as_ref().map(|page| Projects::parse(&page.bytes)).transpose();
    let mut there = parsed.map_err(|e| wrong(bucket, &place.json, e))?;
    if let Some(html) = others_html(bucket, place, there.is_some())? {
        let theirs = Projects::of_html(&html.bytes);
        let theirs = theirs.map_err(|e| wrong(bucket, &place.html, e))?;
        there.get_or_insert_default().0.extend(theirs.0);
    }
    Ok((there, data))
}

/// Rejects this program's HTML page with more information than its data: it was edited by hand.
/// `known` is rendered from data read before; `made` reads it again.
pub(super) fn is_as_made(
    bucket: &dyn Bucket,
    place: &PageKeys,
    known: Option<String>,
    made: impl Fn() -> Result<Option<String>, PublishError>,
) -> Result<(), PublishError> {
    let mut known = Some(known);
    for number in 1.. {
        let html = page(bucket, &place.html)?.filter(|html| is_ours(&html.bytes));
        // Read after the HTML: additions write data first.
        let made = known.take().map_or_else(&made, Ok)?;
        let (Some(html), Some(made)) = (html, made) else { break };
        let Some(says) = beyond_data(&html.bytes, &made) else { break };
        if number == LOOKS {
            let PageKeys { json: data, html: key } = place.clone();
            return Err(PublishError::ByHand { store: bucket.name().to_owned(), key, data, says });
        }
        // Removals write HTML first, so it could be older than the data: retry.
        pause::before(number);
    }
    Ok(())
}

const LOOKS: usize = 10;

/// HTML by another program, or without data.
fn others_html(
    bucket: &dyn Bucket,
    place: &PageKeys,
    has_data: bool,
) -> Result<Option<Page>, PublishError> {
    let html = page(bucket, &place.html)?;
    Ok(html.filter(|html| !(has_data && is_ours(&html.bytes))))
}

pub(super) fn wrong(bucket: &dyn Bucket, key: &RelPath, source: PageError) -> PublishError {
    PublishError::Page { store: bucket.name().to_owned(), key: key.clone(), source }
}
