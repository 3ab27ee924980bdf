//! Artifacts that come as one compressed tar archive.
//!
//! A tar archive cannot be read out of order, and wheels are written in another order than
//! archives; so an archive is unpacked once, below a temporary directory.

use std::io::Read;
use std::path::Path;

use fs_err as fs;
use tar::EntryType;

use super::layout::{MANIFEST, Storage};
use crate::names::RelPath;

/// Why an archive could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("cannot read archive {archive}")]
    Read { archive: String, source: std::io::Error },
    #[error("archive {archive} has a member whose path {reason}")]
    Path { archive: String, reason: crate::names::PathError },
    #[error("archive {archive} has a member whose name is not UTF-8: {}", .name.escape_debug())]
    NotUtf8 { archive: String, name: String },
    #[error("archive {archive}: `{member}` links to `{target}`, which leads outside")]
    Outside { archive: String, member: RelPath, target: String },
    #[error("archive {archive}: `{member}` is a device, socket or the like, which packages cannot hold")]
    Special { archive: String, member: RelPath },
    #[error("the first member of archive {archive} is `{member}`; it has to be {MANIFEST}")]
    First { archive: String, member: String },
    #[error("cannot unpack `{member}` of archive {archive}")]
    Write { archive: String, member: RelPath, source: std::io::Error },
}

/// Unpacks `archive` into the directory `to`, which has to exist and be empty.
pub(super) fn unpack(archive: &Path, storage: Storage, to: &Path) -> Result<(), UnpackError> {
    let name = archive.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let read_error = |source| UnpackError::Read { archive: name.clone(), source };
    let file = fs::File::open(archive).map_err(read_error)?;
    let bytes: Box<dyn Read> = match storage {
        Storage::Zstd => Box::new(zstd::Decoder::new(file).map_err(read_error)?),
        Storage::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(file)),
        Storage::Directory => Box::new(file),
    };
    let mut tar = tar::Archive::new(bytes);
    tar.set_preserve_mtime(false);
    let mut first = true;
    for member in tar.entries().map_err(read_error)? {
        let mut member = member.map_err(read_error)?;
        let Some(path) = checked_path(&name, &member)? else { continue };
        if std::mem::take(&mut first) && path.as_str() != MANIFEST {
            return Err(UnpackError::First { archive: name, member: path.to_string() });
        }
        check_kind(&name, &path, &member)?;
        let done = member.unpack_in(to).map_err(|source| UnpackError::Write { archive: name.clone(), member: path.clone(), source })?;
        if !done {
            return Err(UnpackError::Outside { archive: name, member: path, target: "..".to_owned() });
        }
    }
    Ok(())
}

/// The member's path; `None` for the archive's own root and for headers that are no members.
fn checked_path<R: Read>(archive: &str, member: &tar::Entry<'_, R>) -> Result<Option<RelPath>, UnpackError> {
    if matches!(member.header().entry_type(), EntryType::XGlobalHeader | EntryType::XHeader) {
        return Ok(None);
    }
    let bytes = member.path_bytes();
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| UnpackError::NotUtf8 { archive: archive.to_owned(), name: String::from_utf8_lossy(&bytes).into_owned() })?;
    let text = text.trim_start_matches("./").trim_end_matches('/');
    if text.is_empty() || text == "." {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|reason| UnpackError::Path { archive: archive.to_owned(), reason })
}

fn check_kind<R: Read>(archive: &str, path: &RelPath, member: &tar::Entry<'_, R>) -> Result<(), UnpackError> {
    match member.header().entry_type() {
        EntryType::Regular | EntryType::Continuous | EntryType::Directory | EntryType::GNUSparse => Ok(()),
        kind @ (EntryType::Symlink | EntryType::Link) => {
            let target = member.link_name_bytes().map(|t| String::from_utf8_lossy(&t).into_owned()).unwrap_or_default();
            // A hard link names a member of the archive, a symlink starts at its own directory.
            let start = if kind == EntryType::Link { 0 } else { path.depth() };
            if stays_below(start, &target) {
                Ok(())
            } else {
                Err(UnpackError::Outside { archive: archive.to_owned(), member: path.clone(), target })
            }
        }
        _ => Err(UnpackError::Special { archive: archive.to_owned(), member: path.clone() }),
    }
}

/// Whether `target`, followed from `depth` directories below a root, never leaves the root.
pub(super) fn stays_below(depth: usize, target: &str) -> bool {
    let mut depth = depth;
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." if depth == 0 => return false,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    !target.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_are_told_apart() {
        assert!(stays_below(1, "../a"));
        assert!(!stays_below(1, "../../a"));
        assert!(!stays_below(3, "/a"));
        assert!(stays_below(0, "a/../b"));
        assert!(!stays_below(0, "a/../../b"));
    }
}
