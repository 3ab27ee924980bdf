//! Directories of installed native projects: below the directory of builds while projects are built
//! against them, since their files contain the path; in `DEST/kept` for later builds.

use std::io;
use std::path::Path;

use fs_err as fs;

use super::tree_copy::copy;
use base::names::PackageName;
use plan::Plan;

/// Name below the directory of builds.
pub(crate) const DIRECTORY: &str = "prefix";

/// Copies kept directories, so that projects find them.
pub(crate) fn restore(plan: &Plan, kept: &Path, work: &Path) -> io::Result<()> {
    let after = plan.projects.iter().flat_map(|project| &project.after);
    let names = after.chain(plan.projects.iter().map(|project| &project.name));
    for name in names {
        let (from, to) = (kept.join(name.as_str()), work.join(DIRECTORY).join(name.as_str()));
        if from.is_dir() && !to.exists() {
            copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Keeps the directory of a new native project, in place of an older one.
pub(crate) fn keep(work: &Path, name: &PackageName, kept: &Path) -> io::Result<()> {
    let to = kept.join(name.as_str());
    if to.is_dir() {
        fs::remove_dir_all(&to)?;
    }
    copy(&work.join(DIRECTORY).join(name.as_str()), &to)
}
