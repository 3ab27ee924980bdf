use std::fmt::Debug;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::entry::CacheEntry;
use super::key::ContentDigest;

/// Form of the packed bytes of an [`Awaited`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One deflate stream.
    Deflate,
    /// One block of an xz archive, with its padding.
    XzBlock,
}

/// Stream that this build packs, unless another machine delivers it first.
pub trait Awaited: Debug + Sync {
    /// Settings of [`super::Key::new`].
    fn settings(&self) -> &str;
    /// Form of the packed bytes.
    fn form(&self) -> Form;
    /// Size of the content in bytes.
    fn size(&self) -> u64;
    /// Packing time on one thread, estimated.
    fn effort(&self) -> Duration;
    /// Reads and hashes the content.
    fn content(&self) -> io::Result<ContentDigest>;
    /// Fills `buffer` with content from `offset` on.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// True if the stream is neither delivered nor started.
    fn is_open(&self) -> bool;
    /// Keeps threads from starting on the stream for `time`.
    fn hold(&self, time: Duration);
    /// Ends all holds, also later ones.
    fn give_up(&self);
    /// Reports arrival in the store; returns true if in time.
    fn arrive(&self, entry: CacheEntry) -> bool;
}

/// Supplier of streams that the store lacks: other machines.
pub trait Source: Debug + Sync {
    /// True if a stream is worth a request.
    fn wants(&self, size: u64, effort: Duration) -> bool;

    /// Initial hold of a stream.
    fn patience(&self, size: u64, effort: Duration) -> Duration;

    /// Delivers streams of `awaited`, in packing order. Returns after the last, or soon after
    /// `over` is set.
    fn bring(&self, awaited: &[&dyn Awaited], over: &AtomicBool);
}
