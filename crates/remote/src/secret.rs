//! Secrets, which are never logged.

use std::fmt;

use base::text::base64_decoded;

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

    /// Returns the secret and its parts: `TOKEN` of `Bearer TOKEN`, and the decoded
    /// password of `Basic` (RFC 7617).
    fn parts(&self) -> Vec<String> {
        let rest = self.0.split_once(' ').map_or("", |(_, rest)| rest.trim());
        let pair = base64_decoded(rest).and_then(|pair| String::from_utf8(pair).ok());
        let password =
            pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, password)| password);
        let parts = [Some(&*self.0), Some(rest), pair.as_deref(), password];
        parts
            .into_iter()
            .flatten()
            .filter(|part| part.len() >= SHORTEST)
            .map(str::to_owned)
            .collect()
    }

    /// Removes the secrets and their parts from `text`, also where one begins like another.
    pub(super) fn hide<'s>(secrets: impl Iterator<Item = &'s Self>, text: &str) -> String {
        let mut parts: Vec<String> = secrets.flat_map(Self::parts).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts.iter().fold(text.to_owned(), |text, part| text.replace(part, "…"))
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
        for (secrets, text, shown) in [
            (&["Bearer abc-123"][..], "no `abc-123` here: Bearer abc-123", "no `…` here: …"),
            (&["abc-1", "abc-123"], "abc-123, abc-1", "…, …"),
            (&["Basic bWU6b3BlbiBpdA=="], "bWU6b3BlbiBpdA==: me:open it or open it", "…: … or …"),
        ] {
            let secrets: Vec<Secret> = secrets.iter().map(|secret| Secret::new(*secret)).collect();
            assert_eq!(Secret::hide(secrets.iter(), text), shown);
        }
    }
}
