//! What an index remembers from one update to the next.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::package::Package;
use base::names::RelPath;
use base::regular;

/// The hidden file in which an index remembers its packages. Without it, all are read again.
pub const STATE: &str = ".rockpack-index.json";
/// Grows with every change of what the file means.
const FORMAT: u32 = 1;
/// No index remembers more.
const LONGEST: u64 = 64 << 20;

/// Size and time of a file: what tells that it may have changed. Touched is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl Stamp {
    /// The stamp of a file, links followed.
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { size: found.len(), modified: (found.mtime(), found.mtime_nsec()) })
    }

    /// Whether the file was certainly written before the one that `other` is of. File times have steps
    /// of milliseconds: of two writes in one step, the second does not show.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.modified < other.modified
    }
}

/// A package that is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    /// What the file was when it was read; nothing when it may have been written to just then.
    pub(super) stamp: Option<Stamp>,
    /// What was read.
    #[serde(flatten)]
    pub(super) package: Package,
}

/// Everything that is remembered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    format: u32,
    /// The packages by their paths below the directory.
    pub(super) packages: BTreeMap<RelPath, Known>,
}

impl Default for State {
    fn default() -> Self {
        Self { format: FORMAT, packages: BTreeMap::new() }
    }
}

impl State {
    /// What an earlier update left in `dir`. What cannot be understood is forgotten: it can be found
    /// out again.
    pub(super) fn load(dir: &Path) -> Self {
        let state = regular::read(dir.join(STATE), LONGEST)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        state.filter(|state| state.format == FORMAT).unwrap_or_default()
    }

    /// The file's content.
    pub(super) fn render(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
