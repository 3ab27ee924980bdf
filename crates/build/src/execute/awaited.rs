use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::bytes::Bytes;
use super::cache_lookup::{CacheLookup, settings};
use super::packing::Packing;
use base::hash::Sha256Hasher;
use cache::{self, ContentDigest, Form};

#[derive(Debug)]
pub(super) struct Awaited<'a> {
    bytes: &'a Bytes,
    offset: u64,
    len: u64,
    settings: String,
    form: Form,
    effort: Duration,
    lookup: CacheLookup<'a>,
    content: OnceLock<ContentDigest>,
    /// Delivered stream, or `None` if it is packed here.
    outcome: OnceLock<Option<cache::CacheEntry>>,
    since: Instant,
    /// End of the hold, in milliseconds after `since`.
    held: AtomicU64,
    given_up: AtomicBool,
}

impl<'a> Awaited<'a> {
    pub fn new(
        bytes: &'a Bytes,
        (offset, len): (u64, u64),
        (packing, form): (Packing<'_>, Form),
        lookup: CacheLookup<'a>,
        content: Option<ContentDigest>,
    ) -> Self {
        Self {
            bytes,
            offset,
            len,
            settings: settings(packing),
            form,
            effort: packing.effort(len),
            lookup,
            content: content.map_or_else(OnceLock::new, OnceLock::from),
            outcome: OnceLock::new(),
            since: Instant::now(),
            held: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.outcome.get().is_none()
            && !self.given_up.load(Ordering::Relaxed)
            && self.since.elapsed().as_millis() < u128::from(self.held.load(Ordering::Relaxed))
    }

    /// The stream, if delivered. Later deliveries are rejected.
    pub fn close(&self) -> Option<cache::CacheEntry> {
        *self.outcome.get_or_init(|| None)
    }

    pub fn known_content(&self) -> Option<ContentDigest> {
        self.content.get().copied()
    }

    pub fn stream(&self) -> Option<cache::CacheEntry> {
        self.outcome.get().copied().flatten()
    }
}

impl cache::Awaited for Awaited<'_> {
    fn settings(&self) -> &str {
        &self.settings
    }

    fn form(&self) -> Form {
        self.form
    }

    fn size(&self) -> u64 {
        self.len
    }

    fn effort(&self) -> Duration {
        self.effort
    }

    fn content(&self) -> io::Result<ContentDigest> {
        let remembered = || match self.form {
            Form::XzBlock => self.lookup.content_of_block(self.bytes, self.offset, self.len),
            Form::Deflate => None,
        };
        if let Some(content) = self.known_content().or_else(remembered) {
            return Ok(*self.content.get_or_init(|| content));
        }
        let mut hasher = Sha256Hasher::default();
        hasher.update_from(self.offset..self.offset + self.len, |offset, out| {
            if !cache::Awaited::is_open(self) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.bytes.read_exact_at(offset, out)
        })?;
        Ok(*self.content.get_or_init(|| ContentDigest(hasher.finish().sha256)))
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.bytes.read_exact_at(self.offset + offset, buffer)
    }

    fn is_open(&self) -> bool {
        self.outcome.get().is_none()
    }

    fn hold(&self, time: Duration) {
        let end = (self.since.elapsed() + time).as_millis();
        // A later, shorter hold does not end an earlier one.
        self.held.fetch_max(u64::try_from(end).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn arrive(&self, entry: cache::CacheEntry) -> bool {
        self.outcome.set(Some(entry)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Digests;
    use cache::{Awaited as _, Cache};
    use wheel::archive::deflate::Level;

    #[test]
    fn keeps_the_longest_hold() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path(), 1 << 20).unwrap();
        let bytes = Bytes::Memory(vec![7; 100]);
        let packing = (Packing::Deflate(Level::Max), Form::Deflate);
        let digests = Digests::default();
        let lookup = CacheLookup(&cache, &digests);
        let delivery = Awaited::new(&bytes, (0, 100), packing, lookup, None);
        assert!(!delivery.is_held());
        delivery.hold(Duration::from_mins(1));
        delivery.hold(Duration::ZERO);
        assert!(delivery.is_held());
        delivery.give_up();
        assert!(!delivery.is_held());
    }
}
