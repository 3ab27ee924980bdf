use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Failure of git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// git is not installed.
    #[error("cannot start git")]
    Start(#[source] io::Error),
    /// git failed.
    #[error("`git {words}` failed: {said}")]
    Failed {
        /// Arguments.
        words: String,
        /// Message of git.
        said: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
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
pub fn git<W: AsRef<OsStr>>(words: &[W]) -> Result<Vec<u8>, GitError> {
    let mut command = Command::new("git");
    command.args(words).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").stdin(Stdio::null());
    for name in OTHER_REPOSITORY {
        command.env_remove(name);
    }
    let done = command.output().map_err(GitError::Start)?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let reason = said.lines().find(|line| line.starts_with("fatal:"));
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let said = reason.or(last).unwrap_or(NOTHING).trim().to_owned();
    let words: Vec<_> = words.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    Err(GitError::Failed { words: words.join(" "), said })
}

/// Runs git in a checkout. It neither starts programs from the repository's
/// configuration nor writes anything.
pub(crate) fn git_in(checkout: &Path, words: &[&str]) -> Result<Vec<u8>, GitError> {
    let fixed =
        ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let mut all: Vec<&OsStr> = vec![OsStr::new("-C"), checkout.as_os_str()];
    all.extend(fixed.iter().chain(words).map(OsStr::new));
    git(&all)
}
