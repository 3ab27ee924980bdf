//! Kinds of builds.

use std::fmt;
use std::str::FromStr;

/// A kind of build that a release flow makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReleaseType {
    /// The release itself.
    Release,
    /// Every night, of the main branch.
    Nightly,
    /// Every night, of a release branch.
    NightlyBkc,
    /// Of a pull request.
    Ci,
    /// By hand.
    Dev,
    /// By hand, of a release branch.
    DevBkc,
}

/// The rest of a version after its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// By the type of build.
    Type(ReleaseType),
    /// A release candidate with its number.
    Prerelease(u32),
    /// A custom text.
    Suffix(String),
}

impl ReleaseType {
    /// Every type with its word.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("release", Self::Release),
        ("nightly", Self::Nightly),
        ("nightly-bkc", Self::NightlyBkc),
        ("ci", Self::Ci),
        ("dev", Self::Dev),
        ("dev-bkc", Self::DevBkc),
    ];

    /// Returns whether it is of a release branch, which shares its index with others.
    pub(crate) fn is_bkc(self) -> bool {
        matches!(self, Self::NightlyBkc | Self::DevBkc)
    }

    /// Returns whether its version contains the commit.
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
