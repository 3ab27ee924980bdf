//! Runs of the program git.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Failure of git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no such program.
    #[error("cannot start git")]
    Start(#[source] io::Error),
    /// It failed.
    #[error("`git {words}` failed: {said}")]
    Failed {
        /// Its arguments.
        words: String,
        /// Its own reason.
        said: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reason of a program that failed without a word.
pub const NOTHING: &str = "it said nothing";

/// Variables by which hooks of git lead to another repository than that of the directory.
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

/// Runs git without a terminal and returns its standard output.
///
/// # Errors
/// Fails if there is no git, or if it ends with a status other than 0.
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

/// Runs git in the repository of a checkout. It starts no program that the repository's configuration names, and
/// writes nothing there.
///
/// # Errors
/// As [`git`].
pub fn git_in(checkout: &Path, words: &[&str]) -> Result<Vec<u8>, GitError> {
    let fixed =
        ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let mut all: Vec<&OsStr> = vec![OsStr::new("-C"), checkout.as_os_str()];
    all.extend(fixed.iter().chain(words).map(OsStr::new));
    git(&all)
}
