//! `version.json`: the version that a branch works on.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Date, DateError};

/// Content of `version.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Numbers with dots between them.
    pub version: String,
    /// Start date of a release branch.
    pub date: Option<Date>,
}

/// Fault of a `version.json`.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// Wrong JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Missing version.
    #[error("it has no text `{0}`")]
    Missing(String),
    /// Malformed version.
    #[error("`{0}` is not a version of numbers with dots between them")]
    Version(String),
    /// Malformed date.
    #[error("release-metadata.base-date: {0}")]
    Date(#[from] DateError),
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "release-metadata", default)]
    metadata: Metadata,
    #[serde(flatten)]
    others: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(rename = "base-date", default)]
    base_date: String,
}

impl Base {
    /// A base version without a date.
    ///
    /// # Errors
    ///
    /// Fails if it is not dotted numbers, with an optional `.postN`.
    pub fn new(version: &str) -> Result<Self, BaseError> {
        let (numbers, post) = match version.split_once(".post") {
            Some((numbers, post)) => (numbers, Some(post)),
            None => (version, None),
        };
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if numbers.split('.').chain(post).all(is_number) {
            return Ok(Self { version: version.to_owned(), date: None });
        }
        Err(BaseError::Version(version.to_owned()))
    }

    /// Reads a `version.json`. An empty date is no date.
    ///
    /// # Errors
    ///
    /// Fails if it is not JSON, lacks `PRODUCT-version`, or its version or date is malformed.
    pub fn read(text: &str, product: &str) -> Result<Self, BaseError> {
        let file: File = serde_json::from_str(text)?;
        let key = format!("{product}-version");
        let version = file.others.get(&key).and_then(serde_json::Value::as_str);
        let version = version.ok_or(BaseError::Missing(key))?;
        let date = match &*file.metadata.base_date {
            "" => None,
            date => Some(date.parse()?),
        };
        Ok(Self { date, ..Self::new(version)? })
    }
}
