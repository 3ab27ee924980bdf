use super::cache_lookup::{ContentFacts, recipe};
use super::pack::Packable;
use super::packing::Packing;
use cache::{ContentDigest, Offer, Stretch};
use wheel::archive::checksum::{Checksum, Digest};
use wheel::archive::deflate::Method;
use wheel::archive::tarball::XzBlock;

#[derive(Debug)]
pub(super) struct CacheRecorder {
    offer: Option<Offer>,
    stream: Option<Stream>,
}

#[derive(Debug)]
struct Stream {
    offset: u64,
    len: u64,
    crc: Checksum,
}

impl CacheRecorder {
    pub fn new(offer: Option<Offer>) -> Self {
        Self { offer, stream: None }
    }

    pub(crate) fn into_offer(self) -> Option<Offer> {
        self.offer
    }

    /// Stored members are not recorded: the artifact is as fast.
    pub fn begin(&mut self, packing: Packing<'_>, offset: u64) {
        if let (Some(_), Packing::Deflate(_)) = (&self.offer, packing) {
            self.stream = Some(Stream { offset, len: 0, crc: Checksum::default() });
        }
    }

    pub fn append(&mut self, packed: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.len += packed.len() as u64;
            stream.crc.update(packed);
        }
    }

    pub fn end(&mut self, entry: &Packable<'_>, digest: &Digest) {
        let Some(offer) = &mut self.offer else { return };
        if let Some(Stream { offset, len, crc }) = self.stream.take() {
            let packed = Stretch { offset, len, crc: crc.value(), method: Method::Deflate };
            let recipe = recipe(ContentDigest(digest.sha256), digest.size, entry.planned);
            offer.stream_of(recipe, digest, packed);
        }
        self.remember(&entry.facts, ContentDigest(digest.sha256));
    }

    /// `new_block` is `None` if the cache has the block.
    pub fn block(
        &mut self,
        new_block: Option<(&XzBlock, u64)>,
        packing: Packing<'_>,
        news: &ContentFacts,
    ) {
        let (Some(offer), Some(content)) = (&mut self.offer, news.content) else { return };
        if let Some((xz_block, offset)) = new_block {
            let digest = Digest::of(&xz_block.bytes);
            let packed =
                Stretch { offset, len: digest.size, crc: digest.crc, method: Method::Store };
            offer.stream_of(recipe(content, xz_block.content_len(), packing), &digest, packed);
        }
        self.remember(news, content);
    }

    pub fn remember(&mut self, facts: &ContentFacts, content: ContentDigest) {
        let (Some(offer), Some(fingerprint), false) =
            (&mut self.offer, facts.fingerprint, facts.remembered)
        else {
            return;
        };
        offer.memo(fingerprint, content);
    }
}
