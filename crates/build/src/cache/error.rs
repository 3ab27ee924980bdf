//! What can go wrong with a cache. None of it is a reason to stop a build.

use std::io;
use std::path::{Path, PathBuf};

/// Something could not be done with a cache.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the cache in {}", .dir.display())]
pub struct CacheError {
    doing: &'static str,
    dir: PathBuf,
    source: io::Error,
}

impl CacheError {
    /// Says what was being done with the cache in `dir`.
    pub(super) fn new(doing: &'static str, dir: &Path, source: io::Error) -> Self {
        Self { doing, dir: dir.to_owned(), source }
    }

    /// For `map_err`.
    pub(super) fn at(doing: &'static str, dir: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(doing, dir, source)
    }

    /// Whether there is no room for it.
    pub fn is_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}
