//! Packed members of earlier builds, so that what has not changed need not be packed again.
//!
//! A build knows a [`Store`]; [`Cache`] is the one in a directory of this machine, of which the rest here
//! tells.
//!
//! Streams (a member deflated, stored, or compressed by xz) are found by a [`Key`]: the SHA-256
//! of the content and the settings that packed it. So that an unchanged file need not even be
//! read, the cache remembers what the files of a [`Fingerprint`] came to.
//!
//! Below the cache's directory, `rockpack-cache-1/segments` has segments: `ID.seg` with streams
//! in it, and `ID.idx`, the table that says what and where they are. A segment is most often a
//! whole archive that a build made, shared with it by a reflink, so that keeping it
//! writes no byte; what is between the streams does no harm. Where that cannot be, or little of
//! the archive is new, streams are copied: a hard link would let who may write the package write
//! the cache. Segments never change, so that any number of processes
//! read without a lock, and go on reading what another one removes. A segment comes to be in
//! `tmp`, under a lock that tells whether its writer lives, and becomes visible by the renaming of
//! its table.
//!
//! Nothing in a cache is believed: a table has a checksum, a stream the CRC-32 of its packed
//! bytes, which [`Store::check`] compares. What is damaged is not used, and removed when the
//! build ends. A cache never fails a build: errors are for telling people.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fs_err::File;

mod awaited;
mod directory;
mod entry;
mod error;
mod finish;
mod import;
mod key;
mod local;
mod merge;
mod offer;
mod own;
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
mod writer;

use directory::{Directory, NotLoaded};
use import::Imports;
use key::ByHash;
use table::{Broken, Row};

pub use awaited::{Awaited, Form, Source};
pub use entry::CacheEntry;
pub use error::CacheError;
pub use import::Room;
pub use key::{Content, Fingerprint, Fingerprinter, Key};
pub use offer::{Archive, Claims, Offer, Stretch};
pub use prune::Pruned;
pub use read::{Damage, PackedBytes};
pub use recipe::Recipe;
pub use shared::{Farm, Shared};
pub use stats::Stats;
pub use store::Store;
pub use summary::Summary;

/// How many bytes a cache may take where nobody says otherwise: 10 GB.
pub const DEFAULT_LIMIT: u64 = 10_000_000_000;

/// A stream, and what came of it in this build.
#[derive(Debug)]
struct Slot {
    key: Key,
    entry: CacheEntry,
    /// Where it is.
    segment: usize,
    offset: u64,
    /// How often it was found.
    found: AtomicU64,
    damaged: AtomicBool,
}

/// A segment that is open.
#[derive(Debug)]
struct Segment {
    id: String,
    file: File,
    length: u64,
    /// How many of its packed bytes this build used.
    used: AtomicU64,
    /// Whether anything of it was used: a memo row has no packed bytes.
    touched: AtomicBool,
}

/// What was asked, for the summary.
#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
    remembered: AtomicU64,
    damaged: AtomicU64,
}

/// An open cache: the segments that were there when it was opened. May be shared by threads.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    directory: Directory,
    limit: u64,
    claims: Claims,
    segments: Vec<Segment>,
    slots: Vec<Slot>,
    keys: ByHash<Key, usize>,
    /// What fingerprints stand for, and the segment that says so; nothing where two segments differ.
    memos: ByHash<Fingerprint, (Option<Content>, usize)>,
    /// The sizes of all contents, sorted.
    sizes: Vec<u64>,
    /// Segments that are broken as a whole.
    broken: Vec<(String, Broken)>,
    /// Segments that could not be read and may be fine.
    unreadable: Vec<io::Error>,
    counts: Counts,
    /// What came from elsewhere since it was opened.
    imports: Imports,
}

impl Cache {
    /// Opens the cache in `dir`, which is created if it does not exist. It will take about `limit`
    /// bytes when the build is done. Broken segments are removed.
    ///
    /// # Errors
    /// When the directory cannot be created, read or written. A build then goes on without a cache.
    pub fn open(dir: &Path, limit: u64) -> Result<Self, CacheError> {
        let directory = Directory::below(dir);
        let created = directory.create().and_then(|()| directory.remember_limit(limit));
        created.map_err(CacheError::at("open", dir))?;
        let cache = Self::load(dir, directory, limit)?;
        // What cannot be removed is ignored all the same.
        cache.broken.iter().for_each(|(id, _)| drop(cache.directory.remove(id)));
        Ok(cache)
    }

    /// Looks at the cache in `dir` and changes nothing. One that does not exist is empty.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn look(dir: &Path) -> Result<Self, CacheError> {
        let directory = Directory::below(dir);
        directory.check().map_err(CacheError::at("read", dir))?;
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
        };
        // The segment used last comes last and wins: what was packed anew is newer than what was damaged.
        let listed = cache.directory.listed().map_err(CacheError::at("read", dir))?;
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
            Err(NotLoaded::Broken(why)) => return self.broken.push((id, why)),
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
            let said = self.memos.entry(fingerprint).or_insert((Some(content), segment));
            if said.0 != Some(content) {
                // A file has one content. Which of the two it is, is for the next build to find out.
                said.0 = None;
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
            found: AtomicU64::new(0),
            damaged: AtomicBool::new(false),
        });
        self.keys.insert(key, slot);
        self.sizes.push(digest.size);
    }

    /// The directory that it was opened in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many bytes it may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What the files of this fingerprint and their edit come to, if that was seen before.
    pub fn content_of(&self, fingerprint: &Fingerprint) -> Option<Content> {
        let &(Some(content), segment) = self.memos.get(fingerprint)? else { return None };
        self.segments[segment].touched.store(true, Ordering::Relaxed);
        self.counts.remembered.fetch_add(1, Ordering::Relaxed);
        Some(content)
    }

    /// Whether any stream's content has this size. If none has, there is no need to know a content's
    /// hash before it is packed. (What xz made has the size of the xz file.)
    pub fn has_size(&self, size: u64) -> bool {
        let has = self.sizes.binary_search(&size).is_ok();
        if !has {
            self.counts.misses.fetch_add(1, Ordering::Relaxed);
        }
        has
    }

    /// The stream of this key. Its bytes have to be compared with their checksum before they are
    /// used or while they are copied: see [`Store::check`] and [`Cache::reject`].
    pub fn find(&self, key: &Key) -> Option<CacheEntry> {
        let slot = self
            .keys
            .get(key)
            .map(|slot| &self.slots[*slot])
            .filter(|slot| !slot.damaged.load(Ordering::Relaxed));
        let Some(Slot { entry, segment, found, .. }) = slot else {
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
        if found.fetch_add(1, Ordering::Relaxed) == 0 {
            segment.used.fetch_add(entry.packed_len, Ordering::Relaxed);
        }
        Some(*entry)
    }

    /// Says that a stream is not what it should be: it is not found again, counts as a miss, and
    /// goes when the build ends.
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
        let found = slot.found.load(Ordering::Relaxed);
        self.counts.damaged.fetch_add(1, Ordering::Relaxed);
        self.counts.hits.fetch_sub(found, Ordering::Relaxed);
        self.counts.hit_bytes.fetch_sub(found * entry.packed_len, Ordering::Relaxed);
        self.counts.misses.fetch_add(found, Ordering::Relaxed);
    }

    /// Whether there is a stream of this key. Nothing is counted.
    pub fn has(&self, key: &Key) -> bool {
        let slot = self.keys.get(key).map(|slot| &self.slots[*slot]);
        slot.is_some_and(|slot| !slot.damaged.load(Ordering::Relaxed))
            || self.imports.find(key).is_some()
    }

    /// What an archive that is written offers to be kept; one for each.
    pub fn offer(&self) -> Offer {
        self.claims.offer()
    }

    /// Every stream with its key, also those of a key that another segment has too, in the order
    /// in which they are on the disk.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Key, &CacheEntry)> {
        self.slots.iter().map(|slot| (&slot.key, &slot.entry))
    }

    /// The file that a stream is in, for telling people.
    pub fn segment_of(&self, entry: &CacheEntry) -> PathBuf {
        self.slots
            .get(entry.slot)
            .and_then(|slot| self.segments.get(slot.segment))
            .map_or_else(|| self.dir.clone(), |segment| segment.file.path().to_owned())
    }

    /// The segments that are broken as a whole: path and reason.
    pub fn broken(&self) -> impl ExactSizeIterator<Item = (PathBuf, String)> {
        self.broken.iter().map(|(id, why)| (self.directory.table(id), why.to_string()))
    }

    /// Why segments could not be read that may be fine.
    pub fn unreadable(&self) -> &[io::Error] {
        &self.unreadable
    }
}

/// Where segments of a cache of this limit end: there should be enough of them to prune a few, and
/// few enough to have all of them open.
fn cap(limit: u64) -> u64 {
    const LARGEST: u64 = 256 << 20;
    const SMALLEST: u64 = 1 << 20;
    (limit / 32).min(LARGEST).max(limit / 128).max(SMALLEST)
}
