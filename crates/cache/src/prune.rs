use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::directory::{Directory, Lock};
use super::{Cache, CacheError, Key};

/// Result of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Removed segments.
    pub segments: usize,
    /// Freed bytes, including files of killed builds.
    pub bytes: u64,
    /// Remaining bytes.
    pub left: u64,
}

impl Cache {
    /// Removes the least recently used segments in `dir`, down to `limit` bytes, and files of
    /// killed builds. Waits for other processes. Removals stay on failure.
    pub fn prune(dir: &Path, limit: u64) -> Result<Pruned, CacheError> {
        let directory = Directory::below(dir);
        if !directory.exists() {
            return Ok(Pruned::default());
        }
        let pruned = directory.check().and_then(|()| directory.lock()).and_then(|lock| {
            let swept = directory.sweep(&lock)?;
            let pruned = prune(&directory, &lock, limit, &BTreeMap::new())?;
            Ok(Pruned { bytes: pruned.bytes + swept, ..pruned })
        });
        pruned.map_err(CacheError::in_dir("prune", dir))
    }

    /// Removes broken segments and rejected streams; returns the number of affected segments.
    pub fn heal(&self) -> Result<usize, CacheError> {
        if !self.needs_healing() {
            return Ok(0);
        }
        self.directory
            .lock()
            .and_then(|lock| self.heal_under(&lock))
            .map_err(CacheError::in_dir("heal", &self.dir))
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
            let Ok(mut loaded) = self.directory.load(id) else { continue };
            loaded.table.rows.retain(|row| !damaged.contains(&row.key));
            // Memo rows are small, and can be recomputed.
            if loaded.table.rows.is_empty() {
                self.directory.remove(id)?;
            } else {
                self.directory.put_table(id, &loaded.table)?;
            }
            healed += 1;
        }
        Ok(healed)
    }

    fn damaged(&self) -> BTreeMap<usize, BTreeSet<Key>> {
        let mut damaged: BTreeMap<usize, BTreeSet<Key>> = BTreeMap::new();
        for slot in self.slots.iter().filter(|slot| slot.damaged.load(Ordering::Relaxed)) {
            damaged.entry(slot.segment).or_default().insert(slot.key);
        }
        damaged
    }
}

/// Removes segments down to `limit` bytes: unused ones, least recently used first, then the others
/// by their share in thousandths.
pub(super) fn prune(
    directory: &Directory,
    _: &Lock,
    limit: u64,
    shares: &BTreeMap<String, u64>,
) -> io::Result<Pruned> {
    let mut listed = directory.listed()?;
    let mut pruned =
        Pruned { left: listed.iter().map(|listed| listed.size).sum(), ..Pruned::default() };
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
