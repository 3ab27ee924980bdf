use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use base::partial::PartialFile;
use fs_err::File;

use super::directory::Lock;
use super::offer::{Archive, Offer};
use super::table::{Row, Table};
use super::writer::{Sealed, Writer, WriterEnd};
use super::{Cache, CacheError, ContentDigest, Fingerprint, Summary, cap, merge, prune};

impl Cache {
    /// Keeps the streams that `archives` offer, marks used segments, removes damaged ones, and
    /// prunes. Another process that is changing segments does repair and pruning instead. Entries
    /// are invalid afterwards.
    pub fn finish(self, archives: Vec<Archive>) -> Summary {
        let mut summary = self.summary();
        let mut shares = self.shares();
        let (segments, memos) = self.keep(archives, &mut summary);
        let ids = self.publish(segments, memos, &mut summary);
        for id in ids.into_iter().chain(self.take_kept(&mut summary)) {
            shares.insert(id, NEW);
        }
        let touched =
            shares.keys().filter(|id| self.segments.iter().any(|segment| segment.id == **id));
        // An unmarked segment is only pruned too early.
        touched.for_each(|id| drop(self.directory.touch(id, None)));
        let tidied = self
            .directory
            .try_lock()
            .and_then(|lock| lock.map(|lock| self.tidy(&lock, &shares, &mut summary)).transpose());
        summary.warn(&self, "tidy up", tidied.err());
        summary
    }

    fn summary(&self) -> Summary {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = &self.counts;
        Summary {
            hits: count(&counts.hits),
            hit_bytes: count(&counts.hit_bytes),
            misses: count(&counts.misses),
            remembered: count(&counts.remembered),
            damaged: count(&counts.damaged) + self.broken.len() as u64,
            ..Summary::default()
        }
    }

    fn shares(&self) -> BTreeMap<String, u64> {
        let touched =
            self.segments.iter().filter(|segment| segment.touched.load(Ordering::Relaxed));
        let share =
            |used: u64, length: u64| used.saturating_mul(1000).checked_div(length).unwrap_or(1000);
        touched
            .map(|segment| {
                (segment.id.clone(), share(segment.used.load(Ordering::Relaxed), segment.length))
            })
            .collect()
    }

    fn keep(
        &self,
        archives: Vec<Archive>,
        summary: &mut Summary,
    ) -> (Vec<Sealed>, Vec<(Fingerprint, ContentDigest)>) {
        let (mut sealed, mut memos, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let spent = self.kept.lock().unwrap_or_else(PoisonError::into_inner).spent;
        let mut budget = self.limit.saturating_sub(spent);
        // Received streams are in use, so they take the budget first.
        if let Some(import) = self.imports.take() {
            budget = budget.saturating_sub(import.table.length);
            sealed.push(import);
        }
        let archives = archives.into_iter().filter(|archive| !archive.offer.is_kept);
        for Archive { path, offer: Offer { rows, memos: its_memos, .. } } in archives {
            memos.extend(its_memos);
            match self.adopt(&path, &rows, budget) {
                Some((file, length)) => {
                    budget -= length;
                    sealed.push(Sealed { file, table: Table { length, rows, ..Table::default() } });
                }
                None => rest.push((path, rows)),
            }
        }
        let WriterEnd { sealed: copied, trouble } = self.copy(&rest, budget, summary);
        summary.warn(self, "write to", trouble);
        sealed.extend(copied);
        (sealed, memos)
    }

    fn take_kept(&self, summary: &mut Summary) -> Vec<String> {
        let mut tally = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        summary.added += tally.added;
        summary.added_bytes += tally.added_bytes;
        // The same cause may have warned again.
        if summary.warnings.is_empty() {
            summary.warnings.append(&mut tally.warnings);
        }
        std::mem::take(&mut tally.ids)
    }

    /// Adopts an archive by reflink; returns its length. `None` without reflinks, over the budget,
    /// or if less than a third of the archive is offered streams.
    pub(super) fn adopt(
        &self,
        archive: &Path,
        rows: &[Row],
        budget: u64,
    ) -> Option<(PartialFile, u64)> {
        let packed: u64 = rows.iter().map(|row| row.packed_len).sum();
        let length = fs_err::metadata(archive).ok()?.len();
        if packed == 0 || packed < length / 3 || length > budget {
            return None;
        }
        Some((self.directory.adopt(archive)?, length))
    }

    pub(super) fn copy(
        &self,
        archives: &[(PathBuf, Vec<Row>)],
        budget: u64,
        summary: &mut Summary,
    ) -> WriterEnd {
        let mut writer = Writer::new(self.directory.clone(), cap(self.limit), budget);
        for (path, rows) in archives.iter().filter(|(_, rows)| !rows.is_empty()) {
            match File::open(path) {
                Ok(file) => rows.iter().for_each(|row| writer.copy(&file, row)),
                Err(error) => summary.warn(self, "write to", Some(error)),
            }
        }
        writer.finish()
    }

    pub(super) fn publish(
        &self,
        mut sealed: Vec<Sealed>,
        mut memos: Vec<(Fingerprint, ContentDigest)>,
        summary: &mut Summary,
    ) -> Vec<String> {
        memos.retain(|(fingerprint, content)| {
            self.memos.get(fingerprint).is_none_or(|(memo, _)| *memo != Some(*content))
        });
        if let Err(error) = self.place_memos(&mut sealed, memos) {
            summary.warn(self, "write to", Some(error));
        }
        let mut ids = Vec::new();
        for Sealed { file, table } in sealed {
            match self.directory.publish(file, &table) {
                Ok(id) => {
                    summary.added += table.rows.len() as u64;
                    summary.added_bytes += table.rows.iter().map(|row| row.packed_len).sum::<u64>();
                    ids.push(id);
                }
                Err(error) => summary.warn(self, "write to", Some(error)),
            }
        }
        ids
    }

    fn place_memos(
        &self,
        sealed: &mut Vec<Sealed>,
        memos: Vec<(Fingerprint, ContentDigest)>,
    ) -> io::Result<()> {
        if memos.is_empty() {
            return Ok(());
        }
        if sealed.is_empty() {
            sealed.push(Sealed { file: self.directory.temporary()?, table: Table::default() });
        }
        sealed[0].table.memos.extend(memos);
        Ok(())
    }

    fn tidy(
        &self,
        lock: &Lock,
        shares: &BTreeMap<String, u64>,
        summary: &mut Summary,
    ) -> io::Result<()> {
        self.directory.sweep(lock)?;
        self.heal_under(lock)?;
        summary.pruned = prune::prune(&self.directory, lock, self.limit, shares)?.segments;
        merge::merge(&self.directory, lock, cap(self.limit))?;
        summary.bytes = Some(self.directory.listed()?.iter().map(|listed| listed.size).sum());
        Ok(())
    }
}

/// Share of a new segment, which is pruned before fully used ones, so that a too small cache keeps
/// the same streams from build to build.
const NEW: u64 = 999;

impl Summary {
    pub(super) fn warn(&mut self, cache: &Cache, doing: &'static str, error: Option<io::Error>) {
        self.warnings.extend(error.map(|error| CacheError::new(doing, &cache.dir, error)));
    }
}
