//! Conditional writes of pages.

use std::sync::Arc;

use super::layout::PageKeys;
use super::page::Page;
use super::page_store::PageStore;
use super::{PublishError, Step, headers, pause};
use crate::simple::is_ours;
use base::names::RelPath;

#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) pages: &'a PageStore<'a>,
}

/// New text, and the page of origin.
type NewPage = (Option<String>, Option<Arc<Page>>);

impl Writer<'_> {
    /// Writes a page. `json` returns the new data and the number of new names; `html` renders the
    /// current data.
    pub(super) fn write_pair(
        self,
        place: &PageKeys,
        uncached: bool,
        report: &dyn Fn(&Step),
        json: impl Fn() -> Result<((String, usize), Option<Arc<Page>>), PublishError>,
        html: impl Fn() -> Result<Option<String>, PublishError>,
    ) -> Result<usize, PublishError> {
        let mut names = 0;
        let json = self.until_written(&place.json, uncached, || {
            let ((text, more), page) = json()?;
            names = more;
            Ok((Some(text), page))
        })?;
        let html = self.until_written(&place.html, uncached, || {
            // Tag before data: a write of old data is refused.
            let page = self.pages.page(&place.html)?;
            Ok((html()?, page))
        })?;
        if json || html {
            report(&Step::Page { key: place.html.clone(), more: names });
        }
        Ok(usize::from(json) + usize::from(html))
    }

    /// Writes an HTML page before its data, for removals: the next run renders it again. Skips
    /// pages of other programs.
    pub(super) fn ahead(
        self,
        place: &PageKeys,
        uncached: bool,
        html: impl Fn() -> Result<Option<String>, PublishError>,
    ) -> Result<usize, PublishError> {
        let current = self.pages.page(&place.html)?;
        if !current.is_some_and(|page| is_ours(&page.bytes)) {
            return Ok(0);
        }
        let is_written = self.until_written(&place.html, uncached, || {
            let page = self.pages.page(&place.html)?;
            Ok((html()?, page))
        });
        is_written.map(usize::from)
    }

    pub(super) fn remade(
        self,
        key: &RelPath,
        report: &dyn Fn(&Step),
        text: impl Fn() -> Result<String, PublishError>,
    ) -> Result<usize, PublishError> {
        // Tag before text: a write from old pages is refused.
        let is_written = self.until_written(key, true, || {
            let page = self.pages.page(key)?;
            Ok((Some(text()?), page))
        })?;
        if is_written {
            report(&Step::Page { key: key.clone(), more: 0 });
        }
        Ok(usize::from(is_written))
    }

    pub(super) fn would_remake(
        self,
        key: &RelPath,
        report: &dyn Fn(&Step),
        text: &str,
    ) -> Result<usize, PublishError> {
        let is_right = self.pages.page(key)?.is_some_and(|page| page.bytes == text.as_bytes());
        if !is_right {
            report(&Step::Page { key: key.clone(), more: 0 });
        }
        Ok(usize::from(!is_right))
    }

    /// Repeats `make` and its write if other programs change `key`; returns true if written.
    fn until_written(
        self,
        key: &RelPath,
        uncached: bool,
        mut make: impl FnMut() -> Result<NewPage, PublishError>,
    ) -> Result<bool, PublishError> {
        let headers = headers::page(key.file_name(), uncached);
        for number in 0..pause::TRIES {
            if number > 0 {
                pause::before(number);
            }
            let (Some(text), current) = make()? else { continue };
            if current.as_ref().is_some_and(|page| page.bytes == text.as_bytes()) {
                return Ok(false);
            }
            if self.pages.write(key, current.as_deref(), &text, &headers)? {
                return Ok(true);
            }
        }
        let (store, key) = (self.pages.bucket.name().to_owned(), key.clone());
        Err(PublishError::Contended { store, key, tries: pause::TRIES })
    }
}
