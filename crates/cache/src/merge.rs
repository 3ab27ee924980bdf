//! Merge of small segments: rebuilds add some, and open files are limited.

use std::collections::HashSet;
use std::io;
use std::time::SystemTime;

use super::directory::{Directory, Listed, Loaded, Lock};
use super::key::{ContentDigest, Fingerprint, Key};
use super::table::Table;
use super::writer::Writer;

/// Small segments that may stay: a merge rewrites their bytes, so it must not follow each build.
const MANY: usize = 48;

/// Merges the smallest segments into one of at most `cap` bytes, if more than [`MANY`] are small.
/// Returns their number.
pub(super) fn merge(directory: &Directory, lock: &Lock, cap: u64) -> io::Result<usize> {
    let mut small: Vec<Listed> =
        directory.listed()?.into_iter().filter(|listed| listed.size < cap / 4).collect();
    if small.len() <= MANY {
        return Ok(0);
    }
    small.sort_by_key(|listed| listed.size);
    let mut sum = 0;
    small.retain(|listed| {
        sum += listed.size;
        sum <= cap
    });
    small.sort_by_key(|listed| std::cmp::Reverse(listed.used));
    merge_all(directory, lock, &small)
}

fn merge_all(directory: &Directory, _: &Lock, small: &[Listed]) -> io::Result<usize> {
    let writer = Writer::new(directory.clone(), u64::MAX, u64::MAX);
    let mut target =
        Merger { writer, keys: HashSet::new(), memos: Vec::new(), fingerprints: HashSet::new() };
    let mut merged = Vec::new();
    for listed in small {
        // The next build that loads it removes it.
        if let Ok(loaded) = directory.load(&listed.id) {
            target.take(loaded);
            merged.push(&listed.id);
        }
    }
    let used = small.iter().map(|listed| listed.used).max();
    target.publish(directory, used)?;
    merged.iter().try_for_each(|id| directory.remove(id).map(drop))?;
    Ok(merged.len())
}

struct Merger {
    writer: Writer,
    keys: HashSet<Key>,
    memos: Vec<(Fingerprint, ContentDigest)>,
    fingerprints: HashSet<Fingerprint>,
}

impl Merger {
    fn take(&mut self, loaded: Loaded) {
        let Loaded { file, table: Table { rows, memos, .. } } = loaded;
        for row in rows.iter().filter(|row| self.keys.insert(row.key)) {
            self.writer.copy(&file, row);
        }
        self.memos.extend(
            memos.into_iter().filter(|(fingerprint, _)| self.fingerprints.insert(*fingerprint)),
        );
    }

    fn publish(self, directory: &Directory, used: Option<SystemTime>) -> io::Result<()> {
        let mut output = self.writer.finish();
        if let Some(error) = output.trouble {
            return Err(error);
        }
        let (file, table) = match output.sealed.pop() {
            Some(sealed) => (sealed.file, sealed.table),
            None => (directory.temporary()?, Table::default()),
        };
        let id = directory.publish(file, &Table { memos: self.memos, ..table })?;
        directory.touch(&id, used)
    }
}
