use std::str::FromStr;

/// Full name of a git commit: 40 hexadecimal digits, or 64 in a SHA-256 repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit(String);

impl Commit {
    /// Name in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text that is not a full commit name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a full commit hash: write the output of `git rev-parse HEAD`")]
pub struct CommitError {
    /// Rejected text.
    pub text: String,
}

impl FromStr for Commit {
    type Err = CommitError;

    /// Rejects short names, branches and tags, which can change their commit.
    fn from_str(text: &str) -> Result<Self, CommitError> {
        let whole = matches!(text.len(), 40 | 64);
        if whole && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(CommitError { text: text.to_owned() })
        }
    }
}

/// Commit and run of finished files, as stated by the caller.
#[derive(Debug, Clone)]
pub struct FilesOrigin {
    /// Source commit.
    pub commit: Commit,
    /// Run that made the files.
    pub run: super::Run,
}
