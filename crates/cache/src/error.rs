use std::io;
use std::path::{Path, PathBuf};

/// Failed operation, which never stops a build.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the cache in {}", .dir.display())]
pub struct CacheError {
    doing: &'static str,
    dir: PathBuf,
    source: io::Error,
}

impl CacheError {
    pub(super) fn new(doing: &'static str, dir: &Path, source: io::Error) -> Self {
        Self { doing, dir: dir.to_owned(), source }
    }

    pub(super) fn in_dir(doing: &'static str, dir: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::new(doing, dir, source)
    }

    /// True for a full disk or quota.
    pub fn is_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}
