//! Object stores: flat key spaces with reads, creation, and replacement by comparison.
//!
//! **Atomic.** After an error with unknown outcome, repeat the call; on [`ConditionalWrite::Refused`],
//! compare the bytes: an earlier attempt may have written them.
//!
//! **Retries.** Pauses grow and are random. A retry resumes a body if the entity tag is unchanged.

use std::fmt::{Debug, Write as _};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base::event::Listener;
use base::names::RelPath;

mod directory;
mod error;
mod location;
#[cfg(feature = "stores")]
mod remote;
#[cfg(test)]
mod tests;
mod whole;

pub use directory::Directory;
pub use error::{ErrorKind, StoreError};

use location::Location;

/// Limit of one request in bytes: 5 GiB, as in S3.
pub const LARGEST: u64 = 5 << 30;

/// Access and retries.
#[derive(Debug, Clone)]
pub struct Options {
    /// Authentication.
    pub access: Access,
    /// Number of retries.
    pub retries: usize,
    /// Pause before the first retry.
    pub pause: Duration,
    /// Silence after which a connection counts as broken, and interval in which a body must make the
    /// least progress.
    pub stall: Duration,
    /// Longest time of one call without progress, all retries included.
    pub patience: Duration,
    /// Origin of the URL.
    pub url_origin: UrlOrigin,
    /// Receiver of requests to stores behind URLs.
    pub listener: Option<Listener>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            access: Access::Any,
            retries: 8,
            pause: Duration::from_millis(200),
            stall: Duration::from_secs(30),
            patience: Duration::from_mins(1),
            url_origin: UrlOrigin::User,
            listener: None,
        }
    }
}

/// Authentication. Credentials, region, endpoint and `ALLOW_HTTP` are environment variables with
/// the prefixes `AWS_`, `GOOGLE_` and `AZURE_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Signs requests if the environment has credentials.
    #[default]
    Any,
    /// Never signs requests.
    Anonymous,
    /// Always signs requests; without credentials, asks the machine's role.
    Signed,
}

/// Origin of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UrlOrigin {
    /// Command line, manifest or environment.
    #[default]
    User,
    /// Page of an index: its link must not lead to the machine's link-local network.
    Page,
}

/// Metadata of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Key below the opened location.
    pub key: RelPath,
    /// Size in bytes.
    pub size: u64,
    /// Entity tag; few servers have none.
    pub etag: Option<String>,
    /// Generation number in `gs://`, for [`Bucket::replace`]. Missing in listings.
    pub version: Option<String>,
    /// SHA-256 from [`Headers::sha256`]. Missing in listings.
    pub sha256: Option<String>,
    /// Time of the last write.
    pub modified: Option<SystemTime>,
}

/// An object with its body.
pub struct ObjectContent {
    /// Metadata of the same response.
    pub object: Object,
    /// Body. Fails if shorter than the size.
    pub body: Box<dyn Read + Send>,
}

/// Content to write.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// Memory-mapped file, which must not change during the call.
    File(&'a Path),
}

/// Headers of an object. Directories ignore them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers<'a> {
    /// `Content-Type`.
    pub content_type: &'a str,
    /// `Cache-Control`; omitted if empty.
    pub cache_control: &'a str,
    /// `Content-Encoding` of the bytes; omitted if empty.
    pub content_encoding: &'a str,
    /// SHA-256 in hexadecimal, returned in [`Object::sha256`].
    pub sha256: Option<&'a str>,
}

/// Result of a conditional write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionalWrite {
    /// Metadata of the written object.
    Done(Object),
    /// The condition failed.
    Refused,
}

impl ConditionalWrite {
    /// True if the object was written.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// A location with objects.
pub trait Bucket: Debug + Send + Sync {
    /// URL or path, without secrets.
    fn name(&self) -> &str;

    /// Lists objects below `directory`, or all, sorted by key. Web servers have no listing.
    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError>;

    /// Metadata, if the object exists.
    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError>;

    /// Opens an object. With `etag`, requires this entity tag.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`], [`ErrorKind::Changed`].
    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError>;

    /// Opens an object, unless it is still `cached`. Directories, and servers without entity tags
    /// and times, always return it.
    fn get_changed(&self, cached: &Object) -> Result<Option<ObjectContent>, StoreError> {
        self.get(&cached.key, None).map(Some)
    }

    /// Reads `range` of an object. With `etag`, requires this entity tag.
    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError>;

    /// Creates an object unless the key exists.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooLarge`] above [`LARGEST`].
    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError>;

    /// Replaces an object if it is still `expected`.
    ///
    /// # Errors
    /// As [`Bucket::create`]; [`ErrorKind::Unsupported`] if `expected` has neither entity tag nor
    /// generation number.
    fn replace(
        &self,
        expected: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError>;

    /// Creates or replaces an object.
    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError>;

    /// True if readers of an object get its `Content-Encoding` as a header.
    fn keeps_encoding(&self) -> bool {
        false
    }

    /// Checks before the first write that a directory is writable, and that a store behind a URL
    /// respects the conditions of writes. Writes a small object for it.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] or [`ErrorKind::Local`] without write access;
    /// [`ErrorKind::Unsupported`] if concurrent writers could lose pages.
    fn check_writes(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Removes an object, if it exists.
    fn delete(&self, key: &RelPath) -> Result<(), StoreError>;
}

/// Opens a directory or URL (`file://`; with the feature `stores` `s3://`, `gs://`, `az://`,
/// `https://`, `http://`).
///
/// # Errors
///
/// [`ErrorKind::Invalid`], [`ErrorKind::Unsupported`].
pub fn open(url: &str, options: &Options) -> Result<Box<dyn Bucket>, StoreError> {
    match Location::parse(url)? {
        Location::Directory(path) => Ok(Box::new(Directory::new(&path))),
        #[cfg(feature = "stores")]
        Location::Remote(url) => Ok(Box::new(remote::Remote::open(&url, options)?)),
        #[cfg(not(feature = "stores"))]
        Location::Remote(url) => {
            let _ = options;
            Err(StoreError::new(
                ErrorKind::Unsupported,
                &url,
                "this rockpack was built without the feature `stores`: build it with `cargo build \
                 --features stores`, or use a released program",
            ))
        }
    }
}

/// Returns true for URLs, also without slashes.
pub fn is_url(text: &str) -> bool {
    text.contains("://") || location::cut_scheme(text).is_some()
}

/// Returns true for web servers, which are read-only.
pub fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

impl ObjectContent {
    /// Reads the whole body.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooLarge`] above `most` bytes.
    pub fn bytes(mut self, bucket: &dyn Bucket, most: u64) -> Result<Vec<u8>, StoreError> {
        let (key, name) = (&self.object.key, bucket.name());
        let mut bytes = Vec::new();
        let read = self.body.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| StoreError::of_read(name, key, &error))?;
        if bytes.len() as u64 > most {
            let text = format!("it is larger than the limit of {most} bytes");
            return Err(StoreError::of_key(ErrorKind::TooLarge, name, "read", key, &text));
        }
        Ok(bytes)
    }
}

impl Debug for ObjectContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectContent").field("object", &self.object).finish_non_exhaustive()
    }
}

impl Body<'_> {
    /// Size in bytes.
    pub fn size(&self) -> std::io::Result<u64> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
            Self::File(path) => Ok(fs_err::metadata(path)?.len()),
        }
    }
}

fn below(directory: Option<&RelPath>, key: &str) -> String {
    let mut path = String::new();
    if let Some(directory) = directory {
        let _ = write!(path, "{directory}/");
    }
    path + key
}
