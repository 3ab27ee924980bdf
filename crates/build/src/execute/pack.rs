use std::io;

use super::awaited::Awaited;
use super::buffers::Buffers;
use super::bytes::Bytes;
use super::cache_lookup::{CacheLookup, ContentFacts, known_block};
use super::packing::Packing;
use super::timings::{Recorder, Subject};
use base::event::WorkKind;
use base::hash::Sha256;
use base::names::RelPath;
use cache;
use wheel::archive::checksum::Checksum;
use wheel::archive::deflate::{Encoder, Level};
use wheel::archive::tarball::{Preset, XzBlock, XzError, xz_block};

#[derive(Debug)]
pub(super) struct Packable<'a> {
    pub name: &'a RelPath,
    pub wheel: &'a str,
    pub executable: bool,
    pub bytes: &'a Bytes,
    /// Packing unless a stream is delivered: see [`Packable::packing`].
    pub packing: Packing<'a>,
    /// Packing according to the plan, which determines the cache key.
    pub planned: Packing<'a>,
    pub facts: ContentFacts,
    /// One stream, or one for each xz block.
    pub deliveries: Vec<Awaited<'a>>,
}

impl<'a> Packable<'a> {
    pub fn new(
        name: &'a RelPath,
        executable: bool,
        bytes: &'a Bytes,
        packing: Packing<'a>,
    ) -> Self {
        let (wheel, facts) = ("", ContentFacts::default());
        let deliveries = Vec::new();
        Self { name, wheel, executable, bytes, packing, planned: packing, facts, deliveries }
    }

    /// A delivered stream replaces the packing, until the first block is taken.
    pub fn packing(&self) -> Packing<'a> {
        match (self.packing, self.deliveries.first()) {
            (Packing::Deflate(_), Some(delivery)) => {
                delivery.stream().map_or(self.packing, Packing::Cached)
            }
            _ => self.packing,
        }
    }

    pub fn subject(&self) -> Subject<'a> {
        Subject { package: self.wheel, file: self.name.as_str() }
    }

    /// Bytes of all blocks, from content or cache; 0 if repeated.
    pub fn extent(&self) -> u64 {
        match self.packing() {
            Packing::Repeat(_) => 0,
            Packing::Cached(stream) => stream.packed_len,
            Packing::Store | Packing::Deflate(_) | Packing::Xz(_) => self.bytes.len(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PackError {
    #[error("cannot read `{name}`")]
    Read { name: RelPath, source: io::Error },
    #[error("cannot compress `{name}`")]
    Compress { name: RelPath, source: XzError },
    #[error("cannot read `{name}` from the cache")]
    Cache { name: RelPath, source: io::Error },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub entry: &'a Packable<'a>,
    pub offset: u64,
    pub len: usize,
}

impl Block<'_> {
    pub fn first(&self) -> bool {
        self.offset == 0
    }

    pub fn last(&self) -> bool {
        self.offset + self.len as u64 == self.entry.extent()
    }

    /// A cached stream counts with its first block.
    pub fn progress(&self) -> u64 {
        match self.entry.packing() {
            Packing::Repeat(_) => self.entry.bytes.len(),
            Packing::Cached(_) if self.first() => self.entry.bytes.len(),
            Packing::Cached(_) => 0,
            Packing::Store | Packing::Deflate(_) | Packing::Xz(_) => self.len as u64,
        }
    }

    fn delivery(&self) -> Option<&Awaited<'_>> {
        match self.entry.packing {
            Packing::Xz(preset) => {
                let number = self.offset / preset.block() as u64;
                self.entry.deliveries.get(usize::try_from(number).ok()?)
            }
            _ if self.first() => self.entry.deliveries.first(),
            _ => None,
        }
    }

    fn came(&self) -> Option<(cache::ContentDigest, cache::CacheEntry)> {
        let delivery = self.delivery()?;
        Some((delivery.known_content()?, delivery.stream()?))
    }

    pub(crate) fn is_held(&self) -> bool {
        self.delivery().is_some_and(Awaited::is_held)
    }

    /// Starts the block and rejects later deliveries. An earlier one can change the packing.
    pub fn close(&self) {
        if let Some(delivery) = self.delivery() {
            delivery.close();
        }
    }

    /// Bytes of memory from packing to writing.
    pub fn memory(&self) -> u64 {
        self.entry.packing().memory(self.len as u64)
    }
}

/// An empty entry has one empty block.
#[derive(Debug, Clone)]
pub(super) struct Blocks<'a> {
    entries: std::slice::Iter<'a, Packable<'a>>,
    current: Option<(&'a Packable<'a>, u64)>,
}

impl<'a> Blocks<'a> {
    pub fn new(entries: &'a [Packable<'a>]) -> Self {
        let mut entries = entries.iter();
        let current = entries.next().map(|entry| (entry, 0));
        Self { entries, current }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        let (entry, offset) = self.current?;
        let (total, step) = (entry.extent(), entry.packing().block());
        // A delivery can shorten the entry during read-ahead.
        let offset = offset.min(total);
        let len = usize::try_from(total - offset).unwrap_or(step).min(step);
        let after = offset + len as u64;
        self.current = if after < total {
            Some((entry, after))
        } else {
            self.entries.next().map(|entry| (entry, 0))
        };
        Some(Block { entry, offset, len })
    }
}

#[derive(Debug)]
pub(super) struct Packed<'a> {
    pub block: Block<'a>,
    pub body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Bytes {
        packed: Vec<u8>,
        /// Content that the hash of the whole member still needs.
        content: Option<Vec<u8>>,
        checksum: Checksum,
        sha256: Option<Sha256>,
    },
    /// `news` are facts that the cache lacks; the cache has a block that `is_cached`.
    Xz {
        packed: XzBlock,
        news: Option<ContentFacts>,
        is_cached: bool,
    },
    Cached(Vec<u8>),
    Repeat,
}

pub(super) struct Packer<'a> {
    encoders: Vec<(Level, Encoder)>,
    lookup: Option<CacheLookup<'a>>,
    buffers: &'a Buffers,
    recorder: &'a Recorder<'a>,
}

impl<'a> Packer<'a> {
    pub fn new(
        lookup: Option<CacheLookup<'a>>,
        buffers: &'a Buffers,
        recorder: &'a Recorder<'a>,
    ) -> Self {
        Self { encoders: Vec::new(), lookup, buffers, recorder }
    }

    pub fn read_ahead(&self, blocks: &[Block<'_>]) {
        for block in blocks {
            self.recorder.time(WorkKind::Read, 0, block.entry.subject(), || self.ask_for(block));
        }
    }

    fn ask_for(&self, block: &Block<'_>) {
        let (entry, len) = (block.entry, block.len as u64);
        match (entry.packing(), self.lookup) {
            (Packing::Cached(stream), Some(CacheLookup(cache, _))) => {
                cache.read_ahead(&stream, block.offset, len);
            }
            (Packing::Repeat(_), _) => {}
            _ => entry.bytes.read_ahead(block.offset, len),
        }
    }

    pub fn pack<'e>(&mut self, block: Block<'e>) -> Result<Packed<'e>, PackError> {
        let body = match block.entry.packing() {
            Packing::Store => {
                let content = self.read(block)?;
                self.checked(block, content, None)
            }
            Packing::Deflate(level) => {
                let content = self.read(block)?;
                let packed = self.deflate(level, block, &content);
                self.checked(block, content, Some(packed))
            }
            Packing::Xz(preset) => self.xz(block, preset)?,
            Packing::Cached(stream) => {
                Body::Cached(self.read_cached(block, &stream, block.offset, block.len)?)
            }
            Packing::Repeat(_) => Body::Repeat,
        };
        Ok(Packed { block, body })
    }

    fn read(&self, block: Block<'_>) -> Result<Vec<u8>, PackError> {
        let mut content = self.buffers.take(block.len);
        let read =
            self.recorder.time(WorkKind::Read, block.len as u64, block.entry.subject(), || {
                block.entry.bytes.read_exact_at(block.offset, &mut content)
            });
        read.map_err(|source| PackError::Read { name: block.entry.name.clone(), source })?;
        Ok(content)
    }

    fn read_cached(
        &self,
        block: Block<'_>,
        stream: &cache::CacheEntry,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, PackError> {
        let Some(CacheLookup(cache, _)) = self.lookup else { return Ok(Vec::new()) };
        let mut packed = self.buffers.take(len);
        let read = self.recorder.time(WorkKind::Read, len as u64, block.entry.subject(), || {
            cache.read_exact_at(stream, offset, &mut packed)
        });
        read.map_err(|source| PackError::Cache { name: block.entry.name.clone(), source })?;
        Ok(packed)
    }

    fn xz(&mut self, block: Block<'_>, preset: Preset) -> Result<Body, PackError> {
        let entry = block.entry;
        if let Some((content, stream)) = block.came() {
            let news = known_block(entry.bytes, block.offset, block.len, content);
            if let Some(packed) = self.read_cached_xz(block, &stream)? {
                return Ok(Body::Xz { packed, news: Some(news), is_cached: true });
            }
        }
        let unread = self.lookup.and_then(|lookup| {
            lookup.unread_block(entry.bytes, block.offset, block.len, entry.packing)
        });
        if let Some(packed) =
            unread.map(|stream| self.read_cached_xz(block, &stream)).transpose()?.flatten()
        {
            return Ok(Body::Xz { packed, news: None, is_cached: true });
        }
        let content = self.read(block)?;
        let result = self.lookup.map(|lookup| {
            self.recorder.time(WorkKind::Hash, block.len as u64, entry.subject(), || {
                lookup.block(entry.bytes, block.offset, entry.packing, &content)
            })
        });
        let (stream, news) = result.map_or((None, None), |(stream, facts)| (stream, Some(facts)));
        if let Some(packed) =
            stream.map(|stream| self.read_cached_xz(block, &stream)).transpose()?.flatten()
        {
            return Ok(Body::Xz { packed, news, is_cached: true });
        }
        let packed = self
            .recorder
            .time(WorkKind::Xz, block.len as u64, entry.subject(), || xz_block(&content, preset));
        self.buffers.give(content);
        Ok(Body::Xz {
            packed: packed
                .map_err(|source| PackError::Compress { name: entry.name.clone(), source })?,
            news,
            is_cached: false,
        })
    }

    fn read_cached_xz(
        &self,
        block: Block<'_>,
        stream: &cache::CacheEntry,
    ) -> Result<Option<XzBlock>, PackError> {
        let len = usize::try_from(stream.packed_len).unwrap_or_default();
        Ok(XzBlock::from_bytes(self.read_cached(block, stream, 0, len)?))
    }

    fn deflate(&mut self, level: Level, block: Block<'_>, content: &[u8]) -> Vec<u8> {
        let index =
            self.encoders.iter().position(|(existing, _)| *existing == level).unwrap_or_else(
                || {
                    self.encoders.push((level, Encoder::new(level)));
                    self.encoders.len() - 1
                },
            );
        let (encoder, mut packed) = (&mut self.encoders[index].1, self.buffers.empty(block.len));
        self.recorder.time(WorkKind::Deflate, block.len as u64, block.entry.subject(), || {
            encoder.append_block(content, block.last(), &mut packed);
        });
        packed
    }

    /// `content` is also the output if `packed` is `None`.
    fn checked(&self, block: Block<'_>, content: Vec<u8>, packed: Option<Vec<u8>>) -> Body {
        let whole = block.first() && block.last();
        let (checksum, sha256) =
            self.recorder.time(WorkKind::Hash, block.len as u64, block.entry.subject(), || {
                (Checksum::of(&content), whole.then(|| Sha256::of(&content)))
            });
        let (packed, content) = match packed {
            Some(packed) if whole => {
                self.buffers.give(content);
                (packed, None)
            }
            Some(packed) => (packed, Some(content)),
            None => (content, None),
        };
        Body::Bytes { packed, content, checksum, sha256 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel::archive::deflate::BLOCK;

    #[test]
    fn cuts_blocks_by_size_alone() {
        let name: RelPath = "a".parse().unwrap();
        let contents = [0, 1, BLOCK, 2 * BLOCK + 5].map(|size| Bytes::Memory(vec![0; size]));
        let entry = |bytes| Packable::new(&name, false, bytes, Packing::Store);
        let entries: Vec<Packable<'_>> = contents.iter().map(entry).collect();
        let cuts: Vec<_> =
            Blocks::new(&entries).map(|b| (b.offset, b.len, b.first(), b.last())).collect();
        let step = BLOCK as u64;
        assert_eq!(
            cuts,
            [
                (0, 0, true, true),
                (0, 1, true, true),
                (0, BLOCK, true, true),
                (0, BLOCK, true, false),
                (step, BLOCK, false, false),
                (2 * step, 5, false, true)
            ]
        );
        assert!(Blocks::new(&[]).next().is_none());
    }
}
