//! Packages, checksums and provenance, moved to their destination in one step.

use std::io::Write as _;

use ::wheel::archive::Stage;
use base::names::RelPath;
use plan::Plan;
use record::provenance::Package;
use record::recorded::{Combined, Recorded};

use super::unfinished::failed;
use super::{Attestations, Earlier, ExecuteError, elsewhere};

/// Moves the packages of `stage` to their destination, and rewrites checksums and provenance.
/// Removes selected earlier packages. Uses the hashes of `hashed` packages.
///
/// # Errors
///
/// Leaves the destination unchanged.
pub fn conclude(
    stage: Stage,
    plan: &Plan,
    attestations: &Attestations,
    packages: &[Package<'_>],
    hashed: &[Package<'_>],
    is_selected: impl Fn(&RelPath) -> bool,
) -> Result<Earlier, ExecuteError> {
    put_in_place(stage, plan, attestations, (packages, &[]), hashed, is_selected)
}

/// Packages at `unstaged` paths are in another directory.
pub(super) fn put_in_place(
    stage: Stage,
    plan: &Plan,
    attestations: &Attestations,
    (packages, unstaged): (&[Package<'_>], &[RelPath]),
    hashed: &[Package<'_>],
    is_selected: impl Fn(&RelPath) -> bool,
) -> Result<Earlier, ExecuteError> {
    let statement = crate::provenance::statement(plan, &attestations.inputs, packages);
    let recorded = Recorded::read(stage.dest()).map_err(ExecuteError::Earlier)?;
    let (unstaged_packages, staged_packages): (Vec<Package<'_>>, Vec<Package<'_>>) =
        packages.iter().partition(|package| unstaged.contains(package.path));
    let replaced = elsewhere::replaced(stage.dest(), &recorded, &unstaged_packages)?;
    // Packages recorded in other directories stay listed if this build leaves packages there too.
    let absent = if unstaged_packages.is_empty() {
        Vec::new()
    } else {
        elsewhere::absent(stage.dest(), &recorded).map_err(ExecuteError::Earlier)?
    };
    let absent = absent.iter().filter(|(path, _)| !is_selected(path));
    let absent = absent.map(|(path, sha256)| Package { path, sha256 });
    let hashed: Vec<Package<'_>> = hashed.iter().copied().chain(absent).collect();
    let combined = recorded.combine(stage.dest(), packages, &hashed, vec![statement], &is_selected);
    let Combined { texts, mut removed, obsolete, changed } =
        combined.map_err(ExecuteError::Earlier)?;
    for (path, text) in &texts {
        let result = stage.create(path)?.write_all(text.as_bytes());
        result.map_err(|e| failed(stage.dest(), path, &e))?;
    }
    let texts = texts.into_iter().map(|(path, _)| path);
    let outputs = staged_packages.iter().map(|package| package.path.clone()).chain(texts);
    removed.extend(replaced);
    stage.commit(&outputs.collect::<Vec<_>>(), &[&removed[..], &obsolete].concat())?;
    Ok(Earlier { removed, changed })
}
