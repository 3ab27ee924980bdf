//! Secrets, which are never logged.

use std::fmt;

/// A text that is sent but never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Removes the secret from `text`, and its part after the first word: `Bearer TOKEN` hides
    /// `TOKEN`.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let last = self.0.split_once(' ').map_or("", |(_, rest)| rest);
        let parts = [self.0.as_str(), last];
        let known = parts.into_iter().filter(|part| part.len() >= SHORTEST);
        known.fold(text.to_owned(), |text, part| text.replace(part, "…"))
    }
}

/// Shorter texts occur in any message.
const SHORTEST: usize = 4;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("Bearer abc-123");
        assert_eq!(format!("{secret:?}"), "…");
        assert_eq!(secret.hidden_in("no `abc-123` here: Bearer abc-123"), "no `…` here: …");
    }
}
