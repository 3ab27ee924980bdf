use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use base::address::redacted;

/// Failure of git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// git is not installed.
    #[error("the program `git` is not in PATH")]
    Absent,
    /// git cannot be started.
    #[error("cannot start git")]
    Start(#[source] io::Error),
    /// git failed.
    #[error("`git {words}` failed: {message}")]
    Failed {
        /// Arguments.
        words: String,
        /// Message of git.
        message: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl GitError {
    /// Returns the remedy for a machine without git; `None` for other errors.
    pub fn remedy(&self) -> Option<&'static str> {
        matches!(self, Self::Absent).then_some("install git")
    }
}

/// Message of a program that failed silently.
pub const NOTHING: &str = "it said nothing";

/// Variables of git hooks that redirect git to another repository.
const OTHER_REPOSITORY: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
];

/// Runs git without a terminal; returns standard output.
pub(crate) fn git<W: AsRef<OsStr>>(words: &[W]) -> Result<Vec<u8>, GitError> {
    let mut command = Command::new("git");
    command.args(words).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").stdin(Stdio::null());
    for name in OTHER_REPOSITORY {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => GitError::Absent,
        _ => GitError::Start(error),
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words: Vec<_> = words.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    let message = message(&String::from_utf8_lossy(&output.stderr));
    Err(GitError::Failed { words: redacted(&words.join(" ")), message })
}

/// Whole message of git in one line, without secrets: the reason can be before or after the line
/// with `fatal:`.
fn message(output: &str) -> String {
    let lines = output.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("Cloning into "));
    let text = lines.collect::<Vec<_>>().join(" ");
    if text.is_empty() { NOTHING.to_owned() } else { redacted(&text) }
}

/// Runs git in a checkout. It neither starts programs from the repository's
/// configuration nor writes anything.
pub fn git_in(checkout: &Path, words: &[&str]) -> Result<Vec<u8>, GitError> {
    let fixed =
        ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let mut arguments: Vec<&OsStr> = vec![OsStr::new("-C"), checkout.as_os_str()];
    arguments.extend(fixed.iter().chain(words).map(OsStr::new));
    git(&arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_lines_around_the_fatal_one() {
        let denied = "Cloning into 'a'...\ngit@example.org: Permission denied (publickey).\n\
                      fatal: Could not read from remote repository.\n\n\
                      Please make sure you have the correct access rights\n\
                      and the repository exists.\n";
        let expected = "git@example.org: Permission denied (publickey). fatal: Could not read from \
                        remote repository. Please make sure you have the correct access rights and \
                        the repository exists.";
        assert_eq!(message(denied), expected);
        assert_eq!(message("\n"), NOTHING);
        let secret = "fatal: unable to access 'https://me:word@example.org/a/': no";
        assert!(!message(secret).contains("word"), "{}", message(secret));
    }
}
