//! Newest published package of each project, for sets that refer to earlier packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::publish::{PublishError, project_files};
use crate::simple::{CONTENT, CONTENT_ENDING, IndexedFile};
use crate::store::{Bucket, StoreError};
use base::hash::Sha256;
use base::names::RelPath;
use base::text::counted;
use base::version::Version;
use record::Published;
use record::content::{ContentError, ContentTextError, PackageContent, Rules, content};
use wheel::package::{OpenError, ReadError, Wheel, WheelName, packages};

const LONGEST_LIST: u64 = 64 << 20;

/// Reason for which earlier packages are unknown.
#[derive(Debug, thiserror::Error)]
pub enum EarlierError {
    /// Unreadable page.
    #[error(transparent)]
    Page(#[from] PublishError),
    /// Failure of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Unreadable package.
    #[error(transparent)]
    Package(#[from] ContentError),
    /// Unreadable directory.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// List that differs from the hash on its page.
    #[error("`{key}` does not have the SHA-256 that the page of its project names")]
    OtherList {
        /// Key of the list.
        key: RelPath,
    },
    /// Unreadable list.
    #[error("`{key}` cannot be read: {source}")]
    List {
        /// Key of the list.
        key: RelPath,
        /// Fault of its text.
        source: ContentTextError,
    },
    /// Place without earlier versions.
    #[error("{place} has no earlier version of {}", counted(*.count, "package"))]
    Nothing {
        /// Store or directory.
        place: String,
        /// Number of packages.
        count: usize,
    },
}

impl From<OpenError> for EarlierError {
    fn from(error: OpenError) -> Self {
        Self::Package(error.into())
    }
}

/// Packages to look for.
#[derive(Debug)]
pub struct EarlierQuery<'w> {
    /// New wheels, by normalized name of the distribution.
    pub wheels: BTreeMap<String, WheelName>,
    /// Rules for packages without a list.
    pub rules: &'w Rules,
}

/// The newest earlier package of each one in `query` with the same tags, by normalized name.
/// `bucket` is an index with a directory for each project, or the directory `local`, possibly
/// without pages.
///
/// # Errors
///
/// Fails if no package has an earlier version.
pub fn earlier(
    bucket: &dyn Bucket,
    local: Option<&Path>,
    query: &EarlierQuery<'_>,
) -> Result<BTreeMap<String, Published>, EarlierError> {
    let mut published = BTreeMap::new();
    for (name, wheel) in &query.wheels {
        if let Some(package) = on_page(bucket, local, (name, wheel), query.rules)? {
            published.insert(name.clone(), package);
        }
    }
    if published.is_empty() {
        published = in_directory(local, query)?;
    }
    if published.is_empty() {
        let (place, count) = (bucket.name().to_owned(), query.wheels.len());
        return Err(EarlierError::Nothing { place, count });
    }
    Ok(published)
}

fn older(file_name: &str, newer: &WheelName) -> Option<Version> {
    let name: WheelName = file_name.parse().ok()?;
    let candidate =
        WheelName { version: newer.version.clone(), dist: newer.dist.clone(), ..name.clone() };
    let is_same = candidate == *newer && name.dist.normalized() == newer.dist.normalized();
    (is_same && name.version < newer.version).then_some(name.version)
}

fn on_page(
    bucket: &dyn Bucket,
    local: Option<&Path>,
    (project, newer): (&str, &WheelName),
    rules: &Rules,
) -> Result<Option<Published>, EarlierError> {
    let files = project_files(bucket, project)?;
    let unyanked = files.into_iter().filter(|(file, _)| file.yanked.reason().is_none());
    let old = unyanked.filter_map(|(file, key)| Some((older(&file.filename, newer)?, file, key)));
    let newest = old.max_by(|a, b| a.0.cmp(&b.0));
    let Some((version, file, key)) = newest else { return Ok(None) };
    let list = list(bucket, &file, &key)?;
    let content = match (list, local) {
        (Some(list), _) => list,
        (None, Some(local)) => content(&Wheel::open(&local.join(key.as_str()))?, rules)?,
        (None, None) => return Ok(None),
    };
    let size = file.size.unwrap_or_default();
    Ok(Some(Published { version, file: file.filename, size, content }))
}

fn list(
    bucket: &dyn Bucket,
    file: &IndexedFile,
    package: &RelPath,
) -> Result<Option<PackageContent>, EarlierError> {
    let sha256 =
        file.extra.get(CONTENT).and_then(|value| value.get("sha256")).and_then(Value::as_str);
    let Some(sha256) = sha256 else { return Ok(None) };
    let key = package.with_file_name(&format!("{}.{CONTENT_ENDING}", package.file_name()));
    let key = key.map_err(PublishError::from)?;
    let bytes = bucket.get(&key, None)?.bytes(bucket, LONGEST_LIST)?;
    if Sha256::of(&bytes).to_string() != sha256 {
        return Err(EarlierError::OtherList { key });
    }
    let read = PackageContent::read(&String::from_utf8_lossy(&bytes));
    read.map(Some).map_err(|source| EarlierError::List { key, source })
}

fn in_directory(
    local: Option<&Path>,
    query: &EarlierQuery<'_>,
) -> Result<BTreeMap<String, Published>, EarlierError> {
    let Some(local) = local else { return Ok(BTreeMap::new()) };
    let mut newest: BTreeMap<String, (Version, PathBuf)> = BTreeMap::new();
    for package in packages(local)? {
        let file_name = package.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let older_version =
            |(name, wheel): (&String, &WheelName)| Some((name.clone(), older(&file_name, wheel)?));
        let Some((name, version)) = query.wheels.iter().find_map(older_version) else { continue };
        if newest.get(&name).is_none_or(|(newest_version, _)| *newest_version < version) {
            newest.insert(name, (version, package.path));
        }
    }
    let mut published = BTreeMap::new();
    for (name, (version, path)) in newest {
        let wheel = Wheel::open(&path)?;
        let size = fs_err::metadata(&path).map_err(OpenError::from)?.len();
        let content = content(&wheel, query.rules)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        published.insert(name, Published { version, file, size, content });
    }
    Ok(published)
}
