//! Store that counts requests and can fail.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base::names::RelPath;
use index::store::{
    Body, Bucket, ConditionalWrite, Directory, ErrorKind, Headers, Object, ObjectContent,
    StoreError,
};

/// Store that does this many writes and then fails. Every second failing write takes effect, like a
/// lost answer.
#[derive(Debug)]
pub struct Failing {
    bucket: Directory,
    pub remaining: AtomicUsize,
    lost: bool,
    encodes: bool,
    hidden: Option<RelPath>,
    /// Requests as `verb key`.
    pub requests: Mutex<Vec<String>>,
    /// Bytes of bodies that were read or written.
    pub bytes: AtomicU64,
}

impl Failing {
    pub fn new(bucket: Directory, remaining: usize, lost: bool) -> Self {
        Self {
            bucket,
            remaining: AtomicUsize::new(remaining),
            lost,
            encodes: false,
            hidden: None,
            requests: Mutex::default(),
            bytes: AtomicU64::new(0),
        }
    }

    /// Takes compressed pages, as S3 does.
    pub fn encoding(self) -> Self {
        Self { encodes: true, ..self }
    }

    /// Lists this object, and does not find it.
    pub fn hiding(self, key: &str) -> Self {
        Self { hidden: key.parse().ok(), ..self }
    }

    fn request(&self, verb: &str, key: &RelPath) {
        self.requests.lock().unwrap().push(format!("{verb} {key}"));
    }

    fn transfer(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
    }

    fn write<T>(
        &self,
        key: &RelPath,
        act: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let failed = || StoreError::of_key(ErrorKind::Unavailable, "failing", "write", key, "503");
        let before = self
            .remaining
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |remaining| remaining.checked_sub(1));
        match before {
            Ok(1) if self.lost => act().and(Err(failed())),
            Ok(_) => act(),
            Err(_) => Err(failed()),
        }
    }
}

impl Bucket for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        self.bucket.list(directory)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        self.request("head", key);
        if self.hidden.as_ref() == Some(key) {
            return Ok(None);
        }
        self.bucket.head(key)
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        self.request("get", key);
        if self.hidden.as_ref() == Some(key) {
            return Err(StoreError::of_key(ErrorKind::NotFound, "failing", "read", key, "404"));
        }
        let content = self.bucket.get(key, etag)?;
        self.transfer(content.object.size);
        Ok(content)
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        self.request("range", key);
        self.bucket.get_range(key, range, etag)
    }

    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        self.request("create", key);
        self.transfer(body.size().unwrap());
        self.write(key, || self.bucket.create(key, body, headers))
    }

    fn replace(
        &self,
        expected: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        self.request("replace", &expected.key);
        self.transfer(body.size().unwrap());
        self.write(&expected.key, || self.bucket.replace(expected, body, headers))
    }

    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError> {
        self.request("put", key);
        self.transfer(body.size().unwrap());
        self.write(key, || self.bucket.put(key, body, headers))
    }

    fn keeps_encoding(&self) -> bool {
        self.encodes
    }

    fn delete(&self, key: &RelPath) -> Result<(), StoreError> {
        self.request("delete", key);
        self.write(key, || self.bucket.delete(key))
    }
}
