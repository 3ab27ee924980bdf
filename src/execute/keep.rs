//! Keeping in the cache what was packed.

use super::pack::{Entry, Packing};
use super::recall::{Known, key};
use crate::archive::checksum::Digest;
use crate::archive::deflate::Method;
use crate::archive::tarball::XzBlock;
use crate::cache::{Content, Writer};

/// Takes what one wheel's writer packs, where there is a cache.
#[derive(Debug)]
pub(super) struct Keeper(pub Option<Writer>);

impl Keeper {
    /// The stream of a member begins. What is stored is not kept: it is read as quickly from where it is.
    pub fn begin(&mut self, packing: Packing) {
        if let (Some(writer), Packing::Deflate(_)) = (&mut self.0, packing) {
            writer.begin(Method::Deflate);
        }
    }

    /// More of it.
    pub fn append(&mut self, packed: &[u8]) {
        if let Some(writer) = &mut self.0 {
            writer.append(packed);
        }
    }

    /// It is complete: the entry, whose content this is the digest of.
    pub fn end(&mut self, entry: &Entry<'_>, digest: &Digest) {
        let Some(writer) = &mut self.0 else { return };
        writer.end(key(Content(digest.sha256), entry.asked), digest);
        self.remember(&entry.known, Content(digest.sha256));
    }

    /// A block of an xz archive, `made` unless the cache has it.
    pub fn block(&mut self, made: Option<&XzBlock>, packing: Packing, news: &Known) {
        let (Some(writer), Some(content)) = (&mut self.0, news.content) else { return };
        if let Some(kept) = made.map(XzBlock::keep) {
            writer.begin(Method::Store);
            writer.append(&kept);
            writer.end(key(content, packing), &Digest::of(&kept));
        }
        self.remember(news, content);
    }

    /// What an entry's files come to, so that the next build need not read them.
    pub fn remember(&mut self, known: &Known, content: Content) {
        let (Some(writer), Some(fingerprint), false) = (&mut self.0, known.fingerprint, known.remembered) else { return };
        writer.memo(fingerprint, content);
    }
}
