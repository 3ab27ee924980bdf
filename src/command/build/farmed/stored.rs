//! Which artifacts the storage of a farm has, as far as it is known here without reading one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use base::source::{Code, Problem};
use build::provenance::Contents;
use plan::catalog::{
    self, ArtifactId, Demands, LockedArchive, Packed, SIDECAR, Taken, archive_names, archive_of,
};
use rayon::prelude::*;
use remote::{Digest, Input, Node};

use crate::failure::Failure;
use crate::inputs::artifacts::{self, Asked};
use crate::inputs::pool;

/// Artifacts that the storage may have.
pub struct Stored {
    known: BTreeMap<ArtifactId, Artifact>,
    /// Those that it was asked for, and does not have.
    gone: BTreeSet<ArtifactId>,
    /// What is said of all others, before their names.
    pub unknown: String,
}

/// One of them.
struct Artifact {
    digest: Digest,
    /// What is given to the farm, by names in the directory of artifacts.
    inputs: Vec<(String, Input)>,
    /// What a lock file says of it, if it is an archive.
    locked: Option<LockedArchive>,
}

impl Stored {
    /// Whether it has an artifact.
    pub fn has(&self, id: &ArtifactId) -> bool {
        self.known.contains_key(id)
    }

    /// Whether it was asked for an artifact, and does not have it.
    pub fn is_gone(&self, id: &ArtifactId) -> bool {
        self.gone.contains(id)
    }

    /// What is given to the farm of an artifact.
    pub fn inputs(&self, id: &ArtifactId) -> &[(String, Input)] {
        self.known.get(id).map(|artifact| &*artifact.inputs).unwrap_or_default()
    }

    /// What the storage has to have.
    pub fn digests(&self) -> BTreeSet<Digest> {
        self.known.values().map(|artifact| artifact.digest).collect()
    }

    /// Those that it does have.
    pub fn without(mut self, missing: &BTreeSet<Digest>) -> Self {
        let is_gone = |artifact: &Artifact| missing.contains(&artifact.digest);
        let gone = self.known.iter().filter(|(_, artifact)| is_gone(artifact));
        self.gone = gone.map(|(id, _)| id.clone()).collect();
        self.known.retain(|_, artifact| !is_gone(artifact));
        self
    }

    /// The archives among these, for the lock file.
    pub fn taken<'i>(&self, ids: impl Iterator<Item = &'i ArtifactId>) -> Vec<Taken> {
        let locked = ids.filter_map(|id| self.known.get(id)?.locked.clone());
        locked.map(|archive| Taken { archive, vouched: true }).collect()
    }
}

impl Stored {
    /// Returns the digests of these artifacts, as provenance records them.
    pub fn contents<'i>(
        &self,
        ids: impl Iterator<Item = &'i ArtifactId>,
    ) -> BTreeMap<ArtifactId, Contents> {
        let contents = |artifact: &Artifact| match &artifact.locked {
            Some(archive) => Contents::Archive(archive.sha256.to_string()),
            None => Contents::Stored(artifact.digest.sha256.to_string()),
        };
        ids.filter_map(|id| Some((id.clone(), contents(self.known.get(id)?)))).collect()
    }
}

/// An archive of which all is known but its bytes.
#[derive(Debug)]
struct Known {
    key: String,
    place: String,
    size: u64,
    sidecar: Option<String>,
}

impl Packed for Known {
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
        Err(io::Error::other(format!("{} is in the storage of a farm alone", self.place)))
    }

    fn sidecar(&self) -> io::Result<Option<String>> {
        Ok(self.sidecar.clone())
    }
}

impl Known {
    /// What is known of an archive that is elsewhere.
    fn of(packed: &dyn Packed) -> Result<Self, Problem> {
        let sidecar = packed.sidecar().map_err(|error| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read a checksum: {error}"))
        })?;
        let (key, place) = (packed.key().to_owned(), packed.place());
        Ok(Self { key, place, size: packed.size(), sidecar })
    }

    /// The archive as its checksums say; none when it has none.
    fn artifact(&self, demands: &Demands) -> Result<Option<Artifact>, Problem> {
        let expected = demands.expected(self)?;
        let Some(sha256) = expected.archive else { return Ok(None) };
        let locked = LockedArchive { key: self.key.clone(), size: self.size, sha256 };
        demands.check(self, expected, &locked)?;
        let digest = Digest { sha256, size: self.size };
        let mut inputs = vec![(self.key.clone(), Input::File(digest))];
        // With it, the farm need not read the whole archive.
        let sidecar = self.sidecar.clone().map(String::into_bytes);
        inputs.extend(sidecar.map(|text| (format!("{}{SIDECAR}", self.key), Input::Bytes(text))));
        Ok(Some(Artifact { digest, inputs, locked: Some(locked) }))
    }
}

/// The archives of a run or of a directory that have checksums. No byte of them is read.
///
/// # Errors
/// When they cannot be listed, a checksum cannot be read, or an archive is not as demanded.
pub fn by_checksums(
    asked: Asked<'_>,
    demands: &Demands,
    needed: &BTreeSet<&ArtifactId>,
) -> Result<Stored, Failure> {
    let archives: Vec<Box<dyn Packed>> = if let Some(run) = artifacts::run(asked)? {
        let selection = artifacts::select(&run, asked, demands)?;
        artifacts::check(&selection, demands)?;
        let archives = selection.archives(&run.bucket).into_iter();
        archives.map(|archive| Box::new(archive) as Box<dyn Packed>).collect()
    } else {
        let archives = catalog::archives(artifacts::directory(asked.place)?)?;
        let keys = archives.iter().map(|archive| archive.key()).collect();
        demands.lost(&keys).map_or(Ok(()), |lost| Err(Failure::Problems(lost.into())))?;
        archives
    };
    let one = |packed: &dyn Packed| {
        let Some(id) = archive_of(packed.key()).filter(|id| needed.contains(id)) else {
            return Ok(None);
        };
        let artifact = Known::of(packed)?.artifact(demands)?;
        Ok(artifact.map(|artifact| (id, artifact)))
    };
    let pool = pool(asked.downloads())?;
    let found: Result<Vec<_>, Problem> =
        pool.install(|| archives.par_iter().map(|packed| one(&**packed)).collect());
    let found = found.map_err(|problem| Failure::Problems(problem.into()))?;
    let unknown =
        format!("--artifacts-digest checksums: no archive with a {SIDECAR} file beside it has");
    Ok(Stored { known: found.into_iter().flatten().collect(), gone: BTreeSet::new(), unknown })
}

/// The archives and directories in a directory of the storage.
///
/// # Errors
/// When an archive is not as demanded.
pub fn in_directory(
    nodes: &BTreeMap<String, Node>,
    demands: &Demands,
    needed: &BTreeSet<&ArtifactId>,
) -> Result<Stored, Failure> {
    let keys = nodes.keys().filter(|name| archive_of(name).is_some()).map(String::as_str);
    if let Some(problem) = demands.lost(&keys.collect()) {
        return Err(Failure::Problems(problem.into()));
    }
    let unknown = "the directory of its storage has no".to_owned();
    let mut stored = Stored { known: BTreeMap::new(), gone: BTreeSet::new(), unknown };
    for id in needed {
        let archives = archive_names(id);
        let archive = archives.iter().find_map(|name| match nodes.get(name) {
            Some(Node::File(digest)) => Some((name, *digest)),
            _ => None,
        });
        let found = match (archive, nodes.get(&id.to_string())) {
            (Some((name, digest)), _) => in_storage(name, digest, nodes, demands),
            // A lock file can say nothing of a directory.
            (None, Some(Node::Directory(digest))) if demands.lock.is_none() => {
                let inputs = vec![(id.to_string(), Input::Directory(*digest))];
                Ok(Some(Artifact { digest: *digest, inputs, locked: None }))
            }
            _ => Ok(None),
        };
        let found = found.map_err(|problem| Failure::Problems(problem.into()))?;
        stored.known.extend(found.map(|artifact| ((*id).clone(), artifact)));
    }
    Ok(stored)
}

/// An archive whose checksum is its digest.
fn in_storage(
    name: &str,
    digest: Digest,
    nodes: &BTreeMap<String, Node>,
    demands: &Demands,
) -> Result<Option<Artifact>, Problem> {
    let known = Known {
        key: name.to_owned(),
        place: format!("`{name}` in the storage of the farm"),
        size: digest.size,
        sidecar: Some(format!("{}  {name}\n", digest.sha256)),
    };
    let sidecar = format!("{name}{SIDECAR}");
    let Some(mut artifact) = known.artifact(demands)? else { return Ok(None) };
    if let Some(Node::File(own)) = nodes.get(&sidecar) {
        // The storage's own may say more: the checksum of the archive's end.
        artifact.inputs.retain(|(name, _)| *name != sidecar);
        artifact.inputs.push((sidecar, Input::File(*own)));
    }
    Ok(Some(artifact))
}
