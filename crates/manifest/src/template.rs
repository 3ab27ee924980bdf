//! Names with a placeholder for the target: `rocm-sdk-device-{isa}`.

use std::fmt;
use std::str::FromStr;

use base::target::Variant;

/// A text that may have a placeholder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template(String);

impl Template {
    /// Creates an unchecked template.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text with its placeholder.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it has a placeholder.
    pub fn has_placeholder(&self) -> bool {
        self.placeholders().next().is_some()
    }

    /// Returns the text for some target, for checks.
    pub fn filled(&self) -> String {
        let mut text = self.0.clone();
        for placeholder in self.placeholders() {
            text = text.replace(&format!("{{{placeholder}}}"), "x");
        }
        text
    }

    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.split('{').skip(1).map(|rest| rest.split_once('}').map_or(rest, |(name, _)| name))
    }

    /// Returns the text for a target.
    pub fn fill(&self, variant: &Variant) -> String {
        variant.fill(&self.0)
    }

    /// Returns the text for a target as an identifier, with `_` for other characters.
    pub fn fill_identifier(&self, variant: &Variant) -> String {
        self.fill(variant).replace(['-', '.'], "_")
    }
}

/// Unknown placeholder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` has an unknown placeholder `{{{placeholder}}}`")]
pub struct TemplateError {
    pub text: String,
    /// The placeholder's name.
    pub placeholder: String,
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let template = Self::new(text);
        // The line's reader knows the splits.
        let is_word = |p: &&str| !p.is_empty() && p.chars().all(|c| c.is_ascii_lowercase());
        let unknown = template.placeholders().find(|p| !is_word(p)).map(str::to_owned);
        match unknown {
            Some(placeholder) => Err(TemplateError { text: text.to_owned(), placeholder }),
            None => Ok(template),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
