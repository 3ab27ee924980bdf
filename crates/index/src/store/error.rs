//! Why a store did not do what it was asked.

use std::io;

use base::names::RelPath;

/// A request that failed. It names the store and the key, and contains no secret.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct StoreError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    text: String,
}

/// What a caller may want to know of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such object.
    NotFound,
    /// The object is not the one that was asked for.
    Changed,
    /// The store wants other credentials, or more rights.
    Denied,
    /// The store cannot do this, or this program cannot.
    Unsupported,
    /// The bytes are more than fit.
    TooLarge,
    /// What was asked makes no sense: a URL, a setting.
    Invalid,
    /// The store did not answer, or not in order, also after all tries.
    Unavailable,
    /// A file here could not be read or written.
    Local,
}

impl ErrorKind {
    /// The kind of an error of the system.
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Local,
        }
    }
}

impl StoreError {
    /// A failure that is about a store as such.
    pub fn new(kind: ErrorKind, store: &str, text: &str) -> Self {
        Self { kind, text: format!("`{store}`: {text}") }
    }

    /// A failure at an object: `verb` is what was tried ("read").
    pub fn of_key(kind: ErrorKind, store: &str, verb: &str, key: &RelPath, text: &str) -> Self {
        Self { kind, text: format!("cannot {verb} `{key}` in `{store}`: {text}") }
    }

    /// A failure while the bytes of an object are read.
    pub fn of_read(store: &str, key: &RelPath, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::UnexpectedEof => ErrorKind::Unavailable,
            _ => ErrorKind::of_io(error),
        };
        Self::of_key(kind, store, "read", key, &error.to_string())
    }

    /// The system's failure at an object.
    pub(super) fn of_io(store: &str, verb: &str, key: &RelPath, error: &io::Error) -> Self {
        Self::of_key(ErrorKind::of_io(error), store, verb, key, &error.to_string())
    }
}
