use std::time::Duration;

use super::buffers;
use base::names::RelPath;
use cache;
use wheel::archive::deflate::{BLOCK, Level, Method};
use wheel::archive::tarball::Preset;

/// Picoseconds for a byte of [`Packing::weight`] 1: the default level packs 165 MB a second.
const UNIT: u64 = 750;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing<'a> {
    Store,
    Deflate(Level),
    /// Stored archive, since deflate could not shrink it further.
    Xz(Preset),
    Cached(cache::CacheEntry),
    Repeat(&'a RelPath),
}

impl Packing<'_> {
    pub fn method(self) -> Method {
        match self {
            Self::Store | Self::Xz(_) => Method::Store,
            Self::Deflate(_) | Self::Repeat(_) => Method::Deflate,
            Self::Cached(stream) => stream.method,
        }
    }

    pub(crate) fn is_compressed_now(self) -> bool {
        matches!(self, Self::Deflate(_) | Self::Xz(_))
    }

    /// Constants, so that the output does not depend on the machine.
    pub fn block(self) -> usize {
        match self {
            Self::Store | Self::Deflate(_) | Self::Cached(_) | Self::Repeat(_) => BLOCK,
            Self::Xz(preset) => preset.block(),
        }
    }

    /// Bytes of memory from packing to writing.
    pub fn memory(self, len: u64) -> u64 {
        match self {
            Self::Store | Self::Cached(_) | Self::Repeat(_) => buffers::room(len),
            Self::Deflate(_) => 2 * buffers::room(len),
            Self::Xz(preset) => 2 * len + preset.memory(),
        }
    }

    pub fn level(self) -> Option<Level> {
        if let Self::Deflate(level) = self { Some(level) } else { None }
    }

    pub(crate) fn most_memory(self) -> u64 {
        self.memory(self.block() as u64)
    }

    pub fn effort(self, len: u64) -> Duration {
        Duration::from_nanos(len.saturating_mul(self.weight()) * UNIT / 1000)
    }

    /// Relative time for a byte, measured on libraries.
    pub fn weight(self) -> u64 {
        match self {
            Self::Repeat(_) => 0,
            Self::Store | Self::Cached(_) => 1,
            Self::Deflate(Level::Fast) => 4,
            Self::Deflate(Level::Default) => 8,
            Self::Deflate(Level::Max) => 80,
            Self::Xz(preset) => 100 + 70 * u64::from(preset.number()),
        }
    }
}
