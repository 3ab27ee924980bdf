use crate::store::{Bucket, Content, ErrorKind, Object, StoreError};
use base::names::RelPath;

pub(super) const LONGEST_PAGE: u64 = 256 << 20;

/// Reads an object with at most [`LONGEST_PAGE`] bytes, if it exists.
pub(super) fn object_at(bucket: &dyn Bucket, key: &RelPath) -> Result<Option<Page>, StoreError> {
    let content = match bucket.get(key, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        content => content?,
    };
    read(bucket, content).map(Some)
}

pub(super) fn read(bucket: &dyn Bucket, content: Content) -> Result<Page, StoreError> {
    let object = content.object.clone();
    Ok(Page { object: Some(object), bytes: content.bytes(bucket, LONGEST_PAGE)? })
}

#[derive(Debug)]
pub(super) struct Page {
    /// Metadata of the response; `None` for a page that this run wrote.
    pub(super) object: Option<Object>,
    pub(super) bytes: Vec<u8>,
}

impl Page {
    pub(super) fn etag(&self) -> Option<&str> {
        self.object.as_ref()?.etag.as_deref()
    }
}
