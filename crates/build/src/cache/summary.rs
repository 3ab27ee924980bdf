//! What a cache did for a build.

use super::error::CacheError;
use super::shared::Shared;

/// What a cache did for a build.
#[derive(Debug, Default)]
pub struct Summary {
    /// How often a stream was found that was asked for.
    pub hits: u64,
    /// The packed bytes of those.
    pub hit_bytes: u64,
    /// How often no stream was found, by its key or by its size.
    pub misses: u64,
    /// How many contents were known by their files' fingerprint.
    pub remembered: u64,
    /// How many new streams there are.
    pub added: u64,
    /// The packed bytes of those.
    pub added_bytes: u64,
    /// How many segments and streams were damaged.
    pub damaged: u64,
    /// How many segments were removed to keep the limit.
    pub pruned: usize,
    /// How many bytes the cache takes now; none when another process is tidying it up.
    pub bytes: Option<u64>,
    /// What a cache on other machines did, where one was asked.
    pub shared: Option<Shared>,
    /// What could not be done. None of it concerns what was built.
    pub warnings: Vec<CacheError>,
}
