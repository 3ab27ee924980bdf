use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

/// Packed stream in a cache. An xz stream counts as stored, but its key is of the uncompressed
/// content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEntry {
    /// Digest of the content.
    pub digest: Digest,
    /// Compression method.
    pub method: Method,
    /// Size of the packed stream.
    pub packed_len: u64,
    /// CRC-32 of the packed stream.
    pub packed_crc: u32,
    /// Index assigned by the store.
    pub slot: usize,
}
