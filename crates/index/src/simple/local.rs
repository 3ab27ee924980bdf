//! The packages of a directory, for somebody who makes pages elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::entry::{IndexedFile, Yanked};
use super::found::FilesOfIndex;
use super::package::Package;
use super::read::Yank;
use super::{IndexError, read};
use base::names::{Form, PackageName, RelPath, Requirement};
use base::version::Version;
use wheel::archive::Timestamp;
use wheel::package::{Metadata, PackageError, Sdist};

/// A package that lies in a directory.
#[derive(Debug, Clone)]
pub struct Local {
    /// Where it is.
    pub path: PathBuf,
    /// Its file name.
    pub file_name: String,
    /// The project as URLs name it.
    pub project: String,
    /// Its version.
    pub version: Version,
    /// Its METADATA, if it is a wheel.
    pub metadata: Option<Vec<u8>>,
    /// What it requires, for whichever system and extra.
    pub requires: Vec<Requirement>,
    /// The extras that it offers.
    pub extras: BTreeSet<String>,
    package: Package,
    yank: Option<Yank>,
}

/// All packages below `dir`, sorted by file name. Equal ones that lie in several places are one; selectors of one
/// name can be for several indexes ([`Local::index`]).
///
/// # Errors
/// When one cannot be read, or two of one name have different bytes.
pub fn packages(dir: &Path) -> Result<Vec<Local>, IndexError> {
    if !dir.is_dir() {
        return Err(IndexError::NotADirectory { path: dir.to_owned() });
    }
    let mut seen: BTreeMap<(String, Option<PackageName>), (RelPath, Local)> = BTreeMap::new();
    for path in FilesOfIndex::below(dir)?.packages {
        let local = Local::read(&dir.join(path.as_str()))
            .map_err(|source| IndexError::Broken { path: path.clone(), source })?;
        let key = (path.file_name().to_owned(), local.package.index.clone());
        match seen.get(&key) {
            Some((first, other)) if other.sha256() != local.sha256() => {
                return Err(IndexError::Clash { first: first.clone(), second: path });
            }
            Some(_) => {}
            None => drop(seen.insert(key, (path, local))),
        }
    }
    Ok(seen.into_values().map(|(_, local)| local).collect())
}

/// Files below `dir` that yank a package which is not beside them (`FILE.yanked` without `FILE`).
///
/// # Errors
/// When the directory cannot be read.
pub fn stray_yanks(dir: &Path) -> Result<Vec<RelPath>, IndexError> {
    FilesOfIndex::below(dir).map(FilesOfIndex::stray_yanks)
}

/// What an sdist requires, for whichever system and extra.
///
/// # Errors
/// When it cannot be read.
pub fn requirements_of_sdist(path: &Path) -> Result<Vec<Requirement>, PackageError> {
    Local::read(path).map(|local| local.requires)
}

impl Local {
    fn read(path: &Path) -> Result<Self, PackageError> {
        let (package, metadata) = read::package(path)?;
        let yank = read::yank(path)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut local = Self {
            path: path.to_owned(),
            project: package.project.clone(),
            version: package.version.clone(),
            metadata,
            requires: Vec::new(),
            extras: BTreeSet::new(),
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

    /// Its METADATA or PKG-INFO, if it has one.
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

    /// The index of its own that it is for, as a further selector of its name.
    pub fn index(&self) -> Option<&PackageName> {
        self.package.index.as_ref()
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.package.size
    }

    /// Its SHA-256, in hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.package.sha256
    }

    /// What a page says of it, from which it is seen at `url`. Without a time, it was uploaded when its newest
    /// member was made.
    pub fn entry(&self, url: String, time: Option<Timestamp>) -> IndexedFile {
        let own = Timestamp::from_seconds(self.package.time).unwrap_or_default();
        let yanked = self.yank.clone().and_then(Yank::reason);
        IndexedFile::new(
            &self.file_name,
            url,
            &self.package,
            yanked.as_deref(),
            time.unwrap_or(own),
        )
    }

    /// What the file beside it says of whether it is yanked (`FILE.yanked`), if there is one: the last word.
    pub fn yanked(&self) -> Option<Yanked> {
        self.yank.clone().map(|yank| Yanked::of(yank.reason().as_deref()))
    }
}
