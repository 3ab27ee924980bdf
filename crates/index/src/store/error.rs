use std::io;

use base::names::RelPath;

/// Failed request, with store and key, without secrets.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct StoreError {
    /// Kind.
    pub kind: ErrorKind,
    text: String,
}

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// No such object.
    NotFound,
    /// Another version than requested.
    Changed,
    /// Missing credentials or permission.
    Denied,
    /// Unsupported by the store or by this program.
    Unsupported,
    /// Above a size limit.
    TooLarge,
    /// Invalid argument: a URL or setting.
    Invalid,
    /// No valid response after all retries.
    Unavailable,
    /// Local file error.
    Local,
}

impl ErrorKind {
    pub(crate) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Local,
        }
    }
}

impl StoreError {
    /// Error of a store.
    pub fn new(kind: ErrorKind, store: &str, text: &str) -> Self {
        Self { kind, text: format!("`{store}`: {text}") }
    }

    /// `verb` is the attempted action ("read").
    pub fn of_key(kind: ErrorKind, store: &str, verb: &str, key: &RelPath, text: &str) -> Self {
        Self { kind, text: format!("cannot {verb} `{key}` in `{store}`: {text}") }
    }

    pub(crate) fn of_read(store: &str, key: &RelPath, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::UnexpectedEof => ErrorKind::Unavailable,
            _ => ErrorKind::of_io(error),
        };
        Self::of_key(kind, store, "read", key, &error.to_string())
    }

    pub(crate) fn of_io(store: &str, verb: &str, key: &RelPath, error: &io::Error) -> Self {
        Self::of_key(ErrorKind::of_io(error), store, verb, key, &error.to_string())
    }
}
