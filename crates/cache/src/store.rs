use std::cell::RefCell;
use std::fmt::Debug;
use std::io;

use super::awaited::Source;
use super::entry::CacheEntry;
use super::key::{ContentDigest, Fingerprint, Key};
use super::offer::{Archive, Offer};
use super::summary::Summary;
use wheel::archive::checksum::Checksum;

pub(super) const PIECE: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Packed streams of earlier builds, shared by threads. A failure is a miss and a warning in the
/// [`Summary`].
pub trait Store: Debug + Send + Sync {
    /// See [`super::Cache::content_of`].
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<ContentDigest>;

    /// True if a content can have this size.
    fn has_size(&self, size: u64) -> bool;

    /// The stream of this key, unchecked before [`Store::check`].
    fn find(&self, key: &Key) -> Option<CacheEntry>;

    /// Marks a stream as damaged, which counts as a miss.
    fn reject(&self, entry: &CacheEntry);

    /// `offset` is relative to the stream's start.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::UnexpectedEof`] beyond the stream.
    fn read_exact_at(&self, entry: &CacheEntry, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Announces a read, at which errors appear.
    fn read_ahead(&self, _entry: &CacheEntry, _offset: u64, _len: u64) {}

    /// Compares a stream with its CRC-32, and rejects it if they differ.
    fn check(&self, entry: &CacheEntry) -> bool {
        let whole = checksum(self, entry).is_ok_and(|crc| crc.value() == entry.packed_crc);
        if !whole {
            self.reject(entry);
        }
        whole
    }

    /// Supplier of missing streams.
    fn source(&self) -> Option<&dyn Source> {
        None
    }

    /// Empty offer for one archive.
    fn offer(&self) -> Offer;

    /// Keeps the new streams of a complete archive, whatever happens to the build.
    fn keep(&self, archive: &mut Archive);

    /// Keeps the streams that `archives` offer. Entries are invalid afterwards.
    fn finish(self: Box<Self>, archives: Vec<Archive>) -> Summary;
}

fn checksum(store: &(impl Store + ?Sized), entry: &CacheEntry) -> io::Result<Checksum> {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(PIECE, 0);
        let (mut crc, mut offset) = (Checksum::default(), 0);
        while offset < entry.packed_len {
            let remaining = usize::try_from(entry.packed_len - offset).unwrap_or(PIECE);
            let piece = &mut buffer[..remaining.min(PIECE)];
            store.read_exact_at(entry, offset, piece)?;
            crc.update(piece);
            offset += piece.len() as u64;
        }
        Ok(crc)
    })
}
