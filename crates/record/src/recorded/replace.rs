use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use super::required::required;
use super::{Combined, Recorded};
use crate::gate::{Gate, GateError};
use crate::provenance::{Package, Statement};
use base::names::{RelPath, Requirement};
use wheel::archive::{Stage, StageError};
use wheel::package::distribution_of;

/// Result of [`replace`].
#[derive(Debug)]
pub struct Replaced {
    /// Removed packages of earlier builds.
    pub removed: Vec<RelPath>,
    /// Number of statements in the directory.
    pub statements: usize,
}

/// Recorded packages of other names than those of a new set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// All are removed.
    Removed,
    /// Those that the set requires stay.
    KeptIfRequired,
}

/// Moves staged packages that pass the gate to the destination, with checksums and statements.
/// `made` must list all, and `statements` describe them. Removes recorded earlier packages, except
/// as `earlier` says. On failure the destination is unchanged.
pub fn replace<E: From<io::Error> + From<StageError> + From<GateError>>(
    stage: Stage,
    made: &[Package<'_>],
    statements: Vec<Statement>,
    gate: &Gate<'_>,
    earlier: Earlier,
) -> Result<Replaced, E> {
    let staged: Vec<_> = made.iter().map(|package| stage.path(package.path)).collect();
    let requirements = gate.check_set(staged.iter().map(std::path::PathBuf::as_path))?;
    let recorded = Recorded::read(stage.dest())?;
    let kept = match earlier {
        Earlier::Removed => BTreeSet::new(),
        Earlier::KeptIfRequired => kept(stage.dest(), &recorded, made, requirements),
    };
    let is_removed = |path: &RelPath| !kept.contains(path);
    let combined = recorded.combine(stage.dest(), made, &[], statements, is_removed)?;
    let Combined { texts, removed, obsolete, .. } = combined;
    for (path, text) in &texts {
        stage.create(path)?.write_all(text.as_bytes())?;
    }
    // One text has the checksums.
    let statements = texts.len().saturating_sub(1);
    let made = made.iter().map(|package| package.path.clone());
    let outputs: Vec<RelPath> = made.chain(texts.into_iter().map(|(path, _)| path)).collect();
    stage.commit(&outputs, &[&removed[..], &obsolete].concat())?;
    Ok(Replaced { removed, statements })
}

fn kept(
    dest: &Path,
    recorded: &Recorded,
    made: &[Package<'_>],
    requirements: Vec<Requirement>,
) -> BTreeSet<RelPath> {
    let names: BTreeSet<Option<String>> =
        made.iter().map(|package| distribution_of(package.path.file_name())).collect();
    let is_made = |path: &RelPath| names.contains(&distribution_of(path.file_name()));
    let earlier = recorded.paths().into_keys().filter(|path| !is_made(path)).collect();
    required(dest, &earlier, requirements)
}
