//! Sdists of requirements, fetched without running them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::tools::Tools;
use super::wheelhouse::in_directory;
use super::workspace::{Failed, Workspace};
use base::regular;

/// Limit of a list of requirements in bytes.
const LONGEST_LIST: u64 = 1 << 20;

/// Returns the requirement without a wheel from a log of pip 22 or newer.
pub(crate) fn without_wheel(log: &str) -> Option<String> {
    let line = log.lines().rev().find(|line| line.contains(NO_WHEEL))?;
    let (_, requirement) = line.split_once(NO_WHEEL)?;
    // `(from OTHER)` can follow the requirement.
    let requirement = requirement.split(" (").next().unwrap_or_default().trim();
    (!requirement.is_empty()).then(|| requirement.to_owned())
}

const NO_WHEEL: &str = "No matching distribution found for ";

/// Fetches the newest sdist that a requirement accepts, and verifies the SHA-256 of its index page.
pub(crate) fn fetch(
    tools: &Tools,
    requirement: &str,
    into: &Path,
    place: &Workspace,
) -> Result<PathBuf, Failed> {
    // A separate directory: an earlier sdist of the name may be another version.
    let into = into.join(count(into)?.to_string());
    fs::create_dir_all(&into)?;
    place.fetch(
        &format!("fetching the sdist of {requirement}, which has no wheel"),
        &script(tools, place, ["fetch".into(), requirement.into(), into.clone().into()])?,
    )?;
    let mut files = in_directory(&into, |_| true)?;
    files.pop().ok_or_else(|| Failed::new(format!("no index has an sdist of {requirement}")))
}

/// Reads `build-system.requires` of an sdist or a directory.
pub(crate) fn static_requirements(
    tools: &Tools,
    source: &Path,
    place: &Workspace,
) -> Result<Vec<String>, Failed> {
    let out = place.directory.join("sdist.requires.txt");
    let words = ["requires".into(), source.into(), out.clone().into()];
    place.run("reading the requirements of an sdist", &script(tools, place, words)?)?;
    let text = regular::read_to_string(&out, LONGEST_LIST)?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn count(directory: &Path) -> Result<usize, Failed> {
    Ok(in_directory(directory, |_| true)?.len())
}

fn script(tools: &Tools, place: &Workspace, words: [OsString; 3]) -> Result<Vec<OsString>, Failed> {
    let file = place.directory.join("sdists.py");
    fs::write(&file, include_str!("sdists.py"))?;
    Ok([tools.python().into(), file.into()].into_iter().chain(words).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_pip_name_the_requirement_without_wheel() {
        let log = "ERROR: Could not find a version that satisfies the requirement a (from versions: none)\n\
                   ERROR: No matching distribution found for a\n";
        assert_eq!(without_wheel(log).as_deref(), Some("a"));
        let transitive = "ERROR: No matching distribution found for b>=2 (from c)";
        assert_eq!(without_wheel(transitive).as_deref(), Some("b>=2"));
        assert_eq!(without_wheel("ERROR: ResolutionImpossible"), None);
    }
}
