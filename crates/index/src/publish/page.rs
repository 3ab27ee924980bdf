use super::encoding;
use crate::store::{Bucket, ErrorKind, Object, ObjectContent, StoreError};
use base::names::RelPath;

/// Limit of a page in bytes. The largest known page, `PyPI`'s list of all projects, is smaller.
pub(super) const LONGEST_PAGE: u64 = 48 << 20;

/// Reads an object with at most [`LONGEST_PAGE`] bytes, if it exists.
pub(super) fn object_at(bucket: &dyn Bucket, key: &RelPath) -> Result<Option<Page>, StoreError> {
    let content = match bucket.get(key, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        content => content?,
    };
    read(bucket, content).map(Some)
}

pub(super) fn read(bucket: &dyn Bucket, content: ObjectContent) -> Result<Page, StoreError> {
    let object = content.object.clone();
    let stored = content.bytes(bucket, LONGEST_PAGE)?;
    let bytes = encoding::decoded(stored, LONGEST_PAGE)
        .map_err(|error| StoreError::of_read(bucket.name(), &object.key, &error))?;
    Ok(Page { object, bytes })
}

#[derive(Debug)]
pub(super) struct Page {
    /// Metadata. The size is of the stored bytes, which may be compressed.
    pub(super) object: Object,
    /// Bytes without the stored encoding.
    pub(super) bytes: Vec<u8>,
}
