//! Reading what a store may have.
//!
//! What a page says is in its JSON. A page in HTML that another program made says more than that, or all: what it
//! names that the JSON does not is taken over.

use std::collections::BTreeMap;

use super::layout::PageKeys;
use super::{PublishError, pause};
use crate::simple::{Files, PageError, Projects, Yanked, beyond_data, is_ours};
use crate::store::{Bucket, ErrorKind, Object, StoreError};
use base::names::RelPath;

/// No page is longer.
pub(super) const LONGEST_PAGE: u64 = 256 << 20;

/// An object that is there, with its bytes.
pub(super) struct Page {
    /// What the store says of it.
    pub(super) object: Object,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

/// The object at `key`, if there is one.
pub(super) fn page(bucket: &dyn Bucket, key: &RelPath) -> Result<Option<Page>, StoreError> {
    let content = match bucket.get(key, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        content => content?,
    };
    let object = content.object.clone();
    Ok(Some(Page { object, bytes: content.bytes(bucket, LONGEST_PAGE)? }))
}

/// What a page of packages says, and the file of its data.
///
/// # Errors
/// When the store cannot be read, or the page cannot be taken over.
pub(super) fn files(
    bucket: &dyn Bucket,
    place: &PageKeys,
    title: &str,
) -> Result<(Option<Files>, Option<Page>), PublishError> {
    files_but(bucket, place, title, &BTreeMap::new())
}

/// The same; whether packages in `yanked` are yanked, another program's page does not decide.
///
/// # Errors
/// As [`files`].
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

/// What a page says that leads to projects, and the file of its data.
///
/// # Errors
/// As [`files`].
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

/// Refuses a page in HTML of this program that says more than its data, from which it is made: somebody changed it by
/// hand. `known` is the page that is made of the data as it was read, and `made` reads it anew.
///
/// # Errors
/// As [`files`], and when it says more.
pub(super) fn is_as_made(
    bucket: &dyn Bucket,
    place: &PageKeys,
    known: Option<String>,
    made: impl Fn() -> Result<Option<String>, PublishError>,
) -> Result<(), PublishError> {
    let mut known = Some(known);
    for number in 1.. {
        let html = page(bucket, &place.html)?.filter(|html| is_ours(&html.bytes));
        // Anew in this order: who adds something writes the data first.
        let made = known.take().map_or_else(&made, Ok)?;
        let (Some(html), Some(made)) = (html, made) else { break };
        let Some(says) = beyond_data(&html.bytes, &made) else { break };
        if number == LOOKS {
            let PageKeys { json: data, html: key } = place.clone();
            return Err(PublishError::ByHand { store: bucket.name().to_owned(), key, data, says });
        }
        // Who takes something off a page writes this first; it may be that this was read before, and the data after.
        pause::before(number);
    }
    Ok(())
}

/// How often a page is looked at that says more than its data: for some seconds.
const LOOKS: usize = 10;

/// A page in HTML that says something which the data does not: another program's, or one without data.
fn others_html(
    bucket: &dyn Bucket,
    place: &PageKeys,
    has_data: bool,
) -> Result<Option<Page>, PublishError> {
    let html = page(bucket, &place.html)?;
    Ok(html.filter(|html| !(has_data && is_ours(&html.bytes))))
}

/// A page that cannot be merged.
pub(super) fn wrong(bucket: &dyn Bucket, key: &RelPath, source: PageError) -> PublishError {
    PublishError::Page { store: bucket.name().to_owned(), key: key.clone(), source }
}
