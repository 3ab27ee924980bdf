use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rayon::prelude::*;

use super::bytes::Bytes;
use super::digests::Digests;
use base::activity;
use base::hash::Sha256;
use catalog::{Artifact, ArtifactId, Catalog, EntryKind, Source, SourcePath};
use plan::Plan;
use record::provenance::Contents;

/// Digest of each artifact of `plan`, except those in `known`; of an archive, its checksum. With
/// `files`, unpacked artifacts are hashed whole, since another build may take other files.
pub fn contents(
    (catalog, plan): (&Catalog, &Plan),
    artifacts: &dyn Source,
    digests: &Digests,
    known: &BTreeMap<ArtifactId, Contents>,
    files: bool,
) -> io::Result<BTreeMap<ArtifactId, Contents>> {
    let used: BTreeSet<&ArtifactId> = plan.sources().map(|origin| &origin.artifact).collect();
    let mut contents = BTreeMap::new();
    for artifact in &catalog.artifacts {
        let id = &artifact.id;
        if !used.contains(id) || known.contains_key(id) {
            continue;
        }
        if let Some(sha256) = artifacts.archive(id) {
            contents.insert(id.clone(), Contents::Archive(sha256.to_string()));
        } else if files {
            let digest = of_files(artifact, artifacts, digests)?;
            contents.insert(id.clone(), Contents::Files(digest));
        }
    }
    Ok(contents)
}

/// SHA-256 of a list in the format of `sha256sum`.
fn of_files(artifact: &Artifact, artifacts: &dyn Source, digests: &Digests) -> io::Result<String> {
    let files =
        artifact.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
    let files: Vec<SourcePath> = files
        .map(|entry| SourcePath {
            artifact: artifact.id.clone(),
            base: entry.base.clone(),
            path: entry.path.clone(),
        })
        .collect();
    let artifact_name = artifact.id.to_string();
    let line = |origin: &SourcePath| -> io::Result<String> {
        let sha256 = activity::during("hash", origin.path.as_str(), &artifact_name, || {
            digests.sha256(&Bytes::File(artifacts.find(origin)?))
        })?;
        Ok(format!("{sha256}  {}\n", origin.base.join(&origin.path)))
    };
    let mut lines = files.par_iter().map(line).collect::<io::Result<Vec<_>>>()?;
    // Paths follow 64 digits and two spaces.
    lines.sort_by(|left, right| left[66..].cmp(&right[66..]));
    Ok(Sha256::of(lines.concat().as_bytes()).to_string())
}
