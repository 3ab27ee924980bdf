//! Core metadata: what METADATA in a wheel and PKG-INFO in an sdist say (version 2.4, PEP 639 and 643).

use std::fmt::Write as _;

use crate::names::{DistName, RelPath};
use crate::version::Version;

/// A distribution's metadata. Texts stand in the file exactly as they are here.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// The distribution.
    pub name: DistName,
    /// Its version.
    pub version: Version,
    /// Fields that an sdist leaves to the build of its wheel.
    pub dynamic: Vec<Dynamic>,
    /// One line.
    pub summary: Option<String>,
    /// Any number of lines.
    pub description: Option<Description>,
    /// Who made it, one line.
    pub author: Option<String>,
    /// How to reach them, as in a mail's header (RFC 822).
    pub author_email: Option<String>,
    /// SPDX licence expression.
    pub license: Option<String>,
    /// Licence texts, relative to `licenses/` of the metadata directory or to the top of the sdist.
    pub license_files: Vec<RelPath>,
    /// Trove classifiers.
    pub classifiers: Vec<String>,
    /// Words to search for.
    pub keywords: Vec<String>,
    /// Labels and addresses; the home page has the label `Homepage`.
    pub urls: Vec<(String, String)>,
    /// Version specifier of the Python versions that it runs with.
    pub requires_python: Option<String>,
    /// Extras that may be asked for.
    pub extras: Vec<String>,
    /// Requirements (PEP 508).
    pub requires: Vec<String>,
}

/// The long description, the file's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// What it is written in: `text/markdown`, `text/x-rst` or `text/plain`.
    pub content_type: String,
    /// Its text.
    pub text: String,
}

/// A field whose value is only known when a wheel is built. Spelled exactly as installers
/// compare it: uv takes any other spelling for a field that it may read statically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dynamic {
    /// Requirements.
    RequiresDist,
    /// Extras.
    ProvidesExtra,
}

impl Dynamic {
    /// The field's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RequiresDist => "Requires-Dist",
            Self::ProvidesExtra => "Provides-Extra",
        }
    }
}

/// Metadata that cannot be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// What follows a line break would be read as another field.
    #[error("the metadata field {field} has a line break or control character: `{}`", .value.escape_debug())]
    LineBreak {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A field without a value.
    #[error("the metadata field {field} is blank")]
    Blank {
        /// The field.
        field: &'static str,
    },
    /// A comma ends the label.
    #[error("the label `{label}` of a project address has a comma")]
    Label {
        /// The label.
        label: String,
    },
}

impl Metadata {
    /// Metadata with a name and a version and nothing else.
    pub fn new(name: DistName, version: Version) -> Self {
        Self {
            name,
            version,
            dynamic: Vec::new(),
            summary: None,
            description: None,
            author: None,
            author_email: None,
            license: None,
            license_files: Vec::new(),
            classifiers: Vec::new(),
            keywords: Vec::new(),
            urls: Vec::new(),
            requires_python: None,
            extras: Vec::new(),
            requires: Vec::new(),
        }
    }

    /// The file's content.
    ///
    /// # Errors
    /// When a value is blank or has a line break or a control character.
    pub fn render(&self) -> Result<String, MetadataError> {
        let mut fields = Fields(String::new());
        fields.one("Metadata-Version", "2.4")?;
        fields.one("Name", self.name.as_str())?;
        fields.one("Version", self.version.as_str())?;
        fields.all("Dynamic", self.dynamic.iter().map(|field| field.as_str()))?;
        fields.all("Summary", self.summary.as_deref())?;
        if let Some(Description { content_type, .. }) = &self.description {
            fields.one("Description-Content-Type", &format!("{content_type}; charset=UTF-8"))?;
        }
        fields.all("Author", self.author.as_deref())?;
        fields.all("Author-email", self.author_email.as_deref())?;
        fields.all("License-Expression", self.license.as_deref())?;
        fields.all("License-File", self.license_files.iter().map(RelPath::as_str))?;
        fields.all("Classifier", self.classifiers.iter().map(String::as_str))?;
        if !self.keywords.is_empty() {
            fields.one("Keywords", &self.keywords.join(","))?;
        }
        for (label, url) in &self.urls {
            fields.url(label, url)?;
        }
        fields.all("Requires-Python", self.requires_python.as_deref())?;
        fields.all("Provides-Extra", self.extras.iter().map(String::as_str))?;
        fields.all("Requires-Dist", self.requires.iter().map(String::as_str))?;
        Ok(fields.with_body(self.description.as_ref().map(|description| &*description.text)))
    }
}

/// The lines of the header.
struct Fields(String);

impl Fields {
    fn one(&mut self, field: &'static str, value: &str) -> Result<(), MetadataError> {
        if value.trim().is_empty() {
            return Err(MetadataError::Blank { field });
        }
        if value.contains(breaks_line) {
            return Err(MetadataError::LineBreak { field, value: value.to_owned() });
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{field}: {value}");
        Ok(())
    }

    fn all<'a>(
        &mut self,
        field: &'static str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), MetadataError> {
        values.into_iter().try_for_each(|value| self.one(field, value))
    }

    fn url(&mut self, label: &str, url: &str) -> Result<(), MetadataError> {
        if label.contains(',') {
            return Err(MetadataError::Label { label: label.to_owned() });
        }
        for part in [label, url] {
            if part.trim().is_empty() {
                return Err(MetadataError::Blank { field: "Project-URL" });
            }
        }
        self.one("Project-URL", &format!("{label}, {url}"))
    }

    fn with_body(self, body: Option<&str>) -> String {
        match body {
            Some(text) => format!("{}\n{}\n", self.0, text.trim_end()),
            None => self.0,
        }
    }
}

/// Whether a reader may take `c` for the end of a line. Older readers in Python split header
/// lines where `str.splitlines` does, which is more than line feeds.
fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        Metadata::new("My-Dist".parse().unwrap(), "1.0".parse().unwrap())
    }

    #[test]
    fn everything_has_its_field() {
        let full = Metadata {
            dynamic: vec![Dynamic::RequiresDist, Dynamic::ProvidesExtra],
            summary: Some("Does things — well".into()),
            description: Some(Description {
                content_type: "text/markdown".into(),
                text: "# Title\n\nText: more\n\n".into(),
            }),
            author: Some("Somebody, Inc.".into()),
            author_email: Some("Some Body <some@body.example>".into()),
            license: Some("MIT AND LicenseRef-Other".into()),
            license_files: vec!["a/LICENSE".parse().unwrap()],
            classifiers: vec!["Programming Language :: Python :: 3".into()],
            urls: vec![("Homepage".into(), "https://example.org".into())],
            requires_python: Some(">=3.10".into()),
            extras: vec!["extra".into()],
            requires: vec!["other==1.0".into(), "third==1.0; extra == \"extra\"".into()],
            ..metadata()
        };
        let expected = "\
Metadata-Version: 2.4
Name: My-Dist
Version: 1.0
Dynamic: Requires-Dist
Dynamic: Provides-Extra
Summary: Does things — well
Description-Content-Type: text/markdown; charset=UTF-8
Author: Somebody, Inc.
Author-email: Some Body <some@body.example>
License-Expression: MIT AND LicenseRef-Other
License-File: a/LICENSE
Classifier: Programming Language :: Python :: 3
Project-URL: Homepage, https://example.org
Requires-Python: >=3.10
Provides-Extra: extra
Requires-Dist: other==1.0
Requires-Dist: third==1.0; extra == \"extra\"

# Title

Text: more
";
        assert_eq!(full.render().unwrap(), expected);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        assert_eq!(
            metadata().render().unwrap(),
            "Metadata-Version: 2.4\nName: My-Dist\nVersion: 1.0\n"
        );
    }

    #[test]
    fn no_value_smuggles_in_a_field() {
        for bad in ["a\nName: evil", "a\rb", "a\u{85}b", "a\u{2028}b", "a\0b"] {
            let error = Metadata { summary: Some(bad.into()), ..metadata() }.render().unwrap_err();
            assert_eq!(error, MetadataError::LineBreak { field: "Summary", value: bad.into() });
            assert!(Metadata { requires: vec![bad.into()], ..metadata() }.render().is_err());
            assert!(
                Metadata { urls: vec![("Label".into(), bad.into())], ..metadata() }
                    .render()
                    .is_err()
            );
        }
    }

    #[test]
    fn a_field_has_a_value() {
        let error = Metadata { author: Some(" ".into()), ..metadata() }.render().unwrap_err();
        assert_eq!(error.to_string(), "the metadata field Author is blank");
        assert!(
            Metadata { urls: vec![("Label".into(), String::new())], ..metadata() }
                .render()
                .is_err()
        );
        let error =
            Metadata { urls: vec![("a, b".into(), "https://example.org".into())], ..metadata() }
                .render()
                .unwrap_err();
        assert_eq!(error.to_string(), "the label `a, b` of a project address has a comma");
    }
}
