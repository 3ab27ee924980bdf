//! Outlines of packages in a store: headers and a few members of a wheel, without the rest.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::store::{self, Bucket, Object};
use base::names::{Form, RelPath};
use wheel::package::directory::{Directory, DirectoryEntry, DirectoryError};

/// Read at the end of a wheel first: headers of up to 1,000 members, and mostly the metadata, in
/// one request.
const TAIL: u64 = 128 << 10;

/// A request costs more than so many bytes between two members.
const GAP: u64 = 32 << 10;

/// Sdists have no headers; those of selectors have some 100 kB.
const LARGEST_SDIST: u64 = 8 << 20;

/// A file of the package's name and size in `path`, with holes outside of the read ranges.
#[derive(Debug)]
pub struct Outline {
    /// File.
    pub path: PathBuf,
    /// Size of the package.
    pub size: u64,
    /// Transferred bytes.
    pub bytes: u64,
}

/// Reason for which a package has no outline.
#[derive(Debug, thiserror::Error)]
pub enum OutlineError {
    /// Failure of the store.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Failure of the local file.
    #[error(transparent)]
    Local(#[from] io::Error),
    /// Absent package.
    #[error("`{key}` is not in `{store}`, though a page names it")]
    Absent {
        /// Store.
        store: String,
        /// Key.
        key: RelPath,
    },
    /// Invalid wheel.
    #[error("`{key}` in `{store}` is not a wheel: {reason}")]
    Broken {
        /// Store.
        store: String,
        /// Key.
        key: RelPath,
        /// Reason.
        reason: String,
    },
    /// Large sdist.
    #[error("`{key}` has {size} bytes: an sdist above {LARGEST_SDIST} bytes is not compared")]
    LargeSdist {
        /// Key.
        key: RelPath,
        /// Its size.
        size: u64,
    },
}

/// Writes the outline of a package to `dir`: the headers, and the members that `is_wanted` selects.
///
/// # Errors
/// [`store::ErrorKind::Unsupported`] if the server does not send parts of files.
pub fn outline(
    bucket: &dyn Bucket,
    key: &RelPath,
    dir: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Outline, OutlineError> {
    let absent = || OutlineError::Absent { store: bucket.name().to_owned(), key: key.clone() };
    let object = bucket.head(key)?.ok_or_else(absent)?;
    let path = dir.join(key.file_name());
    let file = fs::File::create_new(&path)?.into_parts().0;
    file.set_len(object.size)?;
    let mut sparse = Sparse { bucket, object, file, read: BTreeMap::new(), bytes: 0 };
    let size = sparse.object.size;
    if Form::of_file(key.file_name()) == Some(Form::Sdist) {
        if size > LARGEST_SDIST {
            return Err(OutlineError::LargeSdist { key: key.clone(), size });
        }
        sparse.read(0..size)?;
    } else {
        sparse.wheel(is_wanted)?;
    }
    Ok(Outline { path, size, bytes: sparse.bytes })
}

struct Sparse<'b> {
    bucket: &'b dyn Bucket,
    object: Object,
    file: std::fs::File,
    /// Read ranges: ends by starts.
    read: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Sparse<'_> {
    fn wheel(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Result<(), OutlineError> {
        let size = self.object.size;
        let tail = size.saturating_sub(TAIL)..size;
        self.read(tail.clone())?;
        let start = Directory::start(&self.file).map_err(|error| self.broken(error))?;
        self.read(start.min(tail.start)..tail.start)?;
        let directory = Directory::read_some(&self.file, |_| false);
        let directory = directory.map_err(|error| self.broken(error))?;
        for part in parts(&directory.entries, start, is_wanted) {
            self.read(part)?;
        }
        Ok(())
    }

    /// Reads a range, without what is there.
    fn read(&mut self, range: Range<u64>) -> Result<(), OutlineError> {
        let (mut position, end) = (range.start, range.end);
        while position < end {
            let before =
                self.read.range(..=position).next_back().filter(|(_, end)| **end > position);
            if let Some((_, end_of_part)) = before {
                position = *end_of_part;
                continue;
            }
            let next = self.read.range(position..).next().map_or(end, |(start, _)| end.min(*start));
            let Object { key, etag, .. } = &self.object;
            let bytes = self.bucket.get_range(key, position..next, etag.as_deref())?;
            self.file.write_all_at(&bytes, position)?;
            self.bytes += bytes.len() as u64;
            self.read.insert(position, next);
            position = next;
        }
        Ok(())
    }

    fn broken(&self, error: DirectoryError) -> OutlineError {
        match error {
            DirectoryError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => error.into(),
            error => OutlineError::Broken {
                store: self.bucket.name().to_owned(),
                key: self.object.key.clone(),
                reason: error.to_string(),
            },
        }
    }
}

/// Ranges from the local headers of wanted members to the next ones, near ones as one.
fn parts(
    entries: &[DirectoryEntry],
    end: u64,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<Range<u64>> {
    let mut sorted: Vec<&DirectoryEntry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header);
    let mut parts: Vec<Range<u64>> = Vec::new();
    for (index, entry) in sorted.iter().enumerate().filter(|(_, entry)| is_wanted(&entry.name)) {
        let until = sorted.get(index + 1).map_or(end, |next| next.header);
        match parts.last_mut() {
            Some(last) if entry.header <= last.end.saturating_add(GAP) => last.end = until,
            _ => parts.push(entry.header..until),
        }
    }
    parts
}
