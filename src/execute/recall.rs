//! What the cache has of what is to be packed.

use std::io;

use sha2::{Digest as _, Sha256};

use super::bytes::Bytes;
use super::pack::Packing;
use crate::archive::deflate::{BLOCK, ENCODER};
use crate::archive::tarball::{XZ_BLOCK, XZ_ENCODER};
use crate::cache::{self, Cache, Content, Fingerprint, Fingerprinter, Key};

/// What is known of bytes before they are packed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// Stands for their files, where these are old enough to be told from others by it.
    pub fingerprint: Option<Fingerprint>,
    /// Their hash, where it is known.
    pub content: Option<Content>,
    /// Whether the cache knows that the fingerprint stands for the content.
    pub remembered: bool,
}

/// Looks for packed bytes in a cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recall<'c>(pub &'c Cache);

impl Recall<'_> {
    /// The stream that packing these bytes would make, if the cache has it whole, and what is known of the bytes.
    ///
    /// They are read only where the cache cannot know them otherwise, and has something that they could be.
    pub fn stream(self, bytes: &Bytes, packing: Packing) -> io::Result<(Option<cache::Entry>, Known)> {
        let mut fingerprint = Fingerprinter::new();
        bytes.identify(&mut fingerprint);
        let known = self.known(fingerprint, bytes.len(), || sha256(bytes))?;
        Ok((known.content.and_then(|content| self.find(content, &settings(packing))), known))
    }

    /// The same for a block of a larger whole, which `content` are the bytes of if they have been read.
    pub fn block(self, whole: &Bytes, offset: u64, packing: Packing, content: &[u8]) -> (Option<cache::Entry>, Known) {
        let content = Some(Content(crate::archive::checksum::Sha256::of(content)));
        let mut fingerprint = Fingerprinter::new();
        whole.identify(&mut fingerprint);
        fingerprint.bytes(&offset.to_le_bytes());
        let known = Known { fingerprint: fingerprint.finish(), content, remembered: false };
        (content.and_then(|content| self.find(content, &settings(packing))), known)
    }

    /// As [`Recall::block`], for a block whose files are known, so that it need not be read.
    pub fn unread_block(self, whole: &Bytes, offset: u64, packing: Packing) -> Option<cache::Entry> {
        let mut fingerprint = Fingerprinter::new();
        whole.identify(&mut fingerprint);
        fingerprint.bytes(&offset.to_le_bytes());
        let content = self.0.content_of(&fingerprint.finish()?)?;
        self.find(content, &settings(packing))
    }

    fn known(self, fingerprint: Fingerprinter, len: u64, hash: impl FnOnce() -> io::Result<Content>) -> io::Result<Known> {
        let fingerprint = fingerprint.finish();
        if let Some(content) = fingerprint.and_then(|fingerprint| self.0.content_of(&fingerprint)) {
            return Ok(Known { fingerprint, content: Some(content), remembered: true });
        }
        let content = if self.0.has_size(len) { Some(hash()?) } else { None };
        Ok(Known { fingerprint, content, remembered: false })
    }

    fn find(self, content: Content, settings: &str) -> Option<cache::Entry> {
        self.0.find(&Key::new(content, settings)).copied().filter(|entry| self.0.check(entry))
    }
}

/// The key of what packing a content makes.
pub(super) fn key(content: Content, packing: Packing) -> Key {
    Key::new(content, &settings(packing))
}

/// Everything that decides about the packed bytes, besides the content.
fn settings(packing: Packing) -> String {
    match packing {
        Packing::Store | Packing::Cached(_) => "store".to_owned(),
        Packing::Deflate(level) => format!("deflate {level:?} where it pays, {ENCODER}, blocks of {BLOCK}"),
        Packing::Xz(preset) => format!("a block of xz -{}, {XZ_ENCODER}, blocks of {XZ_BLOCK}", preset.number()),
    }
}

/// How much of a file is read at once.
const PIECE: usize = 1 << 20;

fn sha256(bytes: &Bytes) -> io::Result<Content> {
    let (mut hasher, mut buffer, mut offset) = (Sha256::new(), vec![0; PIECE], 0);
    while offset < bytes.len() {
        let len = usize::try_from(bytes.len() - offset).unwrap_or(PIECE).min(PIECE);
        bytes.read_exact_at(offset, &mut buffer[..len])?;
        hasher.update(&buffer[..len]);
        offset += len as u64;
    }
    let hash: [u8; 32] = hasher.finalize().into();
    Ok(Content(hash.into()))
}
