use std::fmt;
use std::str::FromStr;

use base::names::RelPath;
use manifest::Glob;

/// An argument of `--only`: name of a node or distribution, with wildcards `*` and `?`. Ignores
/// case; `_`, `.` and `-` are equal (PEP 503).
#[derive(Debug, Clone)]
pub struct OnlyName {
    text: String,
    glob: Glob,
}

/// The text is neither a name nor a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name: use letters, digits, `-`, `_` and `.`, and in patterns `*` and `?`")]
pub struct OnlyNameError(String);

impl OnlyName {
    /// Original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if the name matches.
    pub fn matches(&self, name: &str) -> bool {
        normal(name).parse::<RelPath>().is_ok_and(|name| self.glob.matches(&name))
    }
}

impl FromStr for OnlyName {
    type Err = OnlyNameError;

    fn from_str(text: &str) -> Result<Self, OnlyNameError> {
        let text = text.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.*?".contains(c);
        let error = || OnlyNameError(text.to_owned());
        // Longer than any file name.
        if text.is_empty() || text.len() > 255 || !text.chars().all(fits) {
            return Err(error());
        }
        let glob = Glob::new(&normal(text)).map_err(|_| error())?;
        Ok(Self { text: text.to_owned(), glob })
    }
}

impl fmt::Display for OnlyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_installers_do_and_patterns_match_many() {
        let only = |text: &str| text.parse::<OnlyName>().unwrap();
        assert!(only("core").matches("core") && !only("core").matches("cores"));
        assert!(only("Some_SDK.core").matches("some-sdk-core"));
        assert!(only("x-device-*").matches("x-device-942"));
        assert!(only(" x9?2 ").matches("x942") && !only("x9?2").matches("x9402"));
        for text in ["", " ", "a b", "a/b", "{a,b}", "[a]", &"a".repeat(256)] {
            assert!(text.parse::<OnlyName>().is_err(), "{text:?}");
        }
    }
}
