use std::io;

use super::{Archive, Cache, CacheEntry, ContentDigest, Fingerprint, Key, Offer, Store, Summary};
use base::regular;

impl Store for Cache {
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<ContentDigest> {
        self.content_of(fingerprint)
    }

    fn has_size(&self, size: u64) -> bool {
        self.has_size(size)
    }

    fn find(&self, key: &Key) -> Option<CacheEntry> {
        self.find(key)
    }

    fn reject(&self, entry: &CacheEntry) {
        self.reject(entry);
    }

    fn read_exact_at(&self, entry: &CacheEntry, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(entry, offset, buffer)
    }

    fn read_ahead(&self, entry: &CacheEntry, offset: u64, len: u64) {
        let (file, start) = self.file_of(entry);
        regular::read_ahead(file, start + offset, len);
    }

    fn offer(&self) -> Offer {
        self.offer()
    }

    fn keep(&self, archive: &mut Archive) {
        self.keep_now(archive);
    }

    fn finish(self: Box<Self>, archives: Vec<Archive>) -> Summary {
        (*self).finish(archives)
    }
}
