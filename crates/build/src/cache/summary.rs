use super::error::CacheError;
use super::shared::Shared;

/// Use of a cache in a build.
#[derive(Debug, Default)]
pub struct Summary {
    /// Lookups that found a stream.
    pub hits: u64,
    /// Packed bytes of the hits.
    pub hit_bytes: u64,
    /// Lookups without a stream, by key or by size.
    pub misses: u64,
    /// Contents known from the fingerprint of their files.
    pub remembered: u64,
    /// New streams.
    pub added: u64,
    /// Packed bytes of the new streams.
    pub added_bytes: u64,
    /// Damaged segments and streams.
    pub damaged: u64,
    /// Segments removed to keep the limit.
    pub pruned: usize,
    /// Bytes of the cache; `None` if another process is tidying it.
    pub bytes: Option<u64>,
    /// Use of a shared cache.
    pub shared: Option<Shared>,
    /// Failed operations, which do not affect the packages.
    pub warnings: Vec<CacheError>,
}
