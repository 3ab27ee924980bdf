//! What packages that stay require.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use fs_err::File;
use pep440_rs::{Operator, Version, VersionSpecifiers};

use super::inventory::{Inventory, Item};
use crate::cleanup;
use crate::index::requirements_of_sdist;
use crate::names::{RelPath, Requirement};
use crate::package::Metadata;
use crate::publish::workers::each;
use crate::publish::{PublishError, read};
use crate::store::{Bucket, StoreError};

/// No sdist that is read to find out what it requires is larger.
const LARGEST_SDIST: u64 = 256 << 20;

/// Follows requirements from the packages that stay to others. Markers and extras do not count: what is required on
/// some system has to stay for it.
pub(super) struct Needs<'a> {
    bucket: &'a dyn Bucket,
    jobs: usize,
    kept: BTreeSet<&'a RelPath>,
    open: Vec<&'a Item>,
    by_project: BTreeMap<&'a str, Vec<&'a Item>>,
}

impl<'a> Needs<'a> {
    pub(super) fn new(bucket: &'a dyn Bucket, inventory: &'a Inventory, jobs: usize) -> Self {
        let mut by_project: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in inventory.items() {
            by_project.entry(&item.project).or_default().push(item);
        }
        let (kept, open) = (BTreeSet::new(), Vec::new());
        Self { bucket, jobs, kept, open, by_project }
    }

    /// Says that a package stays.
    pub(super) fn keep(&mut self, item: &'a Item) {
        if self.kept.insert(item.key()) {
            self.open.push(item);
        }
    }

    /// The keys that have to stay beside those that do, and for each the file name of one that requires it.
    ///
    /// # Errors
    /// When the store cannot be read, or it is not known what a package requires.
    pub(super) fn follow(mut self) -> Result<BTreeMap<&'a RelPath, String>, PublishError> {
        let mut needed = BTreeMap::new();
        while !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            let (bucket, jobs) = (self.bucket, self.jobs);
            let found = each(&open, jobs, |item| requirements(bucket, item))?;
            let unknown = open.iter().zip(&found).filter(|(_, found)| found.is_none());
            let unknown: Vec<String> =
                unknown.map(|(item, _)| format!("`{}`", item.key())).collect();
            if !unknown.is_empty() {
                return Err(PublishError::Unknown(unknown));
            }
            for (item, requirements) in open.iter().zip(found) {
                for requirement in requirements.into_iter().flatten() {
                    for met in self.meet(&requirement) {
                        needed.insert(met.key(), item.key().file_name().to_owned());
                        self.keep(met);
                    }
                }
            }
        }
        Ok(needed)
    }

    /// What has to stay for a requirement: all files of a version that is pinned; else those of the newest version
    /// that fits, unless one stays anyway.
    fn meet(&self, requirement: &Requirement) -> Vec<&'a Item> {
        let Some(versions) = &requirement.versions else { return Vec::new() };
        let all = self.by_project.get(&*requirement.name).into_iter().flatten();
        let parsed = |item: &Item| item.version().parse::<Version>().ok();
        let fit: Vec<(Version, &Item)> = all
            .filter_map(|item| parsed(item).map(|version| (version, *item)))
            .filter(|(version, _)| versions.contains(version))
            .collect();
        let stays = fit.iter().any(|(_, item)| self.kept.contains(item.key()));
        let newest = fit.iter().map(|(version, _)| version).max();
        let wanted = |version: &Version| is_pinned(versions) || !stays && Some(version) == newest;
        fit.iter().filter(|(version, _)| wanted(version)).map(|(_, item)| *item).collect()
    }
}

/// Whether a requirement is for one version.
fn is_pinned(versions: &VersionSpecifiers) -> bool {
    let pins = [Operator::Equal, Operator::ExactEqual];
    versions.iter().any(|specifier| pins.contains(specifier.operator()))
}

/// What a package requires; nothing when nobody knows.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn requirements(
    bucket: &dyn Bucket,
    item: &Item,
) -> Result<Option<Vec<Requirement>>, PublishError> {
    if let Some(key) = item.metadata()
        && let Some(page) = read::page(bucket, key)?
    {
        let metadata = Metadata::parse(&String::from_utf8_lossy(&page.bytes));
        return Ok(Some(metadata.requirements().flatten().collect()));
    }
    let key = item.key();
    if !key.as_str().ends_with(".tar.gz") {
        // Whoever publishes it now has not come to its metadata yet, and to no page.
        return Ok((!item.is_named).then(Vec::new));
    }
    if item.size() > LARGEST_SDIST {
        return Ok(None);
    }
    let local = |error: &io::Error| StoreError::of_read(bucket.name(), key, error);
    let (dir, _registration) =
        cleanup::temporary(tempfile::tempdir).map_err(|error| local(&error))?;
    let path = dir.path().join(key.file_name());
    let mut file = File::create(&path).map_err(|error| local(&error))?;
    io::copy(&mut bucket.get(key, None)?.body, &mut file).map_err(|error| local(&error))?;
    Ok(requirements_of_sdist(&path).ok())
}
