//! What a cache holds, counted.

use std::time::SystemTime;

use super::{Cache, CacheError};

/// What a cache holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Segments that can be seen.
    pub segments: usize,
    /// Bytes on the disk, without those of unfinished segments.
    pub bytes: u64,
    /// Bytes in segments that are being written, or that killed builds left.
    pub unfinished: u64,
    /// Different streams.
    pub entries: usize,
    /// Their packed bytes.
    pub packed: u64,
    /// The bytes of their contents.
    pub content: u64,
    /// Files and edits whose content is known without reading them.
    pub remembered: usize,
    /// When the segment was used that was used longest ago.
    pub oldest: Option<SystemTime>,
    /// When one was used last.
    pub newest: Option<SystemTime>,
}

impl Cache {
    /// Counts what the cache held when it was opened.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn stats(&self) -> Result<Stats, CacheError> {
        let listed = self.directory.listed().map_err(CacheError::at("read", &self.dir))?;
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
