//! Files as git has them.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use rockpack::source::{Code, Problem, Source};

/// The file `name` in `directory` as it was at `revision`; pictures call it as git does.
pub fn read(directory: &Path, revision: &str, name: &str) -> Result<Source, Problem> {
    // `./` makes the path one below the directory, wherever in the repository that is.
    let object = format!("{revision}:./{name}");
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["show", "--end-of-options", &object]);
    let output = git.output().map_err(|e| match e.kind() {
        ErrorKind::NotFound => Problem::error(Code::Environment, "--manifest-at asks git for the manifest, and there is no program `git`"),
        _ => Problem::error(Code::Environment, format!("cannot start git: {e}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().next().unwrap_or("it does not say why").trim_start_matches("fatal: ");
        return Err(Problem::error(Code::Environment, format!("git has no {name} of {} at `{revision}`: {reason}", directory.display()))
            .help("--manifest-at takes a commit, branch or tag of the repository that the manifest is in"));
    }
    let text = String::from_utf8(output.stdout);
    let text = text.map_err(|_| Problem::error(Code::Environment, format!("{name} at `{revision}` is not UTF-8")))?;
    Ok(Source::of_file(name, format!("{revision}:{name}"), text))
}
