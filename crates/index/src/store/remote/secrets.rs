//! Redaction of secrets in errors.

use std::env;

/// Secrets in variables, which servers and libraries can echo.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

const FAMILIES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "SAS", "PASSWORD", "CREDENTIAL"];
/// Shorter values occur in ordinary text.
const SHORTEST: usize = 8;

impl Secrets {
    pub(super) fn from_environment() -> Self {
        Self::from_variables(env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    fn from_variables(variables: impl Iterator<Item = (String, String)>) -> Self {
        let secret = |(name, value): &(String, String)| {
            FAMILIES.iter().any(|family| name.starts_with(family))
                && WORDS.iter().any(|word| name.contains(word))
                && value.len() >= SHORTEST
        };
        let mut values: Vec<String> =
            variables.filter(secret).flat_map(|(_, value)| forms(value)).collect();
        // Longest first: no part of a secret stays.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// Replaces secrets by `…`; removes queries of URLs, which can contain signatures.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret, "…");
        }
        let plain = |word: &str| match word.split_once('?') {
            Some((url, _)) if word.contains("://") => format!("{url}?…"),
            _ => word.to_owned(),
        };
        text.split(' ').map(plain).collect::<Vec<_>>().join(" ")
    }
}

fn forms(value: String) -> [String; 2] {
    let encoded = percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC);
    [encoded.to_string(), value]
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_secrets_and_signatures_from_texts() {
        let variables = [
            ("AWS_SECRET_ACCESS_KEY", "abc/def+ghi"),
            ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=zzz"),
            ("AWS_REGION", "us-east-2"),
            ("AWS_SESSION_TOKEN", "short"),
            ("OTHER_TOKEN", "somebody-else"),
        ];
        let pairs = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = Secrets::from_variables(pairs.into_iter());
        assert_eq!(
            secrets.redact("key abc/def+ghi or abc%2Fdef%2Bghi in us-east-2, short somebody-else"),
            "key … or … in us-east-2, short somebody-else"
        );
        assert_eq!(secrets.redact("GET https://h/p?a=1&sig=q failed"), "GET https://h/p?… failed");
        assert_eq!(format!("{secrets:?}"), "Secrets(…)");
    }
}
