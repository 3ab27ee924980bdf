use std::path::Path;

use base::names::RelPath;
use base::source::{Code, Problem, Source};
use base::text::with_causes;
use manifest::{kdl, most_bytes};
use projects::{GitError, git_in};

use crate::failure::{Failure, environment};

/// Reads a file under git's name for it.
pub fn read(directory: &Path, revision: &str, name: &str) -> Result<Source, Failure> {
    let text = show(directory, revision, name).map_err(|error| {
        let help = match error {
            GitError::Absent => "install git, which --manifest-at requires",
            _ => "give --manifest-at a commit, branch or tag of the manifest's repository",
        };
        let (directory, reason) = (directory.display(), reason(&error));
        Problem::error(
            Code::Environment,
            format!(
                "git cannot read `{name}` in `{directory}` at the revision `{revision}`: {reason}"
            ),
        )
        .help(help)
    })?;
    let file = format!("{revision}:{name}");
    kdl::source(name, &file, text).map_err(|problem| Failure::Problems(problem.into()))
}

pub fn text(directory: &Path, revision: &str, path: &RelPath) -> Result<String, String> {
    let text = show(directory, revision, path.as_str())
        .map_err(|error| format!("git has none at `{revision}`: {}", reason(&error)))?;
    let most = most_bytes(path);
    if text.len() as u64 > most {
        return Err(format!("it is larger than the limit of {most} bytes"));
    }
    String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())
}

/// Limit of commits that the search for a commit with a valid plan tries, because planning takes time.
pub const MOST: usize = 20;

/// Returns the newest commits before a revision that changed the directory, along first parents,
/// the newest first.
pub fn earlier_commits(directory: &Path, revision: &str) -> Result<Vec<String>, Failure> {
    // The newest of them made the revision's own files.
    let count = format!("--max-count={}", MOST + 1);
    let words = ["rev-list", "--first-parent", "--abbrev-commit", &count];
    let words = [&words[..], &["--end-of-options", revision, "--", "."]].concat();
    let commits = git_in(directory, &words).map_err(|error| {
        environment(format!("git has no commits of {revision}: {}", reason(&error)))
    })?;
    let commits = String::from_utf8_lossy(&commits);
    Ok(commits.lines().skip(1).map(str::to_owned).collect())
}

fn show(directory: &Path, revision: &str, name: &str) -> Result<Vec<u8>, GitError> {
    // `./` makes the path relative to the directory, not to the repository.
    let object = format!("{revision}:./{name}");
    git_in(directory, &["show", "--end-of-options", &object])
}

fn reason(error: &GitError) -> String {
    match error {
        GitError::Failed { message, .. } => message.clone(),
        GitError::Absent | GitError::Start(_) | GitError::Io(_) => with_causes(error),
    }
}
