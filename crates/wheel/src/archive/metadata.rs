//! Core metadata: METADATA in a wheel, PKG-INFO in an sdist (version 2.4, PEP 639).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use base::names::{DistName, RelPath};
use base::version::Version;

/// Core metadata without name and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// `Summary`.
    pub summary: String,
    /// `Description`, displayed by index servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// `License-Expression`.
    pub license: String,
    /// `Author`.
    pub author: String,
    /// `Project-URL: Homepage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_page: Option<String>,
    /// Other `Project-URL`s: labels and addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<(String, String)>,
    /// `Classifier`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classifiers: Vec<String>,
    /// `Keywords`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// `Requires-Python`.
    pub requires_python: String,
    /// `Requires-Dist`, verbatim.
    pub requires_dist: Vec<String>,
    /// `Provides-Extra`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provides_extra: Vec<String>,
}

/// Long description of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// `Description-Content-Type` without parameters: `text/markdown`, `text/x-rst` or
    /// `text/plain`.
    pub content_type: String,
    /// Text with a final line feed.
    pub text: String,
}

/// Invalid metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// Value with a line break.
    #[error("the metadata field {field} has a line break or control character: `{}`", .value.escape_debug())]
    LineBreak {
        /// Field.
        field: &'static str,
        /// Value.
        value: String,
    },
    /// Field without a value.
    #[error("the metadata field {field} is blank")]
    Blank {
        /// Field.
        field: &'static str,
    },
    /// Label with a comma.
    #[error("the label `{label}` of a project address has a comma")]
    Label {
        /// Label.
        label: String,
    },
}

impl Metadata {
    /// Formats METADATA or PKG-INFO. `license_files` are below `licenses/` or the top directory.
    pub fn render(
        &self,
        name: &DistName,
        version: &Version,
        license_files: &[RelPath],
    ) -> Result<String, MetadataError> {
        let mut fields = Fields(String::new());
        fields.push("Metadata-Version", "2.4")?;
        fields.push("Name", name.as_str())?;
        fields.push("Version", version.as_str())?;
        fields.push_present("Summary", &self.summary)?;
        if let Some(Description { content_type, .. }) = &self.description {
            fields.push("Description-Content-Type", &format!("{content_type}; charset=UTF-8"))?;
        }
        fields.push_present("Author", &self.author)?;
        fields.push_present("License-Expression", &self.license)?;
        fields.push_all("License-File", license_files.iter().map(RelPath::as_str))?;
        fields.push_all("Classifier", self.classifiers.iter().map(String::as_str))?;
        fields.push_present("Keywords", &self.keywords.join(","))?;
        if let Some(url) = &self.home_page {
            fields.url("Homepage", url)?;
        }
        for (label, url) in &self.urls {
            fields.url(label, url)?;
        }
        fields.push_present("Requires-Python", &self.requires_python)?;
        fields.push_all("Provides-Extra", self.provides_extra.iter().map(String::as_str))?;
        fields.push_all("Requires-Dist", self.requires_dist.iter().map(String::as_str))?;
        Ok(fields.with_body(self.description.as_ref().map(|description| &*description.text)))
    }
}

struct Fields(String);

impl Fields {
    fn push(&mut self, field: &'static str, value: &str) -> Result<(), MetadataError> {
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

    fn push_present(&mut self, field: &'static str, value: &str) -> Result<(), MetadataError> {
        if value.is_empty() { Ok(()) } else { self.push(field, value) }
    }

    fn push_all<'a>(
        &mut self,
        field: &'static str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), MetadataError> {
        values.into_iter().try_for_each(|value| self.push(field, value))
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
        self.push("Project-URL", &format!("{label}, {url}"))
    }

    fn with_body(self, body: Option<&str>) -> String {
        match body {
            Some(text) => format!("{}\n{}\n", self.0, text.trim_end()),
            None => self.0,
        }
    }
}

/// Old Python readers split headers with `str.splitlines`.
fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(metadata: &Metadata) -> Result<String, MetadataError> {
        let licenses = ["a/LICENSE".parse().unwrap()];
        let licenses = if metadata.license.is_empty() { &[] } else { &licenses[..] };
        metadata.render(&"My-Dist".parse().unwrap(), &"1.0".parse().unwrap(), licenses)
    }

    #[test]
    fn everything_has_its_field() {
        let full = Metadata {
            summary: "Does things — well".into(),
            description: Some(Description {
                content_type: "text/markdown".into(),
                text: "# Title\n\nText: more\n\n".into(),
            }),
            license: "MIT AND LicenseRef-Other".into(),
            author: "Somebody, Inc.".into(),
            home_page: Some("https://example.org".into()),
            urls: vec![("Source".into(), "https://example.org/source".into())],
            classifiers: vec!["Programming Language :: Python :: 3".into()],
            keywords: vec!["one".into(), "two".into()],
            requires_python: ">=3.10".into(),
            requires_dist: vec!["other==1.0".into(), "third==1.0; extra == \"extra\"".into()],
            provides_extra: vec!["extra".into()],
        };
        let expected = "\
Metadata-Version: 2.4
Name: My-Dist
Version: 1.0
Summary: Does things — well
Description-Content-Type: text/markdown; charset=UTF-8
Author: Somebody, Inc.
License-Expression: MIT AND LicenseRef-Other
License-File: a/LICENSE
Classifier: Programming Language :: Python :: 3
Keywords: one,two
Project-URL: Homepage, https://example.org
Project-URL: Source, https://example.org/source
Requires-Python: >=3.10
Provides-Extra: extra
Requires-Dist: other==1.0
Requires-Dist: third==1.0; extra == \"extra\"

# Title

Text: more
";
        assert_eq!(render(&full).unwrap(), expected);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let nothing = render(&Metadata::default()).unwrap();
        assert_eq!(nothing, "Metadata-Version: 2.4\nName: My-Dist\nVersion: 1.0\n");
    }

    #[test]
    fn no_value_smuggles_in_a_field() {
        for bad in ["a\nName: evil", "a\rb", "a\u{85}b", "a\u{2028}b", "a\0b"] {
            let error = render(&Metadata { summary: bad.into(), ..Metadata::default() });
            let field = MetadataError::LineBreak { field: "Summary", value: bad.into() };
            assert_eq!(error, Err(field));
            for metadata in [
                Metadata { requires_dist: vec![bad.into()], ..Metadata::default() },
                Metadata { urls: vec![("Label".into(), bad.into())], ..Metadata::default() },
            ] {
                assert!(render(&metadata).is_err());
            }
        }
    }

    #[test]
    fn a_field_has_a_value() {
        let said = |metadata: &Metadata| render(metadata).unwrap_err().to_string();
        let author = Metadata { author: " ".into(), ..Metadata::default() };
        assert_eq!(said(&author), "the metadata field Author is blank");
        let url = |label: &str, url: &str| Metadata {
            urls: vec![(label.into(), url.into())],
            ..Metadata::default()
        };
        assert_eq!(said(&url("Label", "")), "the metadata field Project-URL is blank");
        assert_eq!(
            said(&url("a, b", "https://example.org")),
            "the label `a, b` of a project address has a comma"
        );
    }
}
