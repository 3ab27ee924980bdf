//! What no error may say.

use std::env;

/// Values of the environment by which somebody could act in the user's name. They are kept out of what servers
/// and libraries say, which may echo parts of a request.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

/// Variables of these families are looked at.
const FAMILIES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// Words in the names of variables whose values are secret.
const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "SAS", "PASSWORD", "CREDENTIAL"];
/// Shorter values are no secrets, and could stand in any text.
const SHORTEST: usize = 8;

impl Secrets {
    /// Those of this process.
    pub(super) fn of_the_environment() -> Self {
        Self::of(env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    fn of(variables: impl Iterator<Item = (String, String)>) -> Self {
        let secret = |(name, value): &(String, String)| {
            FAMILIES.iter().any(|family| name.starts_with(family))
                && WORDS.iter().any(|word| name.contains(word))
                && value.len() >= SHORTEST
        };
        let mut values: Vec<String> =
            variables.filter(secret).flat_map(|(_, value)| forms(value)).collect();
        // The longest first, so that no part of one stays.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// The text with dots in their place, and without the queries of URLs, which may carry signatures.
    pub(super) fn without(&self, text: &str) -> String {
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

/// A value as it is, and as it stands in a URL.
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
    fn secrets_and_signatures_do_not_get_into_texts() {
        let variables = [
            ("AWS_SECRET_ACCESS_KEY", "abc/def+ghi"),
            ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=zzz"),
            ("AWS_REGION", "us-east-2"),
            ("AWS_SESSION_TOKEN", "short"),
            ("OTHER_TOKEN", "somebody-else"),
        ];
        let pairs = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = Secrets::of(pairs.into_iter());
        assert_eq!(
            secrets.without("key abc/def+ghi or abc%2Fdef%2Bghi in us-east-2, short somebody-else"),
            "key … or … in us-east-2, short somebody-else"
        );
        assert_eq!(secrets.without("GET https://h/p?a=1&sig=q failed"), "GET https://h/p?… failed");
        assert_eq!(format!("{secrets:?}"), "Secrets(…)");
    }
}
