//! Writing pages: each if it still is what was read.

use super::layout::PageKeys;
use super::read::{Page, page};
use super::{PublishError, Step, headers, pause};
use crate::simple::is_ours;
use crate::store::{Body, Bucket, Created, Replaced};
use base::names::RelPath;

/// Writes pages that others write too.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) bucket: &'a dyn Bucket,
}

/// The text that a page is to have, and the page that it was made of.
type Wanted = (Option<String>, Option<Page>);

impl Writer<'_> {
    /// Writes both files of a page, and says how many were not right yet: `json` reads the data anew and gives
    /// what it is to be, with the number of new names, `html` gives the page of what it is now.
    ///
    /// # Errors
    /// When the store fails, or others change the page all the time.
    pub(super) fn both(
        self,
        place: &PageKeys,
        uncached: bool,
        told: &dyn Fn(&Step),
        json: impl Fn() -> Result<((String, usize), Option<Page>), PublishError>,
        html: impl Fn() -> Result<Option<String>, PublishError>,
    ) -> Result<usize, PublishError> {
        let mut names = 0;
        let json = self.until_written(&place.json, uncached, || {
            let ((text, more), page) = json()?;
            names = more;
            Ok((Some(text), page))
        })?;
        let html = self.until_written(&place.html, uncached, || {
            // In this order: who has the older data then has the older tag as well.
            let page = page(self.bucket, &place.html)?;
            Ok((html()?, page))
        })?;
        if json || html {
            told(&Step::Page { key: place.html.clone(), more: names });
        }
        Ok(usize::from(json) + usize::from(html))
    }

    /// Writes a page in HTML before its data, and says whether it had to be written (1) or not (0): of what says less
    /// than the data the next run makes the page anew, whoever was interrupted between the two. `html` gives the page
    /// that there is to be. One of another program stays: it may say what the data does not.
    ///
    /// # Errors
    /// As [`Writer::both`].
    pub(super) fn ahead(
        self,
        place: &PageKeys,
        uncached: bool,
        html: impl Fn() -> Result<Option<String>, PublishError>,
    ) -> Result<usize, PublishError> {
        let there = page(self.bucket, &place.html)?;
        if !there.is_some_and(|page| is_ours(&page.bytes)) {
            return Ok(0);
        }
        let written = self.until_written(&place.html, uncached, || {
            let page = page(self.bucket, &place.html)?;
            Ok((html()?, page))
        });
        written.map(usize::from)
    }

    /// Puts at `key` what `text` makes anew of other pages, and says whether it had to be written (1) or not (0).
    ///
    /// # Errors
    /// As [`Writer::both`].
    pub(super) fn remade(
        self,
        key: &RelPath,
        told: &dyn Fn(&Step),
        text: impl Fn() -> Result<String, PublishError>,
    ) -> Result<usize, PublishError> {
        // In this order: who has older pages then has the older tag as well.
        let written = self.until_written(key, true, || {
            let page = page(self.bucket, key)?;
            Ok((Some(text()?), page))
        })?;
        if written {
            told(&Step::Page { key: key.clone(), more: 0 });
        }
        Ok(usize::from(written))
    }

    /// Says whether [`Writer::remade`] would have to write this (1) or not (0), and tells the step.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn would_remake(
        self,
        key: &RelPath,
        told: &dyn Fn(&Step),
        text: &str,
    ) -> Result<usize, PublishError> {
        let is_right = page(self.bucket, key)?.is_some_and(|page| page.bytes == text.as_bytes());
        if !is_right {
            told(&Step::Page { key: key.clone(), more: 0 });
        }
        Ok(usize::from(!is_right))
    }

    /// Puts at `key` what `wanted` says, which also tells what it found there; as often as others change it
    /// meanwhile. Says whether it had to be written.
    fn until_written(
        self,
        key: &RelPath,
        uncached: bool,
        mut wanted: impl FnMut() -> Result<Wanted, PublishError>,
    ) -> Result<bool, PublishError> {
        let headers = headers::page(key.file_name(), uncached);
        for number in 0..pause::TRIES {
            if number > 0 {
                pause::before(number);
            }
            let (Some(text), there) = wanted()? else { continue };
            let body = Body::Bytes(text.as_bytes());
            let is_done = match there {
                Some(page) if page.bytes == text.as_bytes() => return Ok(false),
                Some(page) => {
                    self.bucket.replace(&page.object, body, &headers)? == Replaced::Replaced
                }
                None => self.bucket.create(key, body, &headers)? == Created::Created,
            };
            if is_done {
                return Ok(true);
            }
        }
        let (store, key) = (self.bucket.name().to_owned(), key.clone());
        Err(PublishError::Contended { store, key, tries: pause::TRIES })
    }
}
