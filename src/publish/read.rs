//! Reading what a store may have.

use crate::names::RelPath;
use crate::store::{Bucket, ErrorKind, Object, StoreError};

/// No page is longer.
pub(super) const LONGEST_PAGE: u64 = 256 << 20;

/// An object that is there, with its bytes.
pub(super) struct Page {
    /// What the store says of it.
    pub(super) object: Object,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

/// The object at `key`, if there is one.
pub(super) fn page(bucket: &dyn Bucket, key: &RelPath) -> Result<Option<Page>, StoreError> {
    let content = match bucket.get(key, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        content => content?,
    };
    let object = content.object.clone();
    Ok(Some(Page { object, bytes: content.bytes(bucket, LONGEST_PAGE)? }))
}
