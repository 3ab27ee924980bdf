use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::layout::Placed;
use super::workers::run_parallel;
use super::{PublishError, Step, companion_key, headers};
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
        known_sha256: impl Fn(&Placed<'_>) -> Option<String> + Sync,
    ) -> Result<Vec<AtKey>, PublishError> {
        let look = |placed| self.find(placed, known_sha256(placed).as_deref());
        let states = run_parallel(placed, self.jobs, look)?;
        let pairs = placed.iter().zip(&states);
        let conflicts = pairs.filter(|(_, state)| **state == AtKey::Other);
        let conflicts: Vec<String> =
            conflicts.map(|(placed, _)| format!("`{}`", placed.key)).collect();
        if conflicts.is_empty() { Ok(states) } else { Err(PublishError::OtherBytes(conflicts)) }
    }

    fn find(&self, placed: &Placed<'_>, known: Option<&str>) -> Result<AtKey, StoreError> {
        let local = placed.local.sha256();
        let Some(object) = self.bucket.head(&placed.key)? else {
            // A page names other bytes: the name is taken.
            let is_taken = known.is_some_and(|known| known != local);
            return Ok(if is_taken { AtKey::Other } else { AtKey::Nothing });
        };
        if object.size != placed.local.size() || known.is_some_and(|known| known != local) {
            return Ok(AtKey::Other);
        }
        Ok(if sha256(self.bucket, &object)? == local { AtKey::Same } else { AtKey::Other })
    }

    /// Reports the steps that [`Self::upload`] would do.
    pub(super) fn preview(placed: &[Placed<'_>], states: &[AtKey], report: &dyn Fn(&Step)) {
        for (placed, state) in placed.iter().zip(states) {
            report(&step(placed, *state));
        }
        for placed in placed.iter().zip(states).filter(|(_, state)| **state == AtKey::Nothing) {
            for (ending, _) in companions(placed.0) {
                if let Ok(key) = companion_key(&placed.0.key, ending) {
                    report(&Step::Metadata { key });
                }
            }
            for key in placed.0.patches().filter_map(|(key, _)| key.ok()) {
                report(&Step::Metadata { key });
            }
        }
    }

    /// Creates packages; fails if another program was faster with other bytes.
    pub(super) fn upload(
        &self,
        placed: &[Placed<'_>],
        states: &[AtKey],
        report: &(dyn Fn(&Step) + Sync),
    ) -> Result<(), PublishError> {
        let pairs: Vec<_> = placed.iter().zip(states).collect();
        let uploaded = AtomicUsize::new(0);
        let result = run_parallel(&pairs, self.jobs, |(placed, state)| {
            report(&step(placed, **state));
            if **state == AtKey::Nothing {
                self.upload_one(placed)?;
                uploaded.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        });
        match result {
            Err(PublishError::Overtaken { keys, .. }) => {
                Err(PublishError::Overtaken { keys, uploaded: uploaded.into_inner() })
            }
            result => result.map(drop),
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
        report: &(dyn Fn(&Step) + Sync),
    ) -> Result<(), PublishError> {
        run_parallel(placed, self.jobs, |placed| {
            for (ending, bytes) in companions(placed) {
                let key = companion_key(&placed.key, ending)?;
                if self.put_companion(&key, bytes)? {
                    report(&Step::Metadata { key });
                }
            }
            for (key, path) in placed.patches() {
                let key = key?;
                if self.put_patch(&key, path)? {
                    report(&Step::Metadata { key });
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
        if self.contains(key, bytes)? {
            return Ok(false);
        }
        // The package is verified, so a different companion is wrong, or has other attestations.
        self.bucket.put(key, body, &headers)?;
        Ok(true)
    }

    fn put_patch(&self, key: &RelPath, path: &Path) -> Result<bool, PublishError> {
        let read = regular::sha256(path);
        let local =
            read.map_err(|error| StoreError::of_io(self.bucket.name(), "write", key, &error))?;
        let (body, headers) = (Body::File(path), headers::patch(&local));
        if self.bucket.create(key, body, &headers)?.is_done() {
            return Ok(true);
        }
        if let Some(object) = self.bucket.head(key)?
            && sha256(self.bucket, &object)? == local
        {
            return Ok(false);
        }
        self.bucket.put(key, body, &headers)?;
        Ok(true)
    }

    fn contains(&self, key: &RelPath, bytes: &[u8]) -> Result<bool, StoreError> {
        let content = self.bucket.get(key, None)?;
        Ok(content.object.size == bytes.len() as u64
            && content.bytes(self.bucket, bytes.len() as u64)? == bytes)
    }
}

fn companions<'l>(placed: &Placed<'l>) -> impl Iterator<Item = (&'static str, &'l [u8])> + use<'l> {
    let local = placed.local;
    let metadata = local.metadata.as_deref().map(|bytes| ("metadata", bytes));
    let content = local.content.as_ref().map(|list| (CONTENT_ENDING, list.as_bytes()));
    let provenance = local.provenance.as_ref().map(|object| (PROVENANCE, object.as_bytes()));
    metadata.into_iter().chain(content).chain(provenance)
}

fn step(placed: &Placed<'_>, state: AtKey) -> Step {
    let key = placed.key.clone();
    match state {
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
