//! Pages of a store, each transferred once in a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::encoding;
use super::kept_pages::{KeptPages, Place};
use super::page::{Page, object_at, read};
use super::page_cache::PageCache;
use crate::store::{Body, Bucket, ConditionalWrite, ErrorKind, Headers, Object, StoreError};
use base::names::RelPath;

#[derive(Debug, Clone)]
struct CachedPage {
    page: Option<(Object, Place)>,
    is_current: bool,
}

#[derive(Debug)]
pub(super) struct PageStore<'a> {
    pub(super) bucket: &'a dyn Bucket,
    pages: Mutex<BTreeMap<RelPath, CachedPage>>,
    kept: KeptPages,
    cache: Option<&'a PageCache>,
}

impl<'a> PageStore<'a> {
    pub(super) fn new(bucket: &'a dyn Bucket) -> Self {
        Self::cached(bucket, None)
    }

    /// Transfers pages in `cache` only if they changed.
    pub(super) fn cached(bucket: &'a dyn Bucket, cache: Option<&'a PageCache>) -> Self {
        Self { bucket, pages: Mutex::default(), kept: KeptPages::default(), cache }
    }

    pub(super) fn page(&self, key: &RelPath) -> Result<Option<Arc<Page>>, StoreError> {
        let cached = self.pages().get(key).cloned();
        if let Some(CachedPage { page, is_current }) = cached
            && (is_current || self.is_current(key, page.as_ref())?)
        {
            self.set(key, page.clone());
            return page.map(|(object, place)| self.restored(object, place)).transpose();
        }
        let page = self.transfer(key)?;
        self.remember(key, page.as_ref())?;
        Ok(page.map(Arc::new))
    }

    fn restored(&self, object: Object, place: Place) -> Result<Arc<Page>, StoreError> {
        let bytes = self.kept.page(place).map_err(|error| self.local_error(&object.key, &error))?;
        Ok(Arc::new(Page { object, bytes }))
    }

    fn local_error(&self, key: &RelPath, error: &io::Error) -> StoreError {
        let text = format!("no temporary file can keep it: {error}");
        StoreError::of_key(ErrorKind::Local, self.bucket.name(), "read", key, &text)
    }

    fn transfer(&self, key: &RelPath) -> Result<Option<Page>, StoreError> {
        let Some(cache) = self.cache else { return object_at(self.bucket, key) };
        let name = self.bucket.name();
        let earlier = cache.page(name, key);
        let page = match earlier.as_ref().map(|page| self.bucket.get_changed(&page.object)) {
            None => object_at(self.bucket, key)?,
            Some(Ok(None)) => return Ok(earlier),
            Some(Ok(Some(content))) => Some(read(self.bucket, content)?),
            Some(Err(error)) if error.kind == ErrorKind::NotFound => None,
            Some(Err(error)) => return Err(error),
        };
        if let Some(page) = &page {
            cache.keep(name, page);
        }
        Ok(page)
    }

    /// Later reads compare entity tags first: other programs may have written pages.
    pub(super) fn recheck(&self) {
        self.pages().values_mut().for_each(|cached| cached.is_current = false);
    }

    /// Writes a page in place of `current`. Returns false if another program changed it.
    pub(super) fn write(
        &self,
        key: &RelPath,
        current: Option<&Page>,
        text: &str,
        headers: &Headers<'_>,
    ) -> Result<bool, StoreError> {
        let (encoding, bytes) = self
            .stored(text, headers.content_encoding)
            .map_err(|error| StoreError::of_io(self.bucket.name(), "write", key, &error))?;
        let headers = Headers { content_encoding: encoding, ..*headers };
        let outcome = match current {
            None => self.bucket.create(key, Body::Bytes(&bytes), &headers)?,
            Some(page) => self.bucket.replace(&page.object, Body::Bytes(&bytes), &headers)?,
        };
        let ConditionalWrite::Done(object) = outcome else {
            self.pages().clear();
            return Ok(false);
        };
        let page = Page { object, bytes: text.as_bytes().to_vec() };
        if let Some(cache) = self.cache {
            cache.keep(self.bucket.name(), &page);
        }
        self.remember(key, Some(&page))?;
        Ok(true)
    }

    /// Bytes for the store, and their encoding.
    fn stored<'t>(&self, text: &'t str, encoding: &'t str) -> io::Result<(&'t str, Cow<'t, [u8]>)> {
        if encoding.is_empty() || !self.bucket.keeps_encoding() {
            return Ok(("", text.as_bytes().into()));
        }
        Ok((encoding, encoding::encoded(text)?.into()))
    }

    fn is_current(
        &self,
        key: &RelPath,
        page: Option<&(Object, Place)>,
    ) -> Result<bool, StoreError> {
        let Some(etag) = page.and_then(|(object, _)| object.etag.as_ref()) else {
            return Ok(false);
        };
        Ok(self.bucket.head(key)?.is_some_and(|object| object.etag.as_ref() == Some(etag)))
    }

    fn remember(&self, key: &RelPath, page: Option<&Page>) -> Result<(), StoreError> {
        let keep = |page: &Page| Ok((page.object.clone(), self.kept.keep(&page.bytes)?));
        let kept = page.map(keep).transpose().map_err(|error| self.local_error(key, &error))?;
        self.set(key, kept);
        Ok(())
    }

    fn set(&self, key: &RelPath, page: Option<(Object, Place)>) {
        self.pages().insert(key.clone(), CachedPage { page, is_current: true });
    }

    fn pages(&self) -> MutexGuard<'_, BTreeMap<RelPath, CachedPage>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
