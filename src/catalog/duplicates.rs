//! Files that several artifacts install at one path: the same bytes or not?

use std::collections::BTreeMap;
use std::io;

use rayon::prelude::*;

use super::scan::collect;
use super::{Catalog, EntryKind, Origin, Tree};
use crate::names::Family;
use crate::regular;
use crate::source::{Code, Problem, Problems};

/// Hashes the files that another artifact installs too, so that planning can tell whether
/// both mean the same file without reading one.
pub(super) fn hash(catalog: &mut Catalog, tree: &Tree) -> Result<(), Problems> {
    let wanted = duplicated(catalog);
    let hashed = wanted
        .par_iter()
        .map(|&(artifact, entry)| sha256(catalog, tree, artifact, entry))
        .collect();
    for (&(artifact, entry), digest) in wanted.iter().zip(collect(hashed)?) {
        catalog.artifacts[artifact].entries[entry].sha256 = Some(digest);
    }
    Ok(())
}

/// Indices of artifact and entry of every file that shares its path with another.
fn duplicated(catalog: &Catalog) -> Vec<(usize, usize)> {
    let mut by_path: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (a, artifact) in catalog.artifacts.iter().enumerate() {
        for (e, entry) in artifact.entries.iter().enumerate() {
            if matches!(entry.kind, EntryKind::File { .. }) {
                by_path.entry(entry.path.as_str()).or_default().push((a, e));
            }
        }
    }
    let family = |&(a, _): &(usize, usize)| &catalog.artifacts[a].id.family;
    let shared = by_path.into_values().filter(|files| {
        files.iter().enumerate().any(|(i, one)| {
            files[i + 1..].iter().any(|other| installed_together(family(one), family(other)))
        })
    });
    shared.flatten().collect()
}

fn installed_together(one: &Family, other: &Family) -> bool {
    one.is_generic() || other.is_generic() || one.base() == other.base()
}

fn sha256(
    catalog: &Catalog,
    tree: &Tree,
    artifact: usize,
    entry: usize,
) -> Result<String, Problems> {
    let artifact = &catalog.artifacts[artifact];
    let entry = &artifact.entries[entry];
    let origin = Origin {
        artifact: artifact.id.clone(),
        base: entry.base.clone(),
        path: entry.path.clone(),
    };
    let digest = tree
        .path(&origin)
        .map_or_else(|| Err(io::ErrorKind::NotFound.into()), |path| regular::sha256(&path));
    digest.map_err(|e| {
        Problem::error(
            Code::UnreadableArtifact,
            format!("cannot read `{}` of artifact `{}`: {e}", entry.path, artifact.id),
        )
        .into()
    })
}
