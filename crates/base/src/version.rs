//! Version of the packages of a build.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// PEP 440 version, normalized during parsing: `7.10.0-dev0` becomes `7.10.0.dev0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = PATTERN)))]
pub struct Version(String);

/// Normalized version as a regular expression (PEP 440, appendix B).
#[cfg(feature = "schemas")]
const PATTERN: &str = r"^([1-9][0-9]*!)?[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?$";

/// Text that is not a version (PEP 440).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a PEP 440 version: {reason}")]
pub struct VersionError {
    /// Given text.
    pub text: String,
    /// Parser's error.
    pub reason: String,
}

impl Version {
    /// Returns a placeholder, so that further faults can be reported.
    pub fn unknown() -> Self {
        Self("0".to_owned())
    }

    /// Returns `7.2.0.dev0` for `7.2.0`, `7.2.0.dev0+abc` for `7.2.0+abc`. Development versions are
    /// unchanged.
    #[must_use]
    pub fn development(&self) -> Self {
        match pep440_rs::Version::from_str(&self.0) {
            Ok(version) if !version.is_dev() => Self(version.with_dev(Some(0)).to_string()),
            _ => self.clone(),
        }
    }

    /// Marks modified sources: `7.2.0+dirty`, `7.2.0+abc.dirty`. Local versions with `dirty` or the
    /// date of setuptools-scm (`d20260131`) are unchanged.
    #[must_use]
    pub fn dirty(&self) -> Self {
        let Some((_, local)) = self.0.split_once('+') else {
            return Self(format!("{}+dirty", self.0));
        };
        let is_date = |part: &str| {
            let digits = part.strip_prefix('d').unwrap_or_default();
            digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if local.split('.').any(|part| part == "dirty" || is_date(part)) {
            return self.clone();
        }
        Self(format!("{}.dirty", self.0))
    }

    /// Three numbers of the release; missing ones are 0.
    pub fn numbers(&self) -> [u64; 3] {
        let release = pep440_rs::Version::from_str(&self.0).map(|v| v.release().to_vec());
        let release = release.unwrap_or_default();
        [0, 1, 2].map(|index| release.get(index).copied().unwrap_or_default())
    }

    /// Returns true for alpha, beta and development versions, as nightly streams have.
    pub fn is_nightly(&self) -> bool {
        use pep440_rs::PrereleaseKind::{Alpha, Beta};
        let version = pep440_rs::Version::from_str(&self.0);
        version.is_ok_and(|version| {
            let early = version.pre().is_some_and(|pre| matches!(pre.kind, Alpha | Beta));
            early || version.is_dev()
        })
    }

    /// The release that a post release belongs to; `None` for other versions.
    pub fn release_of_post(&self) -> Option<Self> {
        let (public, local) = self.0.split_at(self.0.find('+').unwrap_or(self.0.len()));
        let (release, rest) = public.split_once(".post")?;
        let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        Some(Self(format!("{release}{rest}{local}")))
    }

    /// Normalized text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Version {
    fn parsed(&self) -> Option<pep440_rs::Version> {
        pep440_rs::Version::from_str(&self.0).ok()
    }

    /// Returns true for the same version in PEP 440: 2.0 is 2.0.0.
    pub fn is_same(&self, other: &Self) -> bool {
        self.parsed() == other.parsed()
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of PEP 440.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parsed().cmp(&other.parsed()).then_with(|| self.0.cmp(&other.0))
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let parsed = pep440_rs::Version::from_str(text);
        parsed
            .map(|version| Self(version.to_string()))
            .map_err(|e| VersionError { text: text.to_owned(), reason: e.to_string() })
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_normalised() {
        assert_eq!("7.10.0-dev0".parse::<Version>().unwrap().as_str(), "7.10.0.dev0");
        assert_eq!("7.0RC1".parse::<Version>().unwrap().as_str(), "7.0rc1");
        assert_eq!("7.1+ABC.def".parse::<Version>().unwrap().as_str(), "7.1+abc.def");
        assert!("seven".parse::<Version>().is_err());
    }

    #[test]
    fn makes_the_development_version_of_a_release() {
        let cases = [
            ("7.2.0", "7.2.0.dev0"),
            ("7.2.0rc1", "7.2.0rc1.dev0"),
            ("7.2.0-43", "7.2.0.post43.dev0"),
            ("7.2.0+abc", "7.2.0.dev0+abc"),
            ("7.2.0.dev7", "7.2.0.dev7"),
        ];
        for (text, expected) in cases {
            let version: Version = text.parse().unwrap();
            assert_eq!(version.development().as_str(), expected, "{text}");
        }
    }

    #[test]
    fn finds_the_release_of_a_post_release() {
        for (post, release) in [
            ("7.14.0.post1", Some("7.14.0")),
            ("7.14.0rc2.post10.dev3", Some("7.14.0rc2.dev3")),
            ("7.14.0.post1+abc.post2", Some("7.14.0+abc.post2")),
            ("7.14.0+abc.post2", None),
            ("7.14.0", None),
        ] {
            let version: Version = post.parse().unwrap();
            assert_eq!(version.release_of_post().map(|base| base.to_string()).as_deref(), release);
        }
    }

    #[test]
    fn versions_of_streams_are_early_and_ordered() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        for early in ["7.14.0a20261119", "7.14.0b1", "7.2.0.dev0", "7.2.0rc1.dev3"] {
            assert!(version(early).is_nightly(), "{early}");
        }
        for late in ["7.14.0", "7.14.0rc1", "7.14.0.post1", "7.14.0+abc"] {
            assert!(!version(late).is_nightly(), "{late}");
        }
        let mut nights = ["7.14.0", "7.9.0", "7.14.0a20261120", "7.14.0a20261119"].map(version);
        nights.sort();
        let sorted = nights.map(String::from);
        assert_eq!(sorted, ["7.9.0", "7.14.0a20261119", "7.14.0a20261120", "7.14.0"]);
    }

    #[test]
    fn marks_a_dirty_version_once() {
        let cases = [
            ("7.2.0", "7.2.0+dirty"),
            ("7.2.0.dev3+abc.1", "7.2.0.dev3+abc.1.dirty"),
            ("7.2.0+dirty", "7.2.0+dirty"),
            ("7.2.0+gabc.d20260131", "7.2.0+gabc.d20260131"),
            ("7.2.0+d2026", "7.2.0+d2026.dirty"),
        ];
        for (text, expected) in cases {
            let version: Version = text.parse().unwrap();
            assert_eq!(version.dirty().as_str(), expected, "{text}");
            assert!(expected.parse::<Version>().is_ok());
        }
    }
}
