//! Core metadata of a package: METADATA of a wheel, PKG-INFO of an sdist.

use std::collections::BTreeSet;

use super::Header;
use crate::archive::metadata as said;
use base::names::Requirement;
use base::names::{DistName, NameError, normalized};
use base::version::{Version, VersionError};

/// Core metadata.
#[derive(Debug, Clone)]
pub struct Metadata(Header);

/// Missing or invalid required field.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// Missing field.
    #[error("its metadata has no {0}")]
    Missing(&'static str),
    /// Invalid distribution name.
    #[error("its metadata has a malformed name")]
    Name(#[from] NameError),
    /// Invalid version.
    #[error("its metadata has a malformed version")]
    Version(#[from] VersionError),
}

impl Metadata {
    /// Parses core metadata.
    pub fn parse(text: &str) -> Self {
        Self(Header::parse(text))
    }

    /// First value of a field.
    pub fn first(&self, field: &str) -> Option<&str> {
        self.0.first(field)
    }

    /// All fields.
    pub fn header(&self) -> &Header {
        &self.0
    }

    /// All values of a field.
    pub fn all(&self, field: &str) -> Vec<String> {
        self.0.all(field)
    }

    /// Name of the distribution.
    pub fn name(&self) -> Result<DistName, FieldError> {
        Ok(self.first("Name").ok_or(FieldError::Missing("Name"))?.parse()?)
    }

    /// Returns the version.
    pub fn version(&self) -> Result<Version, FieldError> {
        Ok(self.first("Version").ok_or(FieldError::Missing("Version"))?.parse()?)
    }

    /// Normalized extras; ignores invalid names.
    pub fn extras(&self) -> BTreeSet<String> {
        self.all("Provides-Extra").iter().filter_map(|extra| normalized(extra)).collect()
    }

    /// Requirements; an error contains the malformed text.
    pub fn requirements(&self) -> impl Iterator<Item = Result<Requirement, String>> {
        self.all("Requires-Dist").into_iter().map(|text| text.parse().map_err(|_| text))
    }

    /// Fields that plans also contain.
    pub fn described(&self) -> said::Metadata {
        let first = |field| self.first(field).unwrap_or_default().to_owned();
        let urls = self.all("Project-URL");
        let pairs = urls.iter().filter_map(|url| url.split_once(','));
        let (home, urls): (Vec<_>, Vec<_>) = pairs
            .map(|(label, url)| (label.trim().to_owned(), url.trim().to_owned()))
            .partition(|(label, _)| label == "Homepage");
        let keywords = first("Keywords");
        said::Metadata {
            summary: first("Summary"),
            description: self.description(),
            license: first("License-Expression"),
            author: first("Author"),
            home_page: home.into_iter().next().map(|(_, url)| url),
            urls,
            classifiers: self.all("Classifier"),
            keywords: keywords
                .split(',')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
            requires_python: first("Requires-Python"),
            requires_dist: self.all("Requires-Dist"),
            provides_extra: self.all("Provides-Extra"),
        }
    }

    fn description(&self) -> Option<said::Description> {
        let text = self.0.body()?.trim_end();
        let kind = self.first("Description-Content-Type").unwrap_or("text/plain");
        let content_type = kind.split(';').next().unwrap_or_default().trim().to_owned();
        (!text.is_empty()).then(|| said::Description { content_type, text: format!("{text}\n") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_mails_are() {
        let metadata = Metadata::parse(
            "Name: a-b\nSummary: one\n  two\nrequires-dist: x; extra == \"y\"\nRequires-Dist: z\n\nName: body\n",
        );
        assert_eq!(metadata.all("name"), ["a-b"]);
        let described = metadata.described();
        assert_eq!(described.summary, "one\ntwo");
        let body = described.description.unwrap();
        assert_eq!((&*body.content_type, &*body.text), ("text/plain", "Name: body\n"));
        assert_eq!(described.requires_dist, ["x; extra == \"y\"", "z"]);
        assert_eq!(metadata.version().unwrap_err().to_string(), "its metadata has no Version");
    }
}
