//! What in a cache is of this process, of this user, or of somebody else.

use std::fs::Metadata;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

/// What the names of this process's temporary files begin with; no other process has the same.
pub(super) fn process() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let number = RandomState::new().hash_one(std::process::id());
        format!("{number:016x}")
    });
    &NAME
}

/// Whether this user, or the administrator, made something.
pub(super) fn is_trusted(found: &Metadata) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&found.uid())
}

/// Why something in a cache is not used.
pub(super) fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("`{}` {why}", path.display()))
}
