//! Reading, hashing and compressing members block by block, in parallel, and handing the
//! results on in order.

use std::io;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::bytes::Bytes;
use crate::archive::checksum::{Checksum, Digest};
use crate::archive::deflate::{BLOCK, Encoder, Level, Method};
use crate::event::{Event, Reporter};
use crate::names::RelPath;

/// A member to pack: its name in the wheel, its mode and its bytes.
pub(super) struct Entry<'a> {
    pub name: &'a RelPath,
    pub executable: bool,
    pub bytes: &'a Bytes,
    pub method: Method,
}

/// Who takes packed members: `begin`, then `write` any number of times, then `end`, for each in turn.
pub(super) trait Sink: Send {
    /// What can go wrong.
    type Error: Send;

    /// A member begins.
    fn begin(&mut self, entry: &Entry<'_>) -> Result<(), Self::Error>;
    /// Some of its bytes, packed.
    fn write(&mut self, packed: &[u8]) -> Result<(), Self::Error>;
    /// It is complete.
    fn end(&mut self, digest: &Digest) -> Result<(), Self::Error>;
}

/// Why packing stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackError<E> {
    #[error("cannot read `{name}`: {source}")]
    Read { name: RelPath, source: io::Error },
    #[error(transparent)]
    Sink(E),
}

/// Packs `entries` into `sink`, in their order, on the current rayon pool.
///
/// Blocks are cut by size alone, so the result does not depend on the number of threads. At
/// most two windows of blocks are in memory: one being packed, one being written.
pub(super) fn pack<S: Sink>(entries: &[Entry<'_>], sink: &mut S, reporter: &dyn Reporter) -> Result<(), PackError<S::Error>> {
    let mut blocks = entries.iter().flat_map(blocks_of);
    let mut joiner = Joiner { sink, digest: None };
    let mut packed = Vec::new();
    loop {
        let window = next_window(&mut blocks);
        if window.is_empty() && packed.is_empty() {
            return Ok(());
        }
        let finished = std::mem::take(&mut packed);
        let encoder = || Encoder::new(Level::Default);
        let pack_all = || window.par_iter().map_init(encoder, |encoder, block| block.pack(encoder, reporter)).collect::<Vec<_>>();
        let (written, results) = rayon::join(|| finished.iter().try_for_each(|p| joiner.take(p)), pack_all);
        written.map_err(PackError::Sink)?;
        for result in results {
            packed.push(result?);
        }
    }
}

/// One cut of an entry's bytes.
struct Block<'a> {
    entry: &'a Entry<'a>,
    offset: u64,
    len: usize,
}

fn blocks_of<'a>(entry: &'a Entry<'a>) -> impl Iterator<Item = Block<'a>> {
    let (total, step) = (entry.bytes.len(), BLOCK as u64);
    let count = total.div_ceil(step).max(1);
    (0..count).map(move |index| {
        let offset = index * step;
        let len = usize::try_from((total - offset).min(step)).unwrap_or(BLOCK);
        Block { entry, offset, len }
    })
}

/// How many bytes of content are in one window for each thread.
const WINDOW_PER_THREAD: usize = 8 * BLOCK;
/// How many blocks are in one window for each thread, however small they are.
const BLOCKS_PER_THREAD: usize = 128;

fn next_window<'a>(blocks: &mut impl Iterator<Item = Block<'a>>) -> Vec<Block<'a>> {
    let threads = rayon::current_num_threads();
    let (mut window, mut bytes) = (Vec::new(), 0);
    while bytes < WINDOW_PER_THREAD * threads && window.len() < BLOCKS_PER_THREAD * threads {
        let Some(block) = blocks.next() else { break };
        bytes += block.len;
        window.push(block);
    }
    window
}

/// A block, packed.
struct Packed<'a> {
    entry: &'a Entry<'a>,
    first: bool,
    last: bool,
    bytes: Vec<u8>,
    /// The content, where the hash over the whole member still has to see it.
    content: Option<Vec<u8>>,
    checksum: Checksum,
    /// The hash, where this block is the whole member.
    sha256: Option<[u8; 32]>,
    len: u64,
}

impl<'a> Block<'a> {
    fn pack<E>(&self, encoder: &mut Encoder, reporter: &dyn Reporter) -> Result<Packed<'a>, PackError<E>> {
        let mut content = vec![0; self.len];
        let read = self.entry.bytes.read_exact_at(self.offset, &mut content);
        read.map_err(|source| PackError::Read { name: self.entry.name.clone(), source })?;
        let (first, last) = (self.offset == 0, self.offset + self.len as u64 == self.entry.bytes.len());
        let checksum = Checksum::of(&content);
        let whole = first && last;
        let sha256 = whole.then(|| Sha256::digest(&content).into());
        let packed = (self.entry.method == Method::Deflate).then(|| encoder.block(&content, last));
        reporter.report(Event::Progress { bytes: self.len as u64 });
        let (bytes, content) = match packed {
            Some(packed) => (packed, (!whole).then_some(content)),
            None => (content, None),
        };
        Ok(Packed { entry: self.entry, first, last, bytes, content, checksum, sha256, len: self.len as u64 })
    }
}

/// Puts packed blocks together again, in order.
struct Joiner<'s, S> {
    sink: &'s mut S,
    digest: Option<Running>,
}

/// What is known of the member that is being joined.
#[derive(Default)]
struct Running {
    checksum: Checksum,
    sha256: Sha256,
    size: u64,
}

impl<S: Sink> Joiner<'_, S> {
    fn take(&mut self, packed: &Packed<'_>) -> Result<(), S::Error> {
        if packed.first {
            self.sink.begin(packed.entry)?;
        }
        self.sink.write(&packed.bytes)?;
        if let Some(sha256) = packed.sha256 {
            let digest = Digest { crc: packed.checksum.value(), sha256: sha256.into(), size: packed.len };
            return self.sink.end(&digest);
        }
        let running = self.digest.get_or_insert_default();
        running.checksum.append(&packed.checksum);
        running.sha256.update(packed.content.as_deref().unwrap_or(&packed.bytes));
        running.size += packed.len;
        if packed.last {
            let running = self.digest.take().unwrap_or_default();
            let sha256: [u8; 32] = running.sha256.finalize().into();
            self.sink.end(&Digest { crc: running.checksum.value(), sha256: sha256.into(), size: running.size })?;
        }
        Ok(())
    }
}
