use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use catalog::Catalog;

use crate::failure::Failure;

/// Refuses a destination inside an artifact: the next build would package its files.
pub fn check(artifacts: &Path, catalog: &Catalog, dest: &Path) -> Result<(), Failure> {
    let (Ok(root), Some(dest_dir)) = (artifacts.canonicalize(), canonical(dest)) else {
        return Ok(());
    };
    let Ok(below) = dest_dir.strip_prefix(&root) else { return Ok(()) };
    let child = below.components().next().map(|child| child.as_os_str().to_string_lossy());
    let artifact = catalog.artifacts.iter().find(|a| Some(a.id.to_string().into()) == child);
    artifact.map_or(Ok(()), |artifact| {
        let message = format!("{} is inside of the artifact `{}`", dest.display(), artifact.id);
        Err(Problem::usage(Code::Environment, message)
            .help("give --output a directory outside of the artifacts")
            .into())
    })
}

fn canonical(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    Some(existing.1.join(path.strip_prefix(existing.0).ok()?))
}
