//! Telling the cache what was packed, and where it lies.

use super::cache_lookup::{Known, recipe};
use super::pack::Packable;
use super::packing::Packing;
use crate::cache::{Content, Offer, Stretch};
use wheel::archive::checksum::{Checksum, Digest};
use wheel::archive::deflate::Method;
use wheel::archive::tarball::XzBlock;

/// Takes note of what one wheel's writer packs, where there is a cache.
#[derive(Debug)]
pub(super) struct CacheRecorder {
    offer: Option<Offer>,
    /// The member of which more bytes come.
    stream: Option<Stream>,
}

/// A deflate stream in the wheel.
#[derive(Debug)]
struct Stream {
    offset: u64,
    len: u64,
    crc: Checksum,
}

impl CacheRecorder {
    /// One for this offer; without it nothing is kept.
    pub fn new(offer: Option<Offer>) -> Self {
        Self { offer, stream: None }
    }

    /// What the wheel offers.
    pub fn into_offer(self) -> Option<Offer> {
        self.offer
    }

    /// The bytes of a member begin, at `offset` in the wheel. What is stored is not kept: it is read as
    /// quickly from where it is.
    pub fn begin(&mut self, packing: Packing<'_>, offset: u64) {
        if let (Some(_), Packing::Deflate(_)) = (&self.offer, packing) {
            self.stream = Some(Stream { offset, len: 0, crc: Checksum::default() });
        }
    }

    /// More of them.
    pub fn append(&mut self, packed: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.len += packed.len() as u64;
            stream.crc.update(packed);
        }
    }

    /// They are complete: the entry, whose content this is the digest of.
    pub fn end(&mut self, entry: &Packable<'_>, digest: &Digest) {
        let Some(offer) = &mut self.offer else { return };
        if let Some(Stream { offset, len, crc }) = self.stream.take() {
            let packed = Stretch { offset, len, crc: crc.value(), method: Method::Deflate };
            let recipe = recipe(Content(digest.sha256), digest.size, entry.asked);
            offer.made(recipe, digest, packed);
        }
        self.remember(&entry.known, Content(digest.sha256));
    }

    /// A block of an xz archive, `made` at this offset unless the cache has it.
    pub fn block(&mut self, made: Option<(&XzBlock, u64)>, packing: Packing<'_>, news: &Known) {
        let (Some(offer), Some(content)) = (&mut self.offer, news.content) else { return };
        if let Some((block, offset)) = made {
            let digest = Digest::of(&block.bytes);
            let packed =
                Stretch { offset, len: digest.size, crc: digest.crc, method: Method::Store };
            offer.made(recipe(content, block.content_len(), packing), &digest, packed);
        }
        self.remember(news, content);
    }

    /// What an entry's files come to, so that the next build need not read them.
    pub fn remember(&mut self, known: &Known, content: Content) {
        let (Some(offer), Some(fingerprint), false) =
            (&mut self.offer, known.fingerprint, known.remembered)
        else {
            return;
        };
        offer.memo(fingerprint, content);
    }
}
