use serde::{Deserialize, Serialize};

/// A remark that needs no action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// One sentence.
    pub text: String,
    /// Manifest line that expects it and gives the reason: `packages.kdl:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A warning, with the texts that messages show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Problem code: `unresolved-library`.
    pub code: String,
    /// Description of the problem.
    pub message: String,
    /// Manifest lines concerned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Labelled>,
    /// Remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Reason from a manifest line that expects the warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Note>,
}

/// A manifest line with a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    /// Manifest line: `packages.kdl:12`.
    pub rule: String,
    /// Label.
    pub text: String,
}

impl Note {
    /// Note with its manifest line in parentheses.
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
