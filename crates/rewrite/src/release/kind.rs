//! Kinds of builds.

use std::fmt;
use std::str::FromStr;

/// Kind of build of a release flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReleaseType {
    /// Release.
    Release,
    /// Nightly of the main branch.
    Nightly,
    /// Nightly of a release branch.
    NightlyBkc,
    /// Build of a pull request.
    Ci,
    /// Manual build.
    Dev,
    /// Manual build of a release branch.
    DevBkc,
}

/// Continuation of a base version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// Type of build.
    Type(ReleaseType),
    /// Release candidate number.
    Prerelease(u32),
    /// Given text.
    Suffix(String),
}

impl ReleaseType {
    /// Types and their names.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("release", Self::Release),
        ("nightly", Self::Nightly),
        ("nightly-bkc", Self::NightlyBkc),
        ("ci", Self::Ci),
        ("dev", Self::Dev),
        ("dev-bkc", Self::DevBkc),
    ];

    /// Returns true for a release branch that shares its index with others.
    pub(crate) fn is_bkc(self) -> bool {
        matches!(self, Self::NightlyBkc | Self::DevBkc)
    }

    /// Returns true if the version contains the commit.
    pub fn is_by_commit(self) -> bool {
        matches!(self, Self::Ci | Self::Dev | Self::DevBkc)
    }
}

impl fmt::Display for ReleaseType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, kind)| kind == self).map_or("", |(word, _)| word);
        f.pad(word)
    }
}

impl FromStr for ReleaseType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, kind)| *kind).ok_or(())
    }
}
