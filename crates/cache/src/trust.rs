//! Users that may own files of a cache: this one and root.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) fn is_trusted(metadata: &Metadata) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid())
}

pub(super) fn untrusted(path: &Path, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("`{}` {reason}", path.display()))
}
