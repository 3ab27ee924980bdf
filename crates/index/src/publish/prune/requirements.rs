//! Requirements of packages, recorded next to each page for later runs: they never change.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use fs_err::File;
use serde::{Deserialize, Serialize};

use super::inventory::Item;
use crate::publish::workers::run_parallel;
use crate::publish::{PublishError, headers, page, read};
use crate::simple::requirements_of_sdist;
use crate::store::{Body, Bucket, Object, StoreError};
use base::cleanup;
use base::names::{PathError, RelPath, Requirement};
use wheel::archive::variants;
use wheel::package::Metadata;

const RECORD: &str = "rockpack-requirements.json";
/// Requirements of larger sdists are unknown: each sdist is transferred whole.
const LARGEST_SDIST: u64 = 256 << 20;

/// Entries by file name.
type Record = BTreeMap<String, Entry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Entity tag of the METADATA or sdist that was read.
    etag: String,
    requires: Vec<String>,
}

pub(super) struct Requirements<'a> {
    bucket: &'a dyn Bucket,
    jobs: usize,
    /// `None` if unknown.
    read: BTreeMap<&'a RelPath, Option<Vec<Requirement>>>,
    records: BTreeMap<RelPath, Record>,
    changed: BTreeSet<RelPath>,
}

impl<'a> Requirements<'a> {
    pub(super) fn new(bucket: &'a dyn Bucket, jobs: usize) -> Self {
        let (read, records, changed) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { bucket, jobs, read, records, changed }
    }

    /// `None` for unknown requirements, and packages that were not read.
    pub(super) fn of_item(&self, item: &Item) -> Option<&[Requirement]> {
        self.read.get(item.key())?.as_deref()
    }

    pub(super) fn read(&mut self, items: &[&'a Item]) -> Result<(), PublishError> {
        let new: Vec<&Item> =
            items.iter().copied().filter(|item| !self.read.contains_key(item.key())).collect();
        self.read_records(&new)?;
        let results = run_parallel(&new, self.jobs, |item| {
            let recorded = self.recorded(item);
            recorded.map_or_else(|| self.requirements(item), |recorded| Ok((Some(recorded), None)))
        })?;
        for (item, (requirements, entry)) in new.into_iter().zip(results) {
            if let Some(entry) = entry {
                let key = record_of(item)?;
                let record = self.records.entry(key.clone()).or_default();
                record.insert(item.key().file_name().to_owned(), entry);
                self.changed.insert(key);
            }
            self.read.insert(item.key(), requirements);
        }
        Ok(())
    }

    /// Writes changed records, without the packages of `removed`. Of simultaneous runs, the last
    /// record stays: later runs read what it lacks.
    pub(super) fn record(mut self, removed: &BTreeSet<&RelPath>) -> Result<(), PublishError> {
        for key in removed {
            let record = key.with_file_name(RECORD)?;
            if self.records.get_mut(&record).is_some_and(|r| r.remove(key.file_name()).is_some()) {
                self.changed.insert(record);
            }
        }
        let changed: Vec<&RelPath> = self.changed.iter().collect();
        run_parallel(&changed, self.jobs, |key| {
            let Some(record) = self.records.get(*key).filter(|record| !record.is_empty()) else {
                return Ok(self.bucket.delete(key)?);
            };
            let text = serde_json::to_string(record)
                .map_err(|error| read::wrong(self.bucket, key, error.into()))?;
            let headers = headers::page(RECORD, true);
            Ok::<_, PublishError>(self.bucket.put(key, Body::Bytes(text.as_bytes()), &headers)?)
        })
        .map(drop)
    }

    fn read_records(&mut self, items: &[&Item]) -> Result<(), PublishError> {
        let keys = items.iter().map(|item| record_of(item));
        let keys = keys.collect::<Result<BTreeSet<RelPath>, _>>()?;
        let new: Vec<RelPath> =
            keys.into_iter().filter(|key| !self.records.contains_key(key)).collect();
        let pages = run_parallel(&new, self.jobs, |key| page::object_at(self.bucket, key))?;
        for (key, page) in new.into_iter().zip(pages) {
            let record = page.and_then(|page| serde_json::from_slice(&page.bytes).ok());
            self.records.insert(key, record.unwrap_or_default());
        }
        Ok(())
    }

    fn recorded(&self, item: &Item) -> Option<Vec<Requirement>> {
        let record = self.records.get(&record_of(item).ok()?)?;
        let entry = record.get(item.key().file_name())?;
        let is_same = source(item)?.etag.as_deref() == Some(&*entry.etag);
        is_same.then(|| entry.requires.iter().map(|text| text.parse().ok()).collect())?
    }

    fn requirements(
        &self,
        item: &Item,
    ) -> Result<(Option<Vec<Requirement>>, Option<Entry>), PublishError> {
        // A list of variants requires nothing (PEP 825).
        if variants::of_file_name(item.key().file_name()).is_some() {
            return Ok((Some(Vec::new()), None));
        }
        let Some(source) = source(item) else {
            // No METADATA and no page: publication is in progress.
            return Ok(((!item.is_named).then(Vec::new), None));
        };
        let requirements = if source.key == *item.key() {
            self.of_sdist(item)?
        } else {
            let page = page::object_at(self.bucket, &source.key)?;
            let metadata = page.map(|p| Metadata::parse(&String::from_utf8_lossy(&p.bytes)));
            metadata.map(|metadata| metadata.requirements().flatten().collect())
        };
        let texts = |requirements: &Vec<Requirement>| {
            requirements.iter().map(|requirement| requirement.text.clone()).collect()
        };
        let entry = requirements.as_ref().map(texts).zip(source.etag.clone());
        let entry = entry.map(|(requires, etag)| Entry { etag, requires });
        Ok((requirements, entry))
    }

    fn of_sdist(&self, item: &Item) -> Result<Option<Vec<Requirement>>, PublishError> {
        let key = item.key();
        if item.size() > LARGEST_SDIST {
            return Ok(None);
        }
        let local = |error: &io::Error| StoreError::of_read(self.bucket.name(), key, error);
        let (dir, _registration) =
            cleanup::temporary(tempfile::tempdir).map_err(|error| local(&error))?;
        let path = dir.path().join(key.file_name());
        let mut file = File::create(&path).map_err(|error| local(&error))?;
        io::copy(&mut self.bucket.get(key, None)?.body, &mut file)
            .map_err(|error| local(&error))?;
        Ok(requirements_of_sdist(&path).ok())
    }
}

/// METADATA, otherwise an sdist.
fn source(item: &Item) -> Option<&Object> {
    item.metadata().or_else(|| item.key().as_str().ends_with(".tar.gz").then(|| item.object()))
}

fn record_of(item: &Item) -> Result<RelPath, PathError> {
    item.key().with_file_name(RECORD)
}
