//! How the bytes of a member come into a wheel.

use std::time::Duration;

use crate::cache;
use base::names::RelPath;
use wheel::archive::deflate::{BLOCK, Level, Method};
use wheel::archive::tarball::Preset;

/// One thread's time for a byte of [`Packing::weight`] 1, in picoseconds: the default level packs 165 MB a second.
const UNIT: u64 = 750;

/// How a member's bytes come into the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing<'a> {
    /// As they are.
    Store,
    /// Deflated.
    Deflate(Level),
    /// As an xz archive, which is stored: deflate would find nothing more.
    Xz(Preset),
    /// As the cache has them.
    Cached(cache::CacheEntry),
    /// As the member before it has them that has this name: its bytes are the same, and deflated.
    Repeat(&'a RelPath),
}

impl Packing<'_> {
    /// How the zip says it.
    pub fn method(self) -> Method {
        match self {
            Self::Store | Self::Xz(_) => Method::Store,
            Self::Deflate(_) | Self::Repeat(_) => Method::Deflate,
            Self::Cached(stream) => stream.method,
        }
    }

    /// Whether bytes become others in this build.
    pub fn is_compressed_now(self) -> bool {
        matches!(self, Self::Deflate(_) | Self::Xz(_))
    }

    /// Bytes of content in one block. Fixed, so that the output does not depend on the machine.
    pub fn block(self) -> usize {
        match self {
            Self::Store | Self::Deflate(_) | Self::Cached(_) | Self::Repeat(_) => BLOCK,
            Self::Xz(preset) => preset.block(),
        }
    }

    /// Bytes of memory that `len` bytes of content need while they are packed and until they are written.
    pub fn memory(self, len: u64) -> u64 {
        match self {
            Self::Store | Self::Cached(_) | Self::Repeat(_) => len,
            Self::Deflate(_) => 2 * len,
            Self::Xz(preset) => 2 * len + preset.memory(),
        }
    }

    /// Bytes of memory that its largest block needs.
    pub fn most_memory(self) -> u64 {
        self.memory(self.block() as u64)
    }

    /// About how long one thread takes for `len` bytes.
    pub fn effort(self, len: u64) -> Duration {
        Duration::from_nanos(len.saturating_mul(self.weight()) * UNIT / 1000)
    }

    /// About how long a byte takes, against the fastest deflate: measured on libraries.
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
