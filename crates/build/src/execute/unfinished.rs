use std::io;
use std::path::Path;

use super::ExecuteError;
use base::names::RelPath;
use cache;

pub(super) type Offers = Vec<(RelPath, cache::Offer)>;

/// Failed build with the streams of finished packages.
pub(super) struct Unfinished {
    pub error: ExecuteError,
    pub offers: Offers,
}

impl<E: Into<ExecuteError>> From<E> for Unfinished {
    fn from(error: E) -> Self {
        Self { error: error.into(), offers: Vec::new() }
    }
}

pub(super) fn failed(
    dest: &Path,
    output: &RelPath,
    error: &(dyn std::error::Error + 'static),
) -> ExecuteError {
    if is_full(error) {
        return ExecuteError::Full { dest: dest.to_owned(), output: output.clone() };
    }
    ExecuteError::Output { output: output.clone(), reason: base::text::with_causes(error) }
}

fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let kind =
        |e: &(dyn std::error::Error + 'static)| e.downcast_ref::<io::Error>().map(io::Error::kind);
    let full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    std::iter::successors(Some(error), |e| e.source()).filter_map(kind).any(full)
}
