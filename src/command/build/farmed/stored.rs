//! Artifacts in a farm's storage, as known here without reading their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use base::source::{Code, Problem};
use catalog::{
    self, ArtifactId, Demands, LockedArchive, Packed, ReadArchive, SIDECAR, archive_names,
    archive_of,
};
use rayon::prelude::*;
use record::provenance::Contents;
use remote::{Digest, Input, Node};

use crate::failure::Failure;
use crate::inputs::artifacts::{self, ArtifactOptions};
use crate::inputs::pool;

pub struct Stored {
    artifacts: BTreeMap<ArtifactId, Artifact>,
    /// Known artifacts that the storage lacks.
    missing: BTreeSet<ArtifactId>,
    /// Message about all other artifacts.
    pub unknown: String,
}

struct Artifact {
    digest: Digest,
    /// Inputs by names in the directory of artifacts.
    inputs: Vec<(String, Input)>,
    /// Entry in a lock file, if it is an archive.
    locked: Option<LockedArchive>,
}

impl Stored {
    pub fn contains(&self, id: &ArtifactId) -> bool {
        self.artifacts.contains_key(id)
    }

    pub fn is_missing(&self, id: &ArtifactId) -> bool {
        self.missing.contains(id)
    }

    pub fn inputs(&self, id: &ArtifactId) -> &[(String, Input)] {
        self.artifacts.get(id).map(|artifact| &*artifact.inputs).unwrap_or_default()
    }

    pub fn digests(&self) -> BTreeSet<Digest> {
        self.artifacts.values().map(|artifact| artifact.digest).collect()
    }

    pub fn without_missing(mut self, missing: &BTreeSet<Digest>) -> Self {
        let is_missing = |artifact: &Artifact| missing.contains(&artifact.digest);
        let absent = self.artifacts.iter().filter(|(_, artifact)| is_missing(artifact));
        self.missing = absent.map(|(id, _)| id.clone()).collect();
        self.artifacts.retain(|_, artifact| !is_missing(artifact));
        self
    }

    pub fn archives<'i>(&self, ids: impl Iterator<Item = &'i ArtifactId>) -> Vec<ReadArchive> {
        let locked = ids.filter_map(|id| self.artifacts.get(id)?.locked.clone());
        locked.map(|locked| ReadArchive { locked, is_verified: true }).collect()
    }
}

impl Stored {
    pub fn contents<'i>(
        &self,
        ids: impl Iterator<Item = &'i ArtifactId>,
    ) -> BTreeMap<ArtifactId, Contents> {
        let contents = |artifact: &Artifact| match &artifact.locked {
            Some(archive) => Contents::Archive(archive.sha256.to_string()),
            None => Contents::Stored(artifact.digest.sha256.to_string()),
        };
        ids.filter_map(|id| Some((id.clone(), contents(self.artifacts.get(id)?)))).collect()
    }
}

#[derive(Debug)]
struct ArchiveFacts {
    key: String,
    place: String,
    size: u64,
    sidecar: Option<String>,
}

impl Packed for ArchiveFacts {
    fn key(&self) -> &str {
        &self.key
    }

    fn place(&self) -> String {
        self.place.clone()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Err(io::Error::other(format!("{} is only in the storage of a farm", self.place)))
    }

    fn sidecar(&self) -> io::Result<Option<String>> {
        Ok(self.sidecar.clone())
    }
}

impl ArchiveFacts {
    fn read(packed: &dyn Packed) -> Result<Self, Problem> {
        let sidecar = packed.sidecar().map_err(|error| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read a checksum: {error}"))
        })?;
        let (key, place) = (packed.key().to_owned(), packed.place());
        Ok(Self { key, place, size: packed.size(), sidecar })
    }

    /// Returns `None` without checksums.
    fn artifact(&self, demands: &Demands) -> Result<Option<Artifact>, Problem> {
        let expected = demands.expected(self)?;
        let Some(sha256) = expected.archive else { return Ok(None) };
        let locked = LockedArchive { key: self.key.clone(), size: self.size, sha256 };
        demands.check(self, expected, &locked)?;
        let digest = Digest { sha256, size: self.size };
        let mut inputs = vec![(self.key.clone(), Input::File(digest))];
        // The farm need not read the whole archive for its checksum.
        let sidecar = self.sidecar.clone().map(String::into_bytes);
        inputs.extend(sidecar.map(|text| (format!("{}{SIDECAR}", self.key), Input::Bytes(text))));
        Ok(Some(Artifact { digest, inputs, locked: Some(locked) }))
    }
}

/// Returns artifacts by the checksums of their archives, without reading them.
pub fn by_checksums(
    options: ArtifactOptions<'_>,
    demands: &Demands,
    needed: &BTreeSet<&ArtifactId>,
) -> Result<Stored, Failure> {
    let archives: Vec<Box<dyn Packed>> = if let Some(run) = artifacts::run(options)? {
        let selection = artifacts::select(&run, options, demands)?;
        artifacts::check(&selection, demands)?;
        let archives = selection.archives(&run.bucket).into_iter();
        archives.map(|archive| Box::new(archive) as Box<dyn Packed>).collect()
    } else {
        let archives = catalog::archives(artifacts::directory(options.place)?)?;
        let keys = archives.iter().map(|archive| archive.key()).collect();
        if let Some(problem) = demands.missing("the directory", &keys) {
            return Err(Failure::Problems(problem.into()));
        }
        archives
    };
    let artifact_of = |packed: &dyn Packed| {
        let Some(id) = archive_of(packed.key()).filter(|id| needed.contains(id)) else {
            return Ok(None);
        };
        let artifact = ArchiveFacts::read(packed)?.artifact(demands)?;
        Ok(artifact.map(|artifact| (id, artifact)))
    };
    let pool = pool(options.downloads())?;
    let artifacts: Result<Vec<_>, Problem> =
        pool.install(|| archives.par_iter().map(|packed| artifact_of(&**packed)).collect());
    let artifacts = artifacts.map_err(|problem| Failure::Problems(problem.into()))?;
    let unknown = format!("--artifacts-digest checksums: no archive with a {SIDECAR} file has");
    Ok(Stored {
        artifacts: artifacts.into_iter().flatten().collect(),
        missing: BTreeSet::new(),
        unknown,
    })
}

/// Fails if an archive violates a requirement.
pub fn in_directory(
    nodes: &BTreeMap<String, Node>,
    demands: &Demands,
    needed: &BTreeSet<&ArtifactId>,
) -> Result<Stored, Failure> {
    let keys = nodes.keys().filter(|name| archive_of(name).is_some()).map(String::as_str);
    if let Some(problem) = demands.missing("the directory", &keys.collect()) {
        return Err(Failure::Problems(problem.into()));
    }
    let unknown = "the directory of its storage has no".to_owned();
    let mut stored = Stored { artifacts: BTreeMap::new(), missing: BTreeSet::new(), unknown };
    for id in needed {
        let archives = archive_names(id);
        let archive = archives.iter().find_map(|name| match nodes.get(name) {
            Some(Node::File(digest)) => Some((name, *digest)),
            _ => None,
        });
        let artifact = match (archive, nodes.get(&id.to_string())) {
            (Some((name, digest)), _) => in_storage(name, digest, nodes, demands),
            // A lock file has no directories.
            (None, Some(Node::Directory(digest))) if demands.lock.is_none() => {
                let inputs = vec![(id.to_string(), Input::Directory(*digest))];
                Ok(Some(Artifact { digest: *digest, inputs, locked: None }))
            }
            _ => Ok(None),
        };
        let artifact = artifact.map_err(|problem| Failure::Problems(problem.into()))?;
        stored.artifacts.extend(artifact.map(|artifact| ((*id).clone(), artifact)));
    }
    Ok(stored)
}

/// Returns an archive with its digest as checksum.
fn in_storage(
    name: &str,
    digest: Digest,
    nodes: &BTreeMap<String, Node>,
    demands: &Demands,
) -> Result<Option<Artifact>, Problem> {
    let facts = ArchiveFacts {
        key: name.to_owned(),
        place: format!("`{name}` in the storage of the farm"),
        size: digest.size,
        sidecar: Some(format!("{}  {name}\n", digest.sha256)),
    };
    let sidecar = format!("{name}{SIDECAR}");
    let Some(mut artifact) = facts.artifact(demands)? else { return Ok(None) };
    if let Some(Node::File(digest)) = nodes.get(&sidecar) {
        // The storage's own file may also have the checksum of the archive's end.
        artifact.inputs.retain(|(name, _)| *name != sidecar);
        artifact.inputs.push((sidecar, Input::File(*digest)));
    }
    Ok(Some(artifact))
}
