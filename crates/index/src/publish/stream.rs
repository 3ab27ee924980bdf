//! Record of a store's stream, to refuse a wrong `--stream`.

use serde::{Deserialize, Serialize};

use super::aggregate::Above;
use super::layout::{Layout, Takes};
use super::page_store::PageStore;
use super::{PublishError, Step, headers, read};
use base::names::{PathError, RelPath};

/// Record at the top of an index without routes documents.
const RECORD: &str = "rockpack-stream.json";

#[derive(Serialize, Deserialize)]
struct Document {
    stream: String,
}

pub(super) struct StreamRecord<'a> {
    store: &'a PageStore<'a>,
    stream: Option<&'a str>,
    key: RelPath,
    /// The routes document, which publishing writes anyway.
    is_routes: bool,
}

impl<'a> StreamRecord<'a> {
    pub(super) fn new(store: &'a PageStore<'a>, layout: &'a Layout) -> Result<Self, PathError> {
        let stream = layout.stream.as_deref();
        if let Some(above) = Above::new(store, layout) {
            return Ok(Self { store, stream, key: above.routes().clone(), is_routes: true });
        }
        let name: RelPath = RECORD.parse()?;
        let base = match &layout.shelves[..] {
            [shelf] if matches!(shelf.takes, Takes::All) => shelf.base.as_ref(),
            _ => None,
        };
        let key = base.map_or(name.clone(), |base| base.join(&name));
        Ok(Self { store, stream, key, is_routes: false })
    }

    /// Rejects another stream, also if none was given. Returns false without a record.
    pub(super) fn check(&self) -> Result<bool, PublishError> {
        let Some(page) = self.store.page(&self.key)? else { return Ok(false) };
        let document = match serde_json::from_slice::<Document>(&page.bytes) {
            Ok(document) => document,
            // Routes of other programs may lack the stream.
            Err(_) if self.is_routes => return Ok(false),
            Err(error) => return Err(read::wrong(self.store.bucket, &self.key, error.into())),
        };
        if Some(&*document.stream) == self.stream {
            return Ok(true);
        }
        Err(PublishError::Stream {
            store: self.store.bucket.name().to_owned(),
            key: self.key.clone(),
            recorded: document.stream,
            requested: self.stream.map(str::to_owned),
        })
    }

    pub(super) fn require(&self) -> Result<(), PublishError> {
        let Some(stream) = self.stream else { return Ok(()) };
        if self.check()? {
            return Ok(());
        }
        let (store, stream) = (self.store.bucket.name().to_owned(), stream.to_owned());
        Err(PublishError::NoStream { store, stream })
    }

    /// Reports the record that [`Self::write`] would write; true if it would.
    pub(super) fn preview(&self, report: &dyn Fn(&Step)) -> Result<bool, PublishError> {
        let is_new = !self.check()? && !self.is_routes && self.stream.is_some();
        if is_new {
            report(&Step::Page { key: self.key.clone(), more: 0 });
        }
        Ok(is_new)
    }

    pub(super) fn write(&self, report: &dyn Fn(&Step)) -> Result<bool, PublishError> {
        let Some(stream) = self.stream.filter(|_| !self.is_routes) else { return Ok(false) };
        if !self.preview(report)? {
            return Ok(false);
        }
        let document = Document { stream: stream.to_owned() };
        let text = serde_json::to_string(&document)
            .map_err(|error| read::wrong(self.store.bucket, &self.key, error.into()))?;
        let headers = headers::page(RECORD, true);
        self.store.write(&self.key, None, &(text + "\n"), &headers)?;
        // The first of two records wins.
        self.check()
    }
}
