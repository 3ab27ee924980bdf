use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{Command, Output};

use base::names::RelPath;
use base::source::{Code, Problem, Source};
use manifest::{kdl, most_bytes};

use crate::failure::{Failure, environment};

/// Reads a file under git's name for it.
pub fn read(directory: &Path, revision: &str, name: &str) -> Result<Source, Failure> {
    let output = show(directory, revision, name).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Problem::error(
            Code::Environment,
            "--manifest-at requires the program `git`, which is not in PATH",
        ),
        _ => Problem::error(Code::Environment, format!("cannot start git: {e}")),
    })?;
    if !output.status.success() {
        let reason = reason(&output);
        return Err(Problem::error(
            Code::Environment,
            format!(
                "git cannot read `{name}` in `{}` at the revision `{revision}`: {reason}",
                directory.display()
            ),
        )
        .help("give --manifest-at a commit, branch or tag of the manifest's repository")
        .into());
    }
    let file = format!("{revision}:{name}");
    kdl::source(name, &file, output.stdout).map_err(|problem| Failure::Problems(problem.into()))
}

pub fn text(directory: &Path, revision: &str, path: &RelPath) -> Result<String, String> {
    let output = show(directory, revision, path.as_str()).map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("git has none at `{revision}`: {}", reason(&output)));
    }
    let most = most_bytes(path);
    if output.stdout.len() as u64 > most {
        return Err(format!("it is larger than the limit of {most} bytes"));
    }
    String::from_utf8(output.stdout).map_err(|_| "it is not UTF-8".to_owned())
}

/// Limit of commits that a search for one that plans tries, because each needs a plan.
pub const MOST: usize = 20;

/// Returns the newest commits before a revision that changed the directory, along first parents,
/// the newest first.
pub fn earlier_commits(directory: &Path, revision: &str) -> Result<Vec<String>, Failure> {
    let mut git = git(directory);
    git.args(["rev-list", "--first-parent", "--abbrev-commit"]);
    // The newest of them made the revision's own files.
    git.arg(format!("--max-count={}", MOST + 1)).args(["--end-of-options", revision, "--", "."]);
    let output = git.output().map_err(|e| environment(format!("cannot start git: {e}")))?;
    if !output.status.success() {
        return Err(environment(format!("git has no commits of {revision}: {}", reason(&output))));
    }
    let commits = String::from_utf8_lossy(&output.stdout);
    Ok(commits.lines().skip(1).map(str::to_owned).collect())
}

fn show(directory: &Path, revision: &str, name: &str) -> io::Result<Output> {
    // `./` makes the path relative to the directory, not to the repository.
    let object = format!("{revision}:./{name}");
    git(directory).args(["show", "--end-of-options", &object]).output()
}

/// Returns git in a directory, with messages in English, of which errors quote a part.
fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).env("LC_ALL", "C");
    git
}

fn reason(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    let first = message.lines().next().unwrap_or("no reason given");
    first.trim_start_matches("fatal: ").to_owned()
}
