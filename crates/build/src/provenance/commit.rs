//! The commit that files were made of.

use std::str::FromStr;

/// A git commit by its whole name: 40 hexadecimal digits, or 64 in a repository that uses SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit(String);

impl Commit {
    /// The name, in small letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no whole name of a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the whole name of a commit: write what `git rev-parse HEAD` prints")]
pub struct CommitError {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for Commit {
    type Err = CommitError;

    /// A short name, a branch or a tag is refused: each can mean another commit tomorrow.
    fn from_str(text: &str) -> Result<Self, CommitError> {
        let whole = matches!(text.len(), 40 | 64);
        if whole && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(CommitError { text: text.to_owned() })
        }
    }
}

/// What finished files were made of, and by whom, as those say who have them.
#[derive(Debug, Clone)]
pub struct Made {
    /// The commit.
    pub of: Commit,
    /// The run.
    pub run: super::Run,
}
