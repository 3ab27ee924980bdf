//! State of an index between updates.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::package::Package;
use base::names::RelPath;
use base::regular;

/// State file. Without it, all packages are read again.
pub const STATE: &str = ".rockpack-index.json";
/// Increment for incompatible changes of the file.
const FORMAT: u32 = 1;
const LONGEST: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl Stamp {
    /// Follows links.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { size: metadata.len(), modified: (metadata.mtime(), metadata.mtime_nsec()) })
    }

    /// True if certainly older: two writes within one time step are indistinguishable.
    pub(super) fn is_before(&self, later: &Self) -> bool {
        self.modified < later.modified
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StampedPackage {
    /// `None` if a later write could have the same stamp.
    pub(super) stamp: Option<Stamp>,
    #[serde(flatten)]
    pub(super) package: Arc<Package>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    format: u32,
    pub(super) packages: BTreeMap<RelPath, StampedPackage>,
}

impl Default for State {
    fn default() -> Self {
        Self { format: FORMAT, packages: BTreeMap::new() }
    }
}

impl State {
    /// Empty if invalid.
    pub(super) fn load(dir: &Path) -> Self {
        let file = regular::open(dir.join(STATE)).ok();
        let state: Option<Self> =
            file.and_then(|file| serde_json::from_reader(BufReader::new(file.take(LONGEST))).ok());
        state.filter(|state| state.format == FORMAT).unwrap_or_default()
    }

    pub(super) fn write(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut to, self)?;
        to.write_all(b"\n")
    }
}
