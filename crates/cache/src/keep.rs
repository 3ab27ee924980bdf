use std::sync::PoisonError;

use super::offer::Archive;
use super::table::Table;
use super::writer::{Sealed, WriterEnd};
use super::{Cache, CacheError};

/// Streams kept before [`Cache::finish`].
#[derive(Debug, Default)]
pub(super) struct KeptStreams {
    /// Bytes of the budget.
    pub spent: u64,
    pub ids: Vec<String>,
    pub added: u64,
    pub added_bytes: u64,
    /// After the first, archives wait for the end.
    pub warnings: Vec<CacheError>,
}

impl Cache {
    /// Keeps the new streams of a complete archive. Without any, its other parts wait for
    /// [`Cache::finish`].
    pub fn keep_now(&self, archive: &mut Archive) {
        let mut tally = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if archive.offer.rows.is_empty() || !tally.warnings.is_empty() {
            return;
        }
        let (mut summary, rows) = (super::Summary::default(), archive.offer.rows.clone());
        let budget = self.limit.saturating_sub(tally.spent);
        let sealed = if let Some((file, length)) = self.adopt(&archive.path, &rows, budget) {
            vec![Sealed { file, table: Table { length, rows, ..Table::default() } }]
        } else {
            let WriterEnd { sealed, trouble } =
                self.copy(&[(archive.path.clone(), rows)], budget, &mut summary);
            summary.warn(self, "write to", trouble);
            sealed
        };
        tally.spent += sealed.iter().map(|sealed| sealed.table.length).sum::<u64>();
        if summary.warnings.is_empty() {
            archive.offer.is_kept = true;
            let memos = std::mem::take(&mut archive.offer.memos);
            let ids = self.publish(sealed, memos, &mut summary);
            tally.ids.extend(ids);
        }
        tally.added += summary.added;
        tally.added_bytes += summary.added_bytes;
        tally.warnings.extend(summary.warnings);
    }
}
