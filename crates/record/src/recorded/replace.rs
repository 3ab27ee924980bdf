use std::io::{self, Write as _};

use super::{Combined, Recorded};
use crate::gate::{Gate, GateError};
use crate::provenance::{Package, Statement};
use base::names::RelPath;
use wheel::archive::{Stage, StageError};

/// Result of [`replace`].
#[derive(Debug)]
pub struct Replaced {
    /// Removed packages of earlier builds.
    pub removed: Vec<RelPath>,
    /// Number of statements in the directory.
    pub statements: usize,
}

/// Moves staged packages that pass the gate to the destination, with checksums and statements.
/// `made` must list all, and `statements` describe them. Removes recorded earlier packages. On
/// failure the destination is unchanged.
pub fn replace<E: From<io::Error> + From<StageError> + From<GateError>>(
    stage: Stage,
    made: &[Package<'_>],
    statements: Vec<Statement>,
    gate: &Gate<'_>,
) -> Result<Replaced, E> {
    let staged: Vec<_> = made.iter().map(|package| stage.path(package.path)).collect();
    gate.check_set(staged.iter().map(std::path::PathBuf::as_path))?;
    let recorded = Recorded::read(stage.dest())?;
    let combined = recorded.combine(stage.dest(), made, &[], statements, |_| true)?;
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
