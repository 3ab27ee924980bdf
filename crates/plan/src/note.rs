//! What is said of a plan beside its files.

use serde::{Deserialize, Serialize};

/// What is worth knowing though nothing is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Note {
    /// A sentence.
    pub text: String,
    /// The line of the manifest that expects it and gives the reason: `packages.kdl:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A warning, as messages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Its kind: `unresolved-library`.
    pub code: String,
    /// What is doubtful.
    pub message: String,
    /// The lines of the manifest that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Labelled>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Why it is expected, where a line of the manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Note>,
}

/// A line of the manifest, and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Labelled {
    /// The line: `packages.kdl:12`.
    pub rule: String,
    /// What is said of it.
    pub text: String,
}

impl Note {
    /// The note, with the line that gives its reason.
    pub fn shown(&self) -> String {
        match &self.rule {
            Some(rule) => format!("{} ({rule})", self.text),
            None => self.text.clone(),
        }
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self { text, rule: None }
    }
}

impl PartialEq<str> for Note {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}
