use std::collections::BTreeMap;
use std::io;

use rayon::prelude::*;

use super::results::{collect, unreadable};
use super::source::Source;
use super::{Catalog, EntryKind, SourcePath};
use base::hash::Sha256Hasher;
use base::names::Family;
use base::source::Problems;

pub(super) fn hash(catalog: &mut Catalog, source: &dyn Source) -> Result<(), Problems> {
    let files = duplicated(catalog);
    let hashed = files
        .par_iter()
        .map(|&(artifact, entry)| sha256(catalog, source, artifact, entry))
        .collect();
    for (&(artifact, entry), digest) in files.iter().zip(collect(hashed)?) {
        catalog.artifacts[artifact].entries[entry].sha256 = Some(digest);
    }
    Ok(())
}

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
        files.iter().enumerate().any(|(i, first)| {
            files[i + 1..].iter().any(|second| installed_together(family(first), family(second)))
        })
    });
    shared.flatten().collect()
}

/// The targets of a package are in the manifest, but have a common stem.
fn installed_together(first: &Family, second: &Family) -> bool {
    first.is_generic() || second.is_generic() || first.stem() == second.stem()
}

fn sha256(
    catalog: &Catalog,
    source: &dyn Source,
    artifact: usize,
    entry: usize,
) -> Result<String, Problems> {
    let artifact = &catalog.artifacts[artifact];
    let entry = &artifact.entries[entry];
    let origin = SourcePath {
        artifact: artifact.id.clone(),
        base: entry.base.clone(),
        path: entry.path.clone(),
    };
    digest(source, &origin).map_err(|e| unreadable(&artifact.id, &entry.path, &e).into())
}

pub(super) fn digest(source: &dyn Source, origin: &SourcePath) -> io::Result<String> {
    let file = source.open(origin)?;
    let mut hasher = Sha256Hasher::default();
    hasher.update_from(0..file.len()?, |offset, out| file.read_exact_at(offset, out))?;
    Ok(hasher.finish().sha256.to_string())
}
