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
pub(crate) fn restore(plan: &Plan, products: &Path, work: &Path) -> io::Result<()> {
    let after = plan.projects.iter().flat_map(|project| &project.after);
    let names = after.chain(plan.projects.iter().map(|project| &project.name));
    for name in names {
        let (product, target) =
            (products.join(name.as_str()), work.join(DIRECTORY).join(name.as_str()));
        if product.is_dir() && !target.exists() {
            copy(&product, &target)?;
        }
    }
    Ok(())
}

/// Keeps the directory of a new native project, in place of an older one.
pub(crate) fn keep(work: &Path, name: &PackageName, products: &Path) -> io::Result<()> {
    let product = products.join(name.as_str());
    if product.is_dir() {
        fs::remove_dir_all(&product)?;
    }
    copy(&work.join(DIRECTORY).join(name.as_str()), &product)
}
