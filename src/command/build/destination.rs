use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use catalog::{Artifact, ArtifactId, Catalog};

use crate::failure::Failure;

/// Refuses a destination inside an artifact: the next build would package its files.
pub fn check(artifacts: &Path, catalog: &Catalog, dest: &Path) -> Result<(), Failure> {
    let (Ok(root), Some(dest_dir)) = (artifacts.canonicalize(), canonical(dest)) else {
        return Ok(());
    };
    let place = |artifact: &Artifact| root.join(artifact.id.to_string()).canonicalize().ok();
    let mut artifacts = catalog.artifacts.iter().filter_map(|it| Some((&it.id, place(it)?)));
    artifacts.try_for_each(|(id, place)| refuse_inside(id, &place, dest, &dest_dir))
}

/// Refuses a destination inside an artifact, which can be a link to another directory: `place` and
/// `dest_dir` are canonical.
pub fn refuse_inside(
    id: &ArtifactId,
    place: &Path,
    dest: &Path,
    dest_dir: &Path,
) -> Result<(), Failure> {
    if !dest_dir.starts_with(place) {
        return Ok(());
    }
    let message = format!("{} is inside of the artifact `{id}`", dest.display());
    let help = "give --output a directory outside of the artifacts";
    Err(Problem::usage(Code::Environment, message).help(help).into())
}

/// Canonical path, also of a directory that does not exist yet.
pub fn canonical(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    Some(existing.1.join(path.strip_prefix(existing.0).ok()?))
}
