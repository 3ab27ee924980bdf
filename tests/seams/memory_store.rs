//! Cache in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use build::cache::{
    Archive, CacheEntry, Claims, ContentDigest, Fingerprint, Key, Offer, Store, Stretch, Summary,
};
use fs_err as fs;

/// Streams that outlive a build.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<Kept>);

#[derive(Debug, Clone, Default)]
struct Kept {
    streams: BTreeMap<Key, (CacheEntry, Vec<u8>)>,
    memos: BTreeMap<[u8; 32], ContentDigest>,
}

impl Shelf {
    /// Changes the last byte of every stream.
    pub fn damage(&self) {
        for (_, bytes) in self.0.lock().unwrap().streams.values_mut() {
            *bytes.last_mut().unwrap() ^= 1;
        }
    }
}

/// Cache of one build: the streams of the shelf at its start.
#[derive(Debug)]
pub struct MemoryStore {
    shelf: Arc<Shelf>,
    kept: Kept,
    /// Keys by slot.
    keys: Vec<Key>,
    rejected: Mutex<Vec<Key>>,
    claims: Claims,
    hits: AtomicU64,
    misses: AtomicU64,
    remembered: AtomicU64,
}

impl MemoryStore {
    /// Takes the current streams of the shelf.
    pub fn new(shelf: Arc<Shelf>) -> Self {
        let mut kept = shelf.0.lock().unwrap().clone();
        let keys: Vec<Key> = kept.streams.keys().copied().collect();
        for (slot, key) in keys.iter().enumerate() {
            kept.streams.get_mut(key).unwrap().0.slot = slot;
        }
        let (hits, misses, remembered) = Default::default();
        let (rejected, claims) = Default::default();
        Self { shelf, kept, keys, rejected, claims, hits, misses, remembered }
    }

    fn missed(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }
}

impl Store for MemoryStore {
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<ContentDigest> {
        let content = self.kept.memos.get(&fingerprint.0).copied();
        self.remembered.fetch_add(u64::from(content.is_some()), Ordering::Relaxed);
        content
    }

    fn has_size(&self, size: u64) -> bool {
        let has = self.kept.streams.values().any(|(entry, _)| entry.digest.size == size);
        if !has {
            self.missed();
        }
        has
    }

    fn find(&self, key: &Key) -> Option<CacheEntry> {
        let found = self.kept.streams.get(key);
        let found = found.filter(|_| !self.rejected.lock().unwrap().contains(key));
        match found {
            Some(_) => _ = self.hits.fetch_add(1, Ordering::Relaxed),
            None => self.missed(),
        }
        found.map(|(entry, _)| *entry)
    }

    fn reject(&self, entry: &CacheEntry) {
        self.rejected.lock().unwrap().push(self.keys[entry.slot]);
        self.hits.fetch_sub(1, Ordering::Relaxed);
        self.missed();
    }

    fn read_exact_at(&self, entry: &CacheEntry, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (_, bytes) = &self.kept.streams[&self.keys[entry.slot]];
        let start = usize::try_from(offset).unwrap();
        let found = bytes.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn offer(&self) -> Offer {
        self.claims.offer()
    }

    fn keep(&self, _: &mut Archive) {}

    fn finish(self: Box<Self>, archives: Vec<Archive>) -> Summary {
        let mut kept = self.shelf.0.lock().unwrap();
        let mut summary = Summary {
            hits: self.hits.into_inner(),
            misses: self.misses.into_inner(),
            remembered: self.remembered.into_inner(),
            damaged: self.rejected.into_inner().unwrap().len() as u64,
            ..Summary::default()
        };
        for Archive { path, offer } in archives {
            let archive = fs::read(path).unwrap();
            for (key, digest, Stretch { offset, len, crc, method }) in offer.streams() {
                let start = usize::try_from(offset).unwrap();
                let bytes = archive[start..start + usize::try_from(len).unwrap()].to_vec();
                let entry = CacheEntry {
                    digest: *digest,
                    method,
                    packed_len: len,
                    packed_crc: crc,
                    slot: 0,
                };
                kept.streams.insert(*key, (entry, bytes));
                summary.added += 1;
                summary.added_bytes += len;
            }
            kept.memos.extend(offer.memos().iter().map(|(print, content)| (print.0, *content)));
        }
        summary
    }
}
