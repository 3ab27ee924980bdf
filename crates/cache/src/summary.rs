use super::error::CacheError;
use super::shared::Shared;

/// Use of a cache.
#[derive(Debug, Default)]
pub struct Summary {
    /// Lookups that found a stream.
    pub hits: u64,
    /// Their packed bytes.
    pub hit_bytes: u64,
    /// Lookups without a stream.
    pub misses: u64,
    /// Contents known by fingerprint.
    pub remembered: u64,
    /// New streams.
    pub added: u64,
    /// Their packed bytes.
    pub added_bytes: u64,
    /// Damaged segments and streams.
    pub damaged: u64,
    /// Pruned segments.
    pub pruned: usize,
    /// Bytes; `None` while another process tidies.
    pub bytes: Option<u64>,
    /// Use of a shared cache.
    pub shared: Option<Shared>,
    /// Failed operations.
    pub warnings: Vec<CacheError>,
}
