//! What a build could have from elsewhere.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::entry::CacheEntry;
use super::key::Content;

/// What packed bytes of a [`Awaited`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One deflate stream.
    Deflate,
    /// One block of an xz archive, with its padding.
    XzBlock,
}

/// A stream that a build is going to pack, unless it comes from elsewhere before a thread begins with it.
pub trait Awaited: Debug + Sync {
    /// Whatever beside the content has a say in the packed bytes, as [`super::Key::new`] takes it.
    fn settings(&self) -> &str;
    /// What the packed bytes are.
    fn form(&self) -> Form;
    /// How many bytes the content has.
    fn size(&self) -> u64;
    /// About how long one thread packs it.
    fn effort(&self) -> Duration;
    /// The hash of the content, for which it is read.
    ///
    /// # Errors
    /// When it cannot be read.
    fn content(&self) -> io::Result<Content>;
    /// Fills `buffer` with content from `offset` on.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Whether it still has to be packed or to come: no thread has begun to pack it, and it is not here yet.
    fn is_open(&self) -> bool;
    /// Asks threads not to begin with it for so long from now on: it is about to come.
    fn hold(&self, time: Duration);
    /// Nobody waits for it any more: threads may begin with it, whatever is said of holding it later.
    fn give_up(&self);
    /// It has come, and is in the store. Gives whether that was in time.
    fn arrive(&self, entry: CacheEntry) -> bool;
}

/// A source of streams beside the store: other machines.
pub trait Source: Debug + Sync {
    /// Whether streams of this size, which pack in this time, are worth asking for.
    fn wants(&self, size: u64, effort: Duration) -> bool;

    /// How long threads shall not begin with a stream of this size, which packs in this time, before anything is known.
    fn patience(&self, size: u64, effort: Duration) -> Duration;

    /// Brings what it can of `awaited`, which are in the order in which threads come to them. Ends when
    /// nothing is left, or soon after `over` is set.
    fn bring(&self, awaited: &[&dyn Awaited], over: &AtomicBool);
}
