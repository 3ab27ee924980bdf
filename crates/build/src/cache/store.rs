//! What a build asks of a cache, wherever the cache keeps its streams.

use std::cell::RefCell;
use std::fmt::Debug;
use std::io;

use super::awaited::Source;
use super::entry::CacheEntry;
use super::key::{Content, Fingerprint, Key};
use super::offer::{Archive, Offer};
use super::summary::Summary;
use wheel::archive::checksum::Checksum;

/// How much is read at a time.
pub(super) const PIECE: usize = 1 << 20;

thread_local! {
    /// What packed bytes are read into, by each thread.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Packed streams of earlier builds. Any number of threads use it during a build.
///
/// A build finds streams by their key, reads what it finds, and offers what it packed. None of it is a
/// reason to stop a build: what a store cannot do is a miss, and in the end a warning of the [`Summary`].
pub trait Store: Debug + Send + Sync {
    /// What the files of this fingerprint and their edit come to, if that was seen before.
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<Content>;

    /// Whether a stream's content can have this size. If none can, there is no need to know a
    /// content's hash before it is packed.
    fn has_size(&self, size: u64) -> bool;

    /// The stream of this key. Nothing is said of its bytes before [`Store::check`].
    fn find(&self, key: &Key) -> Option<CacheEntry>;

    /// Says that a stream is not what it should be: it is not found again, and counts as a miss.
    fn reject(&self, entry: &CacheEntry);

    /// Fills `buffer` with the packed bytes from `offset` on, counted from the stream's start.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when the stream has fewer, and what reading gives.
    fn read_exact_at(&self, entry: &CacheEntry, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Says that packed bytes will be read soon. What goes wrong shows when they are.
    fn read_ahead(&self, _entry: &CacheEntry, _offset: u64, _len: u64) {}

    /// Reads a stream and compares its CRC-32. When it is not what was written, it is rejected.
    fn check(&self, entry: &CacheEntry) -> bool {
        let whole = checksum(self, entry).is_ok_and(|crc| crc.value() == entry.packed_crc);
        if !whole {
            self.reject(entry);
        }
        whole
    }

    /// Where streams come from that the store does not have yet; none by itself.
    fn source(&self) -> Option<&dyn Source> {
        None
    }

    /// What an archive that is written offers to be kept; one for each.
    fn offer(&self) -> Offer;

    /// Ends a build: keeps what `archives` offer. Entries cannot be used any more; their streams are
    /// copied by now.
    fn finish(self: Box<Self>, archives: Vec<Archive>) -> Summary;
}

fn checksum(store: &(impl Store + ?Sized), entry: &CacheEntry) -> io::Result<Checksum> {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(PIECE, 0);
        let (mut crc, mut offset) = (Checksum::default(), 0);
        while offset < entry.packed_len {
            let left = usize::try_from(entry.packed_len - offset).unwrap_or(PIECE);
            let piece = &mut buffer[..left.min(PIECE)];
            store.read_exact_at(entry, offset, piece)?;
            crc.update(piece);
            offset += piece.len() as u64;
        }
        Ok(crc)
    })
}
