use std::io;

use super::bytes::Bytes;
use super::digests::{Digests, fingerprint};
use super::packing::Packing;
use base::hash::Sha256;
use cache::{self, ContentDigest, Fingerprint, Fingerprinter, Key, Recipe, Store};
use wheel::archive::deflate::{BLOCK, ENCODER};
use wheel::archive::tarball::XZ_ENCODER;

/// Excess of a packed stream: headers, and deflate's overhead for incompressible bytes.
const SLACK: u64 = 64 << 10;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ContentFacts {
    /// `None` if a source file is too new.
    pub fingerprint: Option<Fingerprint>,
    pub content: Option<ContentDigest>,
    /// The cache has this content for the fingerprint.
    pub remembered: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CacheLookup<'c>(pub &'c dyn Store, pub &'c Digests);

impl<'c> CacheLookup<'c> {
    pub fn new(digests: &'c Digests) -> Option<Self> {
        digests.cache().map(|cache| Self(cache, digests))
    }

    /// Intact cached stream of these bytes, and facts. Reads the bytes only if the files are
    /// unknown and the cache has a content of that size.
    pub fn stream(
        self,
        bytes: &Bytes,
        packing: Packing<'_>,
    ) -> io::Result<(Option<cache::CacheEntry>, ContentFacts)> {
        let fingerprint = fingerprint(bytes);
        let mut content = self.content_of(fingerprint);
        let remembered = content.is_some();
        content = content.or_else(|| self.1.computed(&fingerprint?));
        if content.is_none() && self.0.has_size(bytes.len()) {
            content = Some(ContentDigest(bytes.sha256()?));
        }
        Ok((
            content.and_then(|content| self.find_stream(content, bytes.len(), packing)),
            ContentFacts { fingerprint, content, remembered },
        ))
    }

    pub fn block(
        self,
        whole: &Bytes,
        offset: u64,
        packing: Packing<'_>,
        content: &[u8],
    ) -> (Option<cache::CacheEntry>, ContentFacts) {
        let content_len = content.len();
        let (fingerprint, content) =
            (fingerprint_of_block(whole, offset, content_len), ContentDigest(Sha256::of(content)));
        let facts = ContentFacts { fingerprint, content: Some(content), remembered: false };
        (self.find(content, content_len, packing), facts)
    }

    /// Works only for known files.
    pub(crate) fn unread_block(
        self,
        whole: &Bytes,
        offset: u64,
        len: usize,
        packing: Packing<'_>,
    ) -> Option<cache::CacheEntry> {
        self.find(self.content_of(fingerprint_of_block(whole, offset, len))?, len, packing)
    }

    pub(crate) fn content_of_block(
        self,
        whole: &Bytes,
        offset: u64,
        len: u64,
    ) -> Option<ContentDigest> {
        self.content_of(fingerprint_of_block(whole, offset, usize::try_from(len).ok()?))
    }

    fn content_of(self, fingerprint: Option<Fingerprint>) -> Option<ContentDigest> {
        self.0.content_of(&fingerprint?)
    }

    fn find_stream(
        self,
        content: ContentDigest,
        len: u64,
        packing: Packing<'_>,
    ) -> Option<cache::CacheEntry> {
        let entry = self.0.find(&key(content, packing))?;
        if entry.digest.sha256 != content.0 || entry.digest.size != len {
            self.0.reject(&entry);
            return None;
        }
        self.checked(entry, len)
    }

    fn find(
        self,
        content: ContentDigest,
        len: usize,
        packing: Packing<'_>,
    ) -> Option<cache::CacheEntry> {
        self.checked(self.0.find(&key(content, packing))?, len as u64)
    }

    fn checked(self, entry: cache::CacheEntry, len: u64) -> Option<cache::CacheEntry> {
        if entry.packed_len > len + len / 8 + SLACK {
            self.0.reject(&entry);
            return None;
        }
        Some(entry).filter(|entry| self.0.check(entry))
    }
}

pub(super) fn known_block(
    whole: &Bytes,
    offset: u64,
    len: usize,
    content: ContentDigest,
) -> ContentFacts {
    let fingerprint = fingerprint_of_block(whole, offset, len);
    ContentFacts { fingerprint, content: Some(content), remembered: false }
}

fn fingerprint_of_block(whole: &Bytes, offset: u64, len: usize) -> Option<Fingerprint> {
    let mut fingerprint = Fingerprinter::new();
    whole.identify(&mut fingerprint);
    fingerprint.bytes(&offset.to_le_bytes());
    fingerprint.bytes(&(len as u64).to_le_bytes());
    fingerprint.finish()
}

fn key(content: ContentDigest, packing: Packing<'_>) -> Key {
    Key::new(content, &settings(packing))
}

pub(super) fn recipe(content: ContentDigest, size: u64, packing: Packing<'_>) -> Recipe {
    Recipe { content, size, settings: settings(packing), effort: packing.effort(size) }
}

/// Everything that determines the packed bytes.
pub(super) fn settings(packing: Packing<'_>) -> String {
    match packing {
        Packing::Store | Packing::Cached(_) | Packing::Repeat(_) => "store".to_owned(),
        Packing::Deflate(level) => {
            format!("deflate {level:?} where it pays, {ENCODER}, blocks of {BLOCK}")
        }
        Packing::Xz(preset) => format!(
            "a block of xz -{}, {XZ_ENCODER}, blocks of {}",
            preset.number(),
            preset.block()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cache::{Archive, Cache, Stretch};
    use wheel::archive::checksum::{Checksum, Digest};
    use wheel::archive::deflate::{Level, Method};

    fn recalled(content: &[u8], digest: &Digest, packed: &[u8]) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path(), 1 << 20).unwrap();
        let packing = Packing::Deflate(Level::Default);
        let mut offer = cache.offer();
        let (len, crc) = (packed.len() as u64, Checksum::of(packed).value());
        let stretch = Stretch { offset: 0, len, crc, method: Method::Deflate };
        offer.stream(key(ContentDigest(Sha256::of(content)), packing), digest, stretch);
        let path = dir.path().join("archive");
        fs_err::write(&path, packed).unwrap();
        cache.finish(vec![Archive { path, offer }]);
        let cache = Cache::open(dir.path(), 1 << 20).unwrap();
        let bytes = Bytes::Memory(content.to_vec());
        CacheLookup(&cache, &Digests::default()).stream(&bytes, packing).unwrap().0.is_some()
    }

    #[test]
    fn refuses_a_stream_of_another_content() {
        let (content, other_content) = ([7; 1000], [8; 1000]);
        let packed = b"whatever".repeat(4);
        assert!(recalled(&content, &Digest::of(&content), &packed));
        assert!(!recalled(&content, &Digest::of(&other_content), &packed));
        let long = vec![1; 200_000];
        assert!(!recalled(&content, &Digest::of(&content), &long), "longer than packing makes it");
    }
}
