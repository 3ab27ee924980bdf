//! Keeping a cache below its limit, and without what is damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::directory::{Directory, Lock};
use super::{Cache, CacheError, Key};

/// What pruning removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// How many segments went.
    pub segments: usize,
    /// How many bytes that freed, what killed builds left included.
    pub bytes: u64,
    /// How many bytes are still there.
    pub left: u64,
}

impl Cache {
    /// Removes segments from the cache in `dir`, those used longest ago first, until it takes at most
    /// `to` bytes; and what killed builds left. Waits for a process that does the same.
    ///
    /// # Errors
    /// When the directory cannot be read or written. What was removed until then is.
    pub fn prune(dir: &Path, to: u64) -> Result<Pruned, CacheError> {
        let directory = Directory::below(dir);
        if !directory.exists() {
            return Ok(Pruned::default());
        }
        let pruned = directory.check().and_then(|()| directory.lock()).and_then(|lock| {
            let swept = directory.sweep(&lock)?;
            let pruned = prune(&directory, &lock, to, &BTreeMap::new())?;
            Ok(Pruned { bytes: pruned.bytes + swept, ..pruned })
        });
        pruned.map_err(CacheError::at("prune", dir))
    }

    /// Removes everything that is known to be damaged: broken segments, and the rows of rejected
    /// streams. Waits for a process that prunes. Gives how many segments it changed or removed.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn heal(&self) -> Result<usize, CacheError> {
        if !self.needs_healing() {
            return Ok(0);
        }
        self.directory
            .lock()
            .and_then(|lock| self.heal_under(&lock))
            .map_err(CacheError::at("heal", &self.dir))
    }

    fn needs_healing(&self) -> bool {
        !self.broken.is_empty()
            || self.slots.iter().any(|slot| slot.damaged.load(Ordering::Relaxed))
    }

    pub(super) fn heal_under(&self, _: &Lock) -> io::Result<usize> {
        let mut healed = 0;
        for (id, _) in &self.broken {
            healed += usize::from(self.directory.remove(id)? > 0);
        }
        for (segment, damaged) in self.damaged() {
            let id = &self.segments[segment].id;
            // Another process may have healed or removed it meanwhile.
            let Ok(mut loaded) = self.directory.load(id) else { continue };
            loaded.table.rows.retain(|row| !damaged.contains(&row.key));
            // The memo rows of a segment are small beside its streams, and can be had again.
            if loaded.table.rows.is_empty() {
                self.directory.remove(id)?;
            } else {
                self.directory.put_table(id, &loaded.table)?;
            }
            healed += 1;
        }
        Ok(healed)
    }

    /// The keys of rejected streams, by segment. A segment has a key once.
    fn damaged(&self) -> BTreeMap<usize, BTreeSet<Key>> {
        let mut damaged: BTreeMap<usize, BTreeSet<Key>> = BTreeMap::new();
        for slot in self.slots.iter().filter(|slot| slot.damaged.load(Ordering::Relaxed)) {
            damaged.entry(slot.segment).or_default().insert(slot.key);
        }
        damaged
    }
}

/// Removes segments until all of them take at most `limit` bytes. Segments that are not in `shares`
/// go first, those used longest ago before others; then the others, by the share (in thousandths)
/// of their bytes that was used.
pub(super) fn prune(
    directory: &Directory,
    _: &Lock,
    limit: u64,
    shares: &BTreeMap<String, u64>,
) -> io::Result<Pruned> {
    let mut listed = directory.listed()?;
    let mut pruned =
        Pruned { left: listed.iter().map(|listed| listed.size).sum(), ..Pruned::default() };
    // They come in the order of their last use, and stay in it where shares are equal.
    listed.sort_by_key(|listed| shares.get(&listed.id).copied());
    for segment in listed {
        if pruned.left <= limit {
            break;
        }
        directory.remove(&segment.id)?;
        pruned = Pruned {
            segments: pruned.segments + 1,
            bytes: pruned.bytes + segment.size,
            left: pruned.left - segment.size,
        };
    }
    Ok(pruned)
}
