use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::attestation::{self, PROVENANCE};
use super::copies;
use super::entry::{CONTENT, IndexedFile, Yanked};
use super::files_of_index::FilesOfIndex;
use super::package::Package;
use super::yank::Yank;
use super::{IndexError, read};
use base::hash::Sha256;
use base::names::{Form, PackageName, RelPath, Requirement};
use base::version::Version;
use wheel::archive::Timestamp;
use wheel::package::{Metadata, PackageError, Sdist};

/// A package in a directory.
#[derive(Debug, Clone)]
pub struct Local {
    /// Path.
    pub path: PathBuf,
    /// File name.
    pub file_name: String,
    /// Normalized project name (PEP 503).
    pub project: String,
    /// Version.
    pub version: Version,
    /// METADATA of a wheel.
    pub metadata: Option<Vec<u8>>,
    /// Requirements of all systems and extras.
    pub requires: Vec<Requirement>,
    /// Offered extras.
    pub extras: BTreeSet<String>,
    /// List of the content, for builds that refer to this package.
    pub content: Option<String>,
    /// Provenance object of the attestations beside the package.
    pub provenance: Option<String>,
    /// Patches beside the package.
    pub patches: Vec<PathBuf>,
    package: Package,
    yank: Option<Yank>,
}

/// Reads all packages below `dir`, sorted by file name. Equal ones are one, with the yank, the
/// attestations and the patches of all.
pub fn packages(dir: &Path) -> Result<Vec<Local>, IndexError> {
    if !dir.is_dir() {
        return Err(IndexError::NotADirectory { path: dir.to_owned() });
    }
    let mut by_name: BTreeMap<(String, Option<PackageName>), (RelPath, Local)> = BTreeMap::new();
    let files = FilesOfIndex::below(dir)?;
    let patches = files.patches();
    for path in &files.packages {
        let mut local = Local::read(&dir.join(path.as_str()))
            .map_err(|error| IndexError::of_package(dir, path, error))?;
        local.provenance = provenance(dir, path, local.sha256())?;
        let patches = patches.get(path.as_str()).into_iter().flatten();
        local.patches = patches.map(|patch| dir.join(patch.as_str())).collect();
        let key = (path.file_name().to_owned(), local.package.index.clone());
        match by_name.entry(key) {
            Entry::Vacant(free) => drop(free.insert((path.clone(), local))),
            Entry::Occupied(mut known) => {
                let (first, equal) = known.get_mut();
                if equal.sha256() != local.sha256() {
                    return Err(IndexError::Clash { first: first.clone(), second: path.clone() });
                }
                equal.add_facts(local, path)?;
            }
        }
    }
    Ok(by_name.into_values().map(|(_, local)| local).collect())
}

/// Yanks, attestations and patches below `dir` (`FILE.yanked`) without `FILE`.
pub fn strays(dir: &Path) -> Result<Vec<RelPath>, IndexError> {
    FilesOfIndex::below(dir).map(FilesOfIndex::strays)
}

/// Paths of the packages below `dir`, sorted.
pub fn package_files(dir: &Path) -> Result<Vec<RelPath>, IndexError> {
    if !dir.is_dir() {
        return Err(IndexError::NotADirectory { path: dir.to_owned() });
    }
    FilesOfIndex::below(dir).map(|files| files.packages)
}

pub(super) fn provenance(
    dir: &Path,
    package: &RelPath,
    sha256: &str,
) -> Result<Option<String>, IndexError> {
    attestation::provenance(&dir.join(package.as_str()), sha256).map_err(|(ending, source)| {
        match package.with_file_name(&format!("{}.{ending}", package.file_name())) {
            Ok(path) => IndexError::Attestation { path, source },
            Err(source) => IndexError::Name { dir: dir.to_owned(), source },
        }
    })
}

/// Requirements of an sdist for all systems and extras.
pub fn requirements_of_sdist(path: &Path) -> Result<Vec<Requirement>, PackageError> {
    Local::read(path).map(|local| local.requires)
}

impl Local {
    fn read(path: &Path) -> Result<Self, PackageError> {
        let (package, metadata) = read::package(path)?;
        let yank = Yank::beside(path)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut local = Self {
            path: path.to_owned(),
            project: package.project.clone(),
            version: package.version.clone(),
            metadata,
            requires: Vec::new(),
            extras: BTreeSet::new(),
            content: None,
            provenance: None,
            patches: Vec::new(),
            package,
            yank,
            file_name,
        };
        if let Some(metadata) = local.parsed()? {
            local.requires.extend(metadata.requirements().flatten());
            local.extras.extend(metadata.extras());
        }
        Ok(local)
    }

    /// Adds yank, provenance and patches of the equal package at `path`.
    fn add_facts(&mut self, equal: Self, path: &RelPath) -> Result<(), IndexError> {
        copies::add_yank(&mut self.yank, equal.yank, path)?;
        self.provenance = self.provenance.take().or(equal.provenance);
        for patch in equal.patches {
            if self.patches.iter().all(|known| known.file_name() != patch.file_name()) {
                self.patches.push(patch);
            }
        }
        Ok(())
    }

    fn parsed(&self) -> Result<Option<Metadata>, PackageError> {
        if let Some(bytes) = &self.metadata {
            return Ok(Some(Metadata::parse(&String::from_utf8_lossy(bytes))));
        }
        if Form::of_file(&self.file_name) != Some(Form::Sdist) {
            return Ok(None);
        }
        let sdist = Sdist::open(&self.path, |_, _| Ok(()))?;
        Ok(sdist.pkg_info().map(Metadata::parse))
    }

    /// Further index of this selector; `None` for others.
    pub fn index(&self) -> Option<&PackageName> {
        self.package.index.as_ref()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.package.size
    }

    /// Hexadecimal SHA-256.
    pub fn sha256(&self) -> &str {
        &self.package.sha256
    }

    /// Page entry with the address `url`. `time` defaults to the newest member's; `public` is the
    /// absolute address.
    pub fn entry(&self, url: String, public: Option<&str>, time: Option<Timestamp>) -> IndexedFile {
        let newest = Timestamp::from_seconds(self.package.time).unwrap_or_default();
        let yanked = self.yank.clone().and_then(Yank::reason);
        let time = time.unwrap_or(newest);
        let entry = IndexedFile::new(&self.file_name, url, &self.package, yanked.as_deref(), time);
        let hash = |list: &String| json!({ "sha256": Sha256::of(list.as_bytes()).to_string() });
        let public = public.filter(|_| self.provenance.is_some());
        let mut entry =
            entry.with_provenance(public.map(|public| format!("{public}.{PROVENANCE}")));
        entry.extra.extend(self.content.as_ref().map(|list| (CONTENT.to_owned(), hash(list))));
        entry
    }

    /// State in `FILE.yanked`, which overrides pages; `None` without the file.
    pub fn yanked(&self) -> Option<Yanked> {
        self.yank.clone().map(|yank| Yanked::from_reason(yank.reason().as_deref()))
    }
}
