//! Selection of the objects that packages need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::remote::RemoteArchive;
use crate::store::{Bucket, ErrorKind, Object, StoreError};
use base::names::PackageName;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use catalog::{
    ArtifactId, Demand, Demands, Needed, SIDECAR, archive_names, archive_of, sidecar_of,
};

/// Needed and other archives of a run.
#[derive(Debug)]
pub struct Selection {
    /// Needed archives, sorted by key.
    pub selected: Vec<Selected>,
    /// Other archives, sorted by key.
    pub unneeded: Vec<Unneeded>,
    /// Sidecars without their archive, sorted by key.
    pub orphaned_sidecars: Vec<String>,
    /// Needed artifacts, including missing ones; `None` in [`Selection::all`].
    pub needed: Option<Needed>,
}

/// A needed archive.
#[derive(Debug)]
pub struct Selected {
    /// Artifact.
    pub id: ArtifactId,
    /// Archive.
    pub object: Object,
    /// Sidecar with its checksum.
    pub sidecar: Option<Object>,
    /// Packages that take it.
    pub packages: BTreeSet<PackageName>,
}

/// An archive that is not needed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unneeded {
    /// Key.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// Reason.
    pub reason: UnneededReason,
}

/// Reason for not needing an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Why"))]
#[serde(rename_all = "kebab-case")]
pub enum UnneededReason {
    /// No requested package takes it.
    NoPackage,
    /// A zstd archive of the same artifact exists.
    #[serde(rename = "zstd-is-there")]
    ZstdExists,
}

impl UnneededReason {
    /// Reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoPackage => "no package takes it",
            Self::ZstdExists => "the zstd archive is taken",
        }
    }
}

impl Selection {
    /// Selects the needed archives of `run`. Without a listing, `demand` must name possible
    /// artifacts; the keys in `locked` are requested too.
    pub fn of_run(
        run: &dyn Bucket,
        demand: &dyn Demand,
        locked: &[&str],
    ) -> Result<Self, StoreError> {
        let objects = match run.list(None) {
            Err(error) if error.kind == ErrorKind::Unsupported => probe(run, demand, locked)?,
            listed => without_directories(run, listed?)?,
        };
        Ok(Self::of_objects(demand, objects))
    }

    /// Selects all archives of `run`.
    pub fn all(run: &dyn Bucket) -> Result<Self, StoreError> {
        let (selected, unneeded, orphans) = archives(without_directories(run, run.list(None)?)?);
        let orphaned_sidecars = orphans.into_keys().map(|key| format!("{key}{SIDECAR}")).collect();
        Ok(Self { selected, unneeded, orphaned_sidecars, needed: None })
    }

    /// Selects from a listing, without access to the store.
    pub(crate) fn of_objects(demand: &dyn Demand, objects: Vec<Object>) -> Self {
        let (archives, mut unneeded, orphans) = archives(objects);
        let ids: Vec<ArtifactId> = archives.iter().map(|selected| selected.id.clone()).collect();
        let needed = demand.needed(&ids);
        // An orphaned sidecar counts only if its artifact would be needed.
        let with_orphans: Vec<ArtifactId> =
            ids.into_iter().chain(orphans.values().cloned()).collect();
        let needed_with_orphans = demand.needed(&with_orphans).artifacts;
        let orphans = orphans.into_iter().filter(|(_, id)| needed_with_orphans.contains_key(id));
        let orphaned_sidecars = orphans.map(|(key, _)| format!("{key}{SIDECAR}")).collect();
        let mut selected = Vec::new();
        for archive in archives {
            match needed.artifacts.get(&archive.id) {
                Some(packages) => selected.push(Selected { packages: packages.clone(), ..archive }),
                None => unneeded.push(no_package(&archive.object)),
            }
        }
        unneeded.sort_by(|a, b| a.key.cmp(&b.key));
        Self { selected, unneeded, orphaned_sidecars, needed: Some(needed) }
    }

    /// Problems of the manifest's requirements, such as missing artifacts.
    pub fn problems(&self) -> Problems {
        self.needed.as_ref().map(|needed| needed.problems.clone()).unwrap_or_default()
    }

    /// Warning about sidecars without archives: an interrupted upload.
    pub fn warning(&self) -> Option<Problem> {
        let first = self.orphaned_sidecars.first()?;
        let message = match self.orphaned_sidecars.len() - 1 {
            0 => format!("`{first}` has no archive"),
            more => {
                let more = counted(more, "more checksum");
                format!("`{first}` and {more} have no archives")
            }
        };
        let help =
            "its upload may have been interrupted: check that the build of the run has finished";
        Some(Problem::warning(Code::MissingArtifact, message).help(help))
    }

    /// Bytes of all needed archives.
    pub fn size(&self) -> u64 {
        self.selected.iter().map(|selected| selected.object.size).sum()
    }

    /// Keys of all archives, or of those found without a listing.
    pub fn keys(&self) -> BTreeSet<&str> {
        let selected = self.selected.iter().map(|selected| selected.object.key.as_str());
        selected.chain(self.unneeded.iter().map(|unneeded| unneeded.key.as_str())).collect()
    }

    /// Keys of needed archives without checksum.
    pub fn without_checksum(&self, demands: &Demands) -> Vec<&str> {
        let is_locked =
            |key: &str| demands.lock.as_ref().is_some_and(|l| l.lock.get(key).is_some());
        let bare = self.selected.iter().filter(|selected| selected.sidecar.is_none());
        bare.map(|selected| selected.object.key.as_str()).filter(|key| !is_locked(key)).collect()
    }

    /// Needed archives, readable from `run`.
    pub fn archives(&self, run: &Arc<dyn Bucket>) -> Vec<RemoteArchive> {
        let archive = |selected: &Selected| {
            RemoteArchive::new(run.clone(), selected.object.clone(), selected.sidecar.clone())
        };
        self.selected.iter().map(archive).collect()
    }
}

fn no_package(object: &Object) -> Unneeded {
    Unneeded {
        key: object.key.as_str().to_owned(),
        size: object.size,
        reason: UnneededReason::NoPackage,
    }
}

/// Removes directory markers: listings omit their final `/`, so a read fails.
fn without_directories(run: &dyn Bucket, objects: Vec<Object>) -> Result<Vec<Object>, StoreError> {
    let mut files = Vec::new();
    for object in objects {
        let key = object.key.as_str();
        let counts = archive_of(key).is_some() || sidecar_of(key).is_some();
        if object.size > 0 || !counts || run.head(&object.key)?.is_some() {
            files.push(object);
        }
    }
    Ok(files)
}

fn archives(objects: Vec<Object>) -> (Vec<Selected>, Vec<Unneeded>, BTreeMap<String, ArtifactId>) {
    let (mut by_artifact, mut sidecars) = (BTreeMap::new(), BTreeMap::new());
    let mut superseded = Vec::new();
    let mut objects = objects;
    // The first archive of an artifact wins: in descending order, `.zst` is before `.xz`.
    objects.sort_by(|a, b| b.key.cmp(&a.key));
    // Deeper keys of a run are logs and packages.
    for object in objects.into_iter().filter(|object| object.key.depth() == 0) {
        if let Some(key) = sidecar_of(object.key.as_str()) {
            sidecars.insert(key.to_owned(), object);
        } else if let Some(id) = archive_of(object.key.as_str()) {
            match by_artifact.entry(id) {
                std::collections::btree_map::Entry::Vacant(entry) => _ = entry.insert(object),
                std::collections::btree_map::Entry::Occupied(_) => superseded.push(Unneeded {
                    key: object.key.as_str().to_owned(),
                    size: object.size,
                    reason: UnneededReason::ZstdExists,
                }),
            }
        }
    }
    let selected = by_artifact.into_iter().map(|(id, object)| {
        let sidecar = sidecars.remove(object.key.as_str());
        Selected { id, object, sidecar, packages: BTreeSet::new() }
    });
    let mut selected: Vec<Selected> = selected.collect();
    selected.sort_by(|a, b| a.object.key.cmp(&b.object.key));
    superseded.sort_by(|a, b| a.key.cmp(&b.key));
    let ids: BTreeSet<&ArtifactId> = selected.iter().map(|selected| &selected.id).collect();
    let orphans = sidecars.into_keys().filter_map(|key| Some((archive_of(&key)?, key)));
    let orphans = orphans.filter(|(id, _)| !ids.contains(id)).map(|(id, key)| (key, id)).collect();
    (selected, superseded, orphans)
}

/// Requests each possible archive, because the store has no listing.
fn probe(
    run: &dyn Bucket,
    demand: &dyn Demand,
    locked: &[&str],
) -> Result<Vec<Object>, StoreError> {
    let Some(ids) = demand.possible() else {
        let text = "it has no listing: name the families or ISAs to fetch with \
                    --linux-amdgpu-families";
        return Err(StoreError::new(ErrorKind::Invalid, run.name(), text));
    };
    let head = |key: &str| key.parse().map_or(Ok(None), |key| run.head(&key));
    let possible = ids.iter().map(|id| archive_names(id).to_vec());
    // Locked keys can be for other targets.
    let possible_keys: BTreeSet<String> = possible.clone().flatten().collect();
    let locked_keys = locked
        .iter()
        .filter(|key| !possible_keys.contains(**key))
        .map(|key| vec![(*key).to_owned()]);
    let alternatives: Vec<Vec<String>> = possible.chain(locked_keys).collect();
    let objects: Vec<_> = alternatives
        .par_iter()
        .map(|keys| {
            for key in keys {
                if let Some(object) = head(key)? {
                    return Ok([Some(object), head(&format!("{key}{SIDECAR}"))?]);
                }
            }
            Ok([None, None])
        })
        .collect::<Result<_, StoreError>>()?;
    Ok(objects.into_iter().flatten().flatten().collect())
}
