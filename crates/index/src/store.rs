//! Object stores: flat spaces of keys that are read, created once, and replaced by comparison.
//!
//! [`open`] takes a directory, a `file://` URL, or, with the feature `stores`, `s3://`, `gs://`, `az://`,
//! `https://` and `http://` (crate `object_store`). Everything here blocks and may be called from many threads
//! at once; the runtime that the network needs stays inside.
//!
//! **Whole or not at all.** An object appears with all its bytes. [`Bucket::create`] never replaces one, and
//! [`Bucket::replace`] only what it is told to. Both may be asked again after an error that does not tell
//! whether the store has the bytes: the answer is then [`Created::Exists`] or [`Replaced::Changed`], and the
//! caller compares.
//!
//! **Tries.** What a store may answer better the next time (5xx, 429, connections that break or stall) is asked
//! again with growing, random pauses, also in the middle of a body, whose entity tag has to be the same then.
//! Then there is an error that names the key. No error contains a secret.

use std::fmt::{Debug, Write as _};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

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

/// The most bytes that a store takes in one request: 5 GiB is what S3 takes. Larger objects go up in parts, and
/// no store lets parts appear only where nothing is.
pub const LARGEST: u64 = 5 << 30;

/// How a store is talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Who asks.
    pub access: Access,
    /// How often a request is made again.
    pub retries: usize,
    /// The first pause between tries; later ones are longer, and random.
    pub pause: Duration,
    /// How long no byte may come before a connection counts as broken.
    pub stall: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let (pause, stall) = (Duration::from_millis(200), Duration::from_secs(30));
        Self { access: Access::Any, retries: 8, pause, stall }
    }
}

/// Who asks. Credentials, region, endpoint and `ALLOW_HTTP` are what the environment says in the variables that
/// begin with `AWS_`, `GOOGLE_` and `AZURE_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Requests are signed when the environment has credentials; otherwise the store has to be public.
    #[default]
    Any,
    /// Requests are not signed, whatever the environment has.
    Anonymous,
    /// Requests are signed; without credentials in the environment, the machine's role is asked for some.
    Signed,
}

/// What a store says of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its key below the place that was opened.
    pub key: RelPath,
    /// How many bytes it has.
    pub size: u64,
    /// What stands for its bytes; a few servers have none.
    pub etag: Option<String>,
    /// The store's own number of this content, where [`Bucket::replace`] goes by that (`gs://`). Lists do not
    /// have it.
    pub version: Option<String>,
    /// The SHA-256 that [`Headers::sha256`] left with it. Lists do not have it.
    pub sha256: Option<String>,
    /// When the store got these bytes.
    pub modified: Option<SystemTime>,
}

/// An object with its bytes.
pub struct Content {
    /// What the store says of it, in the same answer.
    pub object: Object,
    /// Its bytes. When fewer come than the object has, reading fails.
    pub body: Box<dyn Read + Send>,
}

/// What an object is to be made of.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// Those of a file, which nobody may change meanwhile. It is mapped, and so takes no memory that the system
    /// could not take back.
    File(&'a Path),
}

/// What a store says with an object when somebody fetches it. Directories keep none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers<'a> {
    /// `Content-Type`.
    pub content_type: &'a str,
    /// `Cache-Control`; nothing when it is empty.
    pub cache_control: &'a str,
    /// The SHA-256 of the bytes in hexadecimal digits, for whoever compares: it comes back in [`Object::sha256`].
    pub sha256: Option<&'a str>,
}

/// What became of [`Bucket::create`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The object is there now.
    Created,
    /// There was one of this key, which stays as it is.
    Exists,
}

/// What became of [`Bucket::replace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// The object has the new bytes.
    Replaced,
    /// The object is not what it was, or is gone. It stays as it is.
    Changed,
}

/// A place where objects are.
pub trait Bucket: Debug + Send + Sync {
    /// What it is, for people: URL or path, without anything secret.
    fn name(&self) -> &str;

    /// All objects below `directory`, or all there are, sorted by key. Keys that are no [`RelPath`] are left out.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] of a plain web server, which has no lists.
    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError>;

    /// What the store says of an object; `None` when there is none.
    ///
    /// # Errors
    /// When the store does not answer, or does not let this be read.
    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError>;

    /// An object with its bytes. With `etag`, only if its entity tag is that one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::Changed`], and as [`Bucket::head`].
    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<Content, StoreError>;

    /// Some bytes of an object: all of `range`, or an error. With `etag`, as [`Bucket::get`].
    ///
    /// # Errors
    /// As [`Bucket::get`], and when the object ends before `range` does.
    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError>;

    /// Makes an object unless there is one of this key.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] above [`LARGEST`], and when the store does not take it.
    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Created, StoreError>;

    /// Replaces an object if it still is `was`, as [`Bucket::get`] or [`Bucket::head`] told it.
    ///
    /// # Errors
    /// As [`Bucket::create`]; and [`ErrorKind::Unsupported`] when `was` has nothing to compare by.
    fn replace(
        &self,
        was: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Replaced, StoreError>;

    /// Makes an object, or replaces whatever is there.
    ///
    /// # Errors
    /// As [`Bucket::create`].
    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError>;

    /// Removes an object; one that is not there is no error.
    ///
    /// # Errors
    /// When the store does not do it.
    fn delete(&self, key: &RelPath) -> Result<(), StoreError>;
}

/// Opens the place that `url` names: a directory, or a URL. Keys are relative to it. Nothing is asked yet, except
/// in which region an `s3://` bucket is when the environment does not say.
///
/// # Errors
/// [`ErrorKind::Invalid`] when `url` is no place, or has a password in it; [`ErrorKind::Unsupported`] when this
/// program cannot go there.
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
                 --features stores`, or take a released program, which has it",
            ))
        }
    }
}

/// Whether `text` is meant as a URL, rather than as a path. It can be one that lacks a slash, which [`open`]
/// refuses.
pub fn is_url(text: &str) -> bool {
    text.contains("://") || location::cut_scheme(text).is_some()
}

/// Whether an address is on a web server, which is only read.
pub fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

impl Content {
    /// All bytes of an object that has at most `most` of them.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] when it has more, and when it cannot be read.
    pub fn bytes(mut self, bucket: &dyn Bucket, most: u64) -> Result<Vec<u8>, StoreError> {
        let (key, name) = (&self.object.key, bucket.name());
        let mut bytes = Vec::new();
        let read = self.body.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| StoreError::of_read(name, key, &error))?;
        if bytes.len() as u64 > most {
            let text = format!("it is larger than {most} bytes, the limit for it");
            return Err(StoreError::of_key(ErrorKind::TooLarge, name, "read", key, &text));
        }
        Ok(bytes)
    }
}

impl Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("object", &self.object).finish_non_exhaustive()
    }
}

impl Body<'_> {
    /// How many bytes there are.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn size(&self) -> std::io::Result<u64> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
            Self::File(path) => Ok(fs_err::metadata(path)?.len()),
        }
    }
}

/// `directory/key`, where the directory may be the top.
fn below(directory: Option<&RelPath>, key: &str) -> String {
    let mut path = String::new();
    if let Some(directory) = directory {
        // Writing to a String cannot fail.
        let _ = write!(path, "{directory}/");
    }
    path + key
}
