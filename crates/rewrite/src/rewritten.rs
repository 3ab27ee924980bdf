use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use base::names::RelPath;
use record::gate::{Gate, GateError};
use record::provenance::{Package, Statement};
use record::recorded::{self, Earlier};
use wheel::archive::stage::DIST;
use wheel::archive::{Stage, StageError};

/// Packages in their destination.
#[derive(Debug)]
pub struct Rewritten {
    /// SHA-256 by path below the destination.
    pub packages: BTreeMap<RelPath, String>,
    /// Removed earlier packages.
    pub removed: Vec<RelPath>,
}

impl Rewritten {
    pub(crate) fn replace<E: From<io::Error> + From<StageError> + From<GateError>>(
        stage: Stage,
        packages: BTreeMap<RelPath, String>,
        statement: impl FnOnce(&[Package<'_>]) -> Statement,
        gate: &Gate<'_>,
    ) -> Result<Self, E> {
        let made: Vec<_> = packages.iter().map(|(path, sha256)| Package { path, sha256 }).collect();
        let removed =
            recorded::replace::<E>(stage, &made, vec![statement(&made)], gate, Earlier::Removed)?
                .removed;
        Ok(Self { packages, removed })
    }
}

/// Returns the directory for packages below `dest` and the first of `inputs` in it.
pub(crate) fn overwritten<'p>(
    dest: &Path,
    mut inputs: impl Iterator<Item = &'p Path>,
) -> Option<(PathBuf, &'p Path)> {
    let place = dest.join(DIST).canonicalize().ok()?;
    let is_inside = |path: &&Path| path.canonicalize().is_ok_and(|path| path.starts_with(&place));
    let input = inputs.find(is_inside)?;
    Some((place, input))
}
