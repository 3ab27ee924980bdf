//! Files as git has them.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use rockpack::kdl;
use rockpack::source::{Code, Problem, Source};

use crate::command::Failure;

/// The file `name` in `directory` as it was at `revision`; pictures call it as git does.
pub fn read(directory: &Path, revision: &str, name: &str) -> Result<Source, Failure> {
    // `./` makes the path one below the directory, wherever in the repository that is.
    let object = format!("{revision}:./{name}");
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["show", "--end-of-options", &object]);
    let output = git.output().map_err(|e| match e.kind() {
        ErrorKind::NotFound => Problem::error(
            Code::Environment,
            "--manifest-at asks git for the manifest, and there is no program `git`",
        ),
        _ => Problem::error(Code::Environment, format!("cannot start git: {e}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason =
            said.lines().next().unwrap_or("it does not say why").trim_start_matches("fatal: ");
        return Err(Problem::error(
            Code::Environment,
            format!("git has no {name} of {} at `{revision}`: {reason}", directory.display()),
        )
        .help(
            "--manifest-at takes a commit, branch or tag of the repository that the manifest is in",
        )
        .into());
    }
    let file = format!("{revision}:{name}");
    kdl::source(name, &file, output.stdout).map_err(|problem| Failure::Problems(problem.into()))
}
