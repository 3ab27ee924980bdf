use std::time::SystemTime;

use super::{Cache, CacheError};

/// Statistics of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Visible segments.
    pub segments: usize,
    /// Bytes on disk, without unfinished segments.
    pub bytes: u64,
    /// Bytes of unfinished segments.
    pub unfinished: u64,
    /// Distinct streams.
    pub entries: usize,
    /// Their packed bytes.
    pub packed: u64,
    /// Bytes of their contents.
    pub content: u64,
    /// Known fingerprints.
    pub remembered: usize,
    /// Last use of the oldest segment.
    pub oldest: Option<SystemTime>,
    /// Last use of the newest segment.
    pub newest: Option<SystemTime>,
}

impl Cache {
    /// Statistics of the cache.
    pub fn stats(&self) -> Result<Stats, CacheError> {
        let listed = self.directory.listed().map_err(CacheError::in_dir("read", &self.dir))?;
        let mut stats = Stats {
            segments: listed.len(),
            bytes: listed.iter().map(|listed| listed.size).sum(),
            unfinished: self.directory.unfinished(),
            entries: self.keys.len(),
            packed: 0,
            content: 0,
            remembered: self.memos.len(),
            oldest: listed.first().map(|listed| listed.used),
            newest: listed.last().map(|listed| listed.used),
        };
        let current = self
            .slots
            .iter()
            .enumerate()
            .filter(|(index, slot)| self.keys.get(&slot.key) == Some(index));
        for (_, slot) in current {
            stats.packed += slot.entry.packed_len;
            stats.content += slot.entry.digest.size;
        }
        Ok(stats)
    }
}
