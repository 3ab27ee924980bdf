//! A stream that a cache has.

use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

/// A packed stream that a cache has.
///
/// What xz makes is a stored stream: its content is the xz file itself, which an archive holds
/// as a stored member. Its key is of what was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEntry {
    /// What an archive says of the content.
    pub digest: Digest,
    /// How the content is packed.
    pub method: Method,
    /// How many bytes the packed stream has.
    pub packed_len: u64,
    /// The CRC-32 of the packed stream.
    pub packed_crc: u32,
    /// The store's own number of the stream.
    pub slot: usize,
}
