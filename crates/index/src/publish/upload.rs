use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::layout::Placed;
use super::workers::each;
use super::{PublishError, Step, beside, headers};
use crate::simple::{CONTENT_ENDING, PROVENANCE};
use crate::store::{Body, Bucket, Object, StoreError};
use base::hash;
use base::names::RelPath;
use base::regular;

pub(super) struct Survey<'a> {
    pub(super) bucket: &'a dyn Bucket,
    pub(super) jobs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtKey {
    Nothing,
    Same,
    Other,
}

impl Survey<'_> {
    pub(super) fn look(
        &self,
        placed: &[Placed<'_>],
        told: impl Fn(&Placed<'_>) -> Option<String> + Sync,
    ) -> Result<Vec<AtKey>, PublishError> {
        let look = |placed| self.find(placed, told(placed).as_deref());
        let found = each(placed, self.jobs, look)?;
        let both = placed.iter().zip(&found);
        let other = both.filter(|(_, found)| **found == AtKey::Other);
        let other: Vec<String> = other.map(|(placed, _)| format!("`{}`", placed.key)).collect();
        if other.is_empty() { Ok(found) } else { Err(PublishError::OtherBytes(other)) }
    }

    fn find(&self, placed: &Placed<'_>, told: Option<&str>) -> Result<AtKey, StoreError> {
        let own = placed.local.sha256();
        let Some(object) = self.bucket.head(&placed.key)? else {
            // A page names other bytes: the name is taken.
            let other = told.is_some_and(|told| told != own);
            return Ok(if other { AtKey::Other } else { AtKey::Nothing });
        };
        if object.size != placed.local.size() || told.is_some_and(|told| told != own) {
            return Ok(AtKey::Other);
        }
        Ok(if sha256(self.bucket, &object)? == own { AtKey::Same } else { AtKey::Other })
    }

    pub(super) fn tell(placed: &[Placed<'_>], found: &[AtKey], told: &dyn Fn(&Step)) {
        for (placed, found) in placed.iter().zip(found) {
            told(&step(placed, *found));
        }
        for placed in placed.iter().zip(found).filter(|(_, found)| **found == AtKey::Nothing) {
            for (ending, _) in companions(placed.0) {
                if let Ok(key) = beside(&placed.0.key, ending) {
                    told(&Step::Metadata { key });
                }
            }
            for key in placed.0.patches().filter_map(|(key, _)| key.ok()) {
                told(&Step::Metadata { key });
            }
        }
    }

    /// Creates packages; fails if another program was faster with other bytes.
    pub(super) fn upload(
        &self,
        placed: &[Placed<'_>],
        found: &[AtKey],
        told: &(dyn Fn(&Step) + Sync),
    ) -> Result<(), PublishError> {
        let pairs: Vec<_> = placed.iter().zip(found).collect();
        let uploaded = AtomicUsize::new(0);
        let done = each(&pairs, self.jobs, |(placed, found)| {
            told(&step(placed, **found));
            if **found == AtKey::Nothing {
                self.upload_one(placed)?;
                uploaded.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        });
        match done {
            Err(PublishError::Overtaken { keys, .. }) => {
                Err(PublishError::Overtaken { keys, uploaded: uploaded.into_inner() })
            }
            done => done.map(drop),
        }
    }

    fn upload_one(&self, placed: &Placed<'_>) -> Result<(), PublishError> {
        let headers = headers::package(&placed.local.file_name, placed.local.sha256());
        let body = Body::File(&placed.local.path);
        if self.bucket.create(&placed.key, body, &headers)?.is_done() {
            return Ok(());
        }
        // Another program was faster, or the response to an earlier attempt was lost.
        match self.find(placed, None)? {
            AtKey::Other => {
                let keys = vec![format!("`{}`", placed.key)];
                Err(PublishError::Overtaken { keys, uploaded: 0 })
            }
            AtKey::Same | AtKey::Nothing => Ok(()),
        }
    }

    pub(super) fn upload_companions(
        &self,
        placed: &[Placed<'_>],
        told: &(dyn Fn(&Step) + Sync),
    ) -> Result<(), PublishError> {
        each(placed, self.jobs, |placed| {
            for (ending, bytes) in companions(placed) {
                let key = beside(&placed.key, ending)?;
                if self.put_companion(&key, bytes)? {
                    told(&Step::Metadata { key });
                }
            }
            for (key, path) in placed.patches() {
                let key = key?;
                if self.put_patch(&key, path)? {
                    told(&Step::Metadata { key });
                }
            }
            Ok(())
        })
        .map(drop)
    }

    fn put_companion(&self, key: &RelPath, bytes: &[u8]) -> Result<bool, PublishError> {
        let (body, headers) = (Body::Bytes(bytes), headers::companion(key.as_str()));
        if self.bucket.create(key, body, &headers)?.is_done() {
            return Ok(true);
        }
        if self.has(key, bytes)? {
            return Ok(false);
        }
        // The package is verified, so a different companion is wrong, or has other attestations.
        self.bucket.put(key, body, &headers)?;
        Ok(true)
    }

    fn put_patch(&self, key: &RelPath, path: &Path) -> Result<bool, PublishError> {
        let read = regular::sha256(path);
        let own =
            read.map_err(|error| StoreError::of_io(self.bucket.name(), "write", key, &error))?;
        let (body, headers) = (Body::File(path), headers::patch(&own));
        if self.bucket.create(key, body, &headers)?.is_done() {
            return Ok(true);
        }
        if let Some(there) = self.bucket.head(key)?
            && sha256(self.bucket, &there)? == own
        {
            return Ok(false);
        }
        self.bucket.put(key, body, &headers)?;
        Ok(true)
    }

    fn has(&self, key: &RelPath, bytes: &[u8]) -> Result<bool, StoreError> {
        let there = self.bucket.get(key, None)?;
        Ok(there.object.size == bytes.len() as u64
            && there.bytes(self.bucket, bytes.len() as u64)? == bytes)
    }
}

fn companions<'l>(placed: &Placed<'l>) -> impl Iterator<Item = (&'static str, &'l [u8])> + use<'l> {
    let local = placed.local;
    let metadata = local.metadata.as_deref().map(|bytes| ("metadata", bytes));
    let content = local.content.as_ref().map(|list| (CONTENT_ENDING, list.as_bytes()));
    let provenance = local.provenance.as_ref().map(|object| (PROVENANCE, object.as_bytes()));
    metadata.into_iter().chain(content).chain(provenance)
}

fn step(placed: &Placed<'_>, found: AtKey) -> Step {
    let key = placed.key.clone();
    match found {
        AtKey::Nothing => Step::Upload { key, size: placed.local.size() },
        AtKey::Same | AtKey::Other => Step::Same { key },
    }
}

fn sha256(bucket: &dyn Bucket, object: &Object) -> Result<String, StoreError> {
    if let Some(sha256) = &object.sha256 {
        return Ok(sha256.clone());
    }
    let sum = hash::of_reader(bucket.get(&object.key, None)?.body);
    sum.map(|sum| sum.sha256.to_string())
        .map_err(|error| StoreError::of_read(bucket.name(), &object.key, &error))
}
