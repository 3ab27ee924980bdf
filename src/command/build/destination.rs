use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use catalog::{Artifact, Catalog};

use crate::failure::Failure;

/// Refuses a destination inside an artifact: the next build would package its files.
pub fn check(artifacts: &Path, catalog: &Catalog, dest: &Path) -> Result<(), Failure> {
    let (Ok(root), Some(dest_dir)) = (artifacts.canonicalize(), canonical(dest)) else {
        return Ok(());
    };
    // An artifact can be a link to another directory.
    let is_inside = |artifact: &&Artifact| {
        let place = root.join(artifact.id.to_string()).canonicalize();
        place.is_ok_and(|place| dest_dir.starts_with(place))
    };
    let artifact = catalog.artifacts.iter().find(is_inside);
    artifact.map_or(Ok(()), |artifact| {
        let message = format!("{} is inside of the artifact `{}`", dest.display(), artifact.id);
        Err(Problem::usage(Code::Environment, message)
            .help("give --output a directory outside of the artifacts")
            .into())
    })
}

/// Canonical path, also of a directory that does not exist yet.
pub fn canonical(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    Some(existing.1.join(path.strip_prefix(existing.0).ok()?))
}
