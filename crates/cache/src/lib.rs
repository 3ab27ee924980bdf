//! Packed members of earlier builds.
//!
//! A [`Key`] finds a stream (a member deflated, stored, or compressed by xz), a [`Fingerprint`] the
//! content of an unchanged file without reading it.
//!
//! `rockpack-cache-1/segments` has pairs of files: `ID.seg` with the bytes of a segment, a reflink of
//! a whole archive or copied streams, and `ID.idx` with their table.
//!
//! Segments never change, so processes read them without a lock, even during their removal. A
//! segment is written in `tmp`, locked while its writer lives, and becomes visible when its table
//! is renamed.
//!
//! A table has a checksum, a stream the CRC-32 of its packed bytes, compared by [`Store::check`].
//! Damaged parts are skipped, and removed at the end of the build.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fs_err::File;

mod awaited;
mod directory;
mod entry;
mod error;
mod finish;
mod import;
mod keep;
mod key;
mod local;
mod merge;
mod offer;
mod prune;
mod read;
mod recipe;
mod shared;
mod stats;
mod store;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod trust;
mod writer;

use directory::{Directory, NotLoaded};
use import::Imports;
use keep::KeptStreams;
use key::ByHash;
use table::{Broken, Row};

pub use awaited::{Awaited, Form, Source};
pub use entry::CacheEntry;
pub use error::CacheError;
pub use import::Room;
pub use key::{ContentDigest, Fingerprint, Fingerprinter, Key};
pub use offer::{Archive, Claims, Offer, Stretch};
pub use prune::Pruned;
pub use read::{Damage, PackedBytes};
pub use recipe::Recipe;
pub use shared::{Farm, Shared};
pub use stats::Stats;
pub use store::Store;
pub use summary::Summary;

/// Default limit of a cache.
pub const DEFAULT_LIMIT: u64 = 10_000_000_000;

#[derive(Debug)]
struct Slot {
    key: Key,
    entry: CacheEntry,
    segment: usize,
    offset: u64,
    uses: AtomicU64,
    damaged: AtomicBool,
}

#[derive(Debug)]
struct Segment {
    id: String,
    file: File,
    length: u64,
    used: AtomicU64,
    /// Memo rows set it too, without packed bytes.
    touched: AtomicBool,
}

#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
    remembered: AtomicU64,
    damaged: AtomicU64,
}

/// Open cache with the segments at its opening, shared by threads.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    directory: Directory,
    limit: u64,
    claims: Claims,
    segments: Vec<Segment>,
    slots: Vec<Slot>,
    keys: ByHash<Key, usize>,
    /// `None` if two segments disagree.
    memos: ByHash<Fingerprint, (Option<ContentDigest>, usize)>,
    sizes: Vec<u64>,
    broken: Vec<(String, Broken)>,
    unreadable: Vec<io::Error>,
    counts: Counts,
    imports: Imports,
    kept: Mutex<KeptStreams>,
}

impl Cache {
    /// Opens or creates the cache in `dir`, and removes broken segments. [`Cache::finish`] prunes
    /// to about `limit` bytes.
    pub fn open(dir: &Path, limit: u64) -> Result<Self, CacheError> {
        let directory = Directory::below(dir);
        let created = directory.create().and_then(|()| directory.remember_limit(limit));
        created.map_err(CacheError::in_dir("open", dir))?;
        let cache = Self::load(dir, directory, limit)?;
        // Broken segments are ignored anyway.
        cache.broken.iter().for_each(|(id, _)| drop(cache.directory.remove(id)));
        Ok(cache)
    }

    /// Opens `dir` read-only. A missing cache is empty.
    pub fn look(dir: &Path) -> Result<Self, CacheError> {
        let directory = Directory::below(dir);
        directory.check().map_err(CacheError::in_dir("read", dir))?;
        let limit = directory.remembered_limit().unwrap_or(DEFAULT_LIMIT);
        Self::load(dir, directory, limit)
    }

    fn load(dir: &Path, directory: Directory, limit: u64) -> Result<Self, CacheError> {
        let mut cache = Self {
            dir: dir.to_owned(),
            directory,
            limit,
            claims: Claims::default(),
            segments: Vec::new(),
            slots: Vec::new(),
            keys: ByHash::default(),
            memos: ByHash::default(),
            sizes: Vec::new(),
            broken: Vec::new(),
            unreadable: Vec::new(),
            counts: Counts::default(),
            imports: Imports::default(),
            kept: Mutex::default(),
        };
        // The last used segment wins: a repacked stream is newer than its damaged copy.
        let listed = cache.directory.listed().map_err(CacheError::in_dir("read", dir))?;
        for segment in listed {
            cache.load_segment(segment.id);
        }
        cache.sizes.sort_unstable();
        cache.sizes.dedup();
        Ok(cache)
    }

    fn load_segment(&mut self, id: String) {
        let loaded = match self.directory.load(&id) {
            Ok(loaded) => loaded,
            Err(NotLoaded::Gone) => return,
            Err(NotLoaded::Broken(reason)) => return self.broken.push((id, reason)),
            Err(NotLoaded::Unreadable(error)) => return self.unreadable.push(error),
        };
        let segment = self.segments.len();
        let rows = loaded.table.rows;
        self.slots.reserve(rows.len());
        self.keys.reserve(rows.len());
        for row in rows {
            self.add(&row, segment);
        }
        for (fingerprint, content) in loaded.table.memos {
            let memo = self.memos.entry(fingerprint).or_insert((Some(content), segment));
            if memo.0 != Some(content) {
                // A file has one content. The next build reads it again.
                memo.0 = None;
            }
        }
        let (used, touched) = (AtomicU64::new(0), AtomicBool::new(false));
        self.segments.push(Segment {
            id,
            file: loaded.file,
            length: loaded.table.length,
            used,
            touched,
        });
    }

    fn add(&mut self, row: &Row, segment: usize) {
        let Row { key, digest, method, packed_len, packed_crc, offset } = *row;
        let slot = self.slots.len();
        let entry = CacheEntry { digest, method, packed_len, packed_crc, slot };
        self.slots.push(Slot {
            key,
            entry,
            segment,
            offset,
            uses: AtomicU64::new(0),
            damaged: AtomicBool::new(false),
        });
        self.keys.insert(key, slot);
        self.sizes.push(digest.size);
    }

    /// Directory of the cache.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Known content of this fingerprint.
    pub fn content_of(&self, fingerprint: &Fingerprint) -> Option<ContentDigest> {
        let &(Some(content), segment) = self.memos.get(fingerprint)? else { return None };
        self.segments[segment].touched.store(true, Ordering::Relaxed);
        self.counts.remembered.fetch_add(1, Ordering::Relaxed);
        Some(content)
    }

    /// True if a cached content has this size; otherwise hashing is needless. (The content of an xz
    /// stream is the xz file.)
    pub fn has_size(&self, size: u64) -> bool {
        let is_known = self.sizes.binary_search(&size).is_ok();
        if !is_known {
            self.counts.misses.fetch_add(1, Ordering::Relaxed);
        }
        is_known
    }

    /// Stream of this key, unchecked: see [`Store::check`] and [`Cache::reject`].
    pub fn find(&self, key: &Key) -> Option<CacheEntry> {
        let slot = self
            .keys
            .get(key)
            .map(|slot| &self.slots[*slot])
            .filter(|slot| !slot.damaged.load(Ordering::Relaxed));
        let Some(Slot { entry, segment, uses, .. }) = slot else {
            if let Some(entry) = self.imports.find(key) {
                self.counts.hits.fetch_add(1, Ordering::Relaxed);
                self.counts.hit_bytes.fetch_add(entry.packed_len, Ordering::Relaxed);
                return Some(entry);
            }
            self.counts.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.counts.hits.fetch_add(1, Ordering::Relaxed);
        self.counts.hit_bytes.fetch_add(entry.packed_len, Ordering::Relaxed);
        let segment = &self.segments[*segment];
        segment.touched.store(true, Ordering::Relaxed);
        if uses.fetch_add(1, Ordering::Relaxed) == 0 {
            segment.used.fetch_add(entry.packed_len, Ordering::Relaxed);
        }
        Some(*entry)
    }

    /// Removes a damaged stream at the end.
    pub fn reject(&self, entry: &CacheEntry) {
        let Some(slot) = self.slots.get(entry.slot).filter(|slot| slot.entry == *entry) else {
            if self.imports.reject(entry) {
                self.counts.damaged.fetch_add(1, Ordering::Relaxed);
            }
            return;
        };
        if slot.damaged.swap(true, Ordering::Relaxed) {
            return;
        }
        let uses = slot.uses.load(Ordering::Relaxed);
        self.counts.damaged.fetch_add(1, Ordering::Relaxed);
        self.counts.hits.fetch_sub(uses, Ordering::Relaxed);
        self.counts.hit_bytes.fetch_sub(uses * entry.packed_len, Ordering::Relaxed);
        self.counts.misses.fetch_add(uses, Ordering::Relaxed);
    }

    /// Without counting a hit or miss.
    pub fn has(&self, key: &Key) -> bool {
        let slot = self.keys.get(key).map(|slot| &self.slots[*slot]);
        slot.is_some_and(|slot| !slot.damaged.load(Ordering::Relaxed))
            || self.imports.find(key).is_some()
    }

    /// Empty offer for one archive.
    pub fn offer(&self) -> Offer {
        self.claims.offer()
    }

    /// Streams in disk order, with duplicates.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Key, &CacheEntry)> {
        self.slots.iter().map(|slot| (&slot.key, &slot.entry))
    }

    /// Segment of a stream, for messages.
    pub fn segment_of(&self, entry: &CacheEntry) -> PathBuf {
        self.slots
            .get(entry.slot)
            .and_then(|slot| self.segments.get(slot.segment))
            .map_or_else(|| self.dir.clone(), |segment| segment.file.path().to_owned())
    }

    /// Path and fault of broken segments.
    pub fn broken(&self) -> impl ExactSizeIterator<Item = (PathBuf, String)> {
        self.broken.iter().map(|(id, reason)| (self.directory.table(id), reason.to_string()))
    }

    /// Read errors of possibly intact segments.
    pub fn unreadable(&self) -> &[io::Error] {
        &self.unreadable
    }
}

/// Segments are small enough to prune a few, and large enough to keep all open.
fn cap(limit: u64) -> u64 {
    const LARGEST: u64 = 256 << 20;
    const SMALLEST: u64 = 1 << 20;
    (limit / 32).min(LARGEST).max(limit / 128).max(SMALLEST)
}
