//! New packages in the place of those of earlier builds.

use std::io::{self, Write as _};

use super::{Combined, Recorded};
use crate::gate::{Gate, GateError};
use crate::provenance::{Package, Statement};
use base::names::RelPath;
use wheel::archive::{Stage, StageError};

/// What came of it.
#[derive(Debug)]
pub struct Replaced {
    /// Packages of earlier builds that were removed.
    pub removed: Vec<RelPath>,
    /// How many statements are beside the packages.
    pub statements: usize,
}

/// Puts the packages of a stage in place, all of which `made` has and `statements` tell of, with checksums and
/// statements beside them, if they pass the gate. What earlier builds recorded in the destination is removed.
///
/// # Errors
/// When the gate refuses a package, what is there cannot be read, or something cannot be written or put in
/// place. The destination is then as it was.
pub fn replace<E: From<io::Error> + From<StageError> + From<GateError>>(
    stage: Stage,
    made: &[Package<'_>],
    statements: Vec<Statement>,
    gate: &Gate<'_>,
) -> Result<Replaced, E> {
    let staged: Vec<_> = made.iter().map(|package| stage.path(package.path)).collect();
    gate.check(staged.iter().map(std::path::PathBuf::as_path))?;
    let recorded = Recorded::read(stage.dest())?;
    let combined = recorded.combine(stage.dest(), made, &[], statements, |_| true)?;
    let Combined { texts, removed, obsolete, .. } = combined;
    for (path, text) in &texts {
        stage.create(path)?.write_all(text.as_bytes())?;
    }
    // One text is that of the checksums.
    let statements = texts.len() - 1;
    let made = made.iter().map(|package| package.path.clone());
    let outputs: Vec<RelPath> = made.chain(texts.into_iter().map(|(path, _)| path)).collect();
    stage.commit(&outputs, &[&removed[..], &obsolete].concat())?;
    Ok(Replaced { removed, statements })
}
