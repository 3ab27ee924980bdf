//! Requirements of published packages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use super::page::object_at;
use super::page_store::PageStore;
use super::read;
use super::{Options, PublishError, companion_key};
use crate::simple::{IndexedFile, Local};
use base::names::{RelPath, Requirement};
use base::version::Version;
use wheel::package::Metadata;

/// An unmet requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Requiring package.
    pub package: String,
    /// Requirement as written.
    pub requires: String,
    /// Available alternatives.
    pub alternatives: String,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requires `{}`: {}", self.package, self.requires, self.alternatives)
    }
}

/// Ignores markers: the requirements of every system must be available.
pub(super) struct Closure<'a> {
    store: &'a PageStore<'a>,
    options: &'a Options,
    locals: BTreeMap<&'a str, Vec<&'a Local>>,
    stored_by_project: BTreeMap<String, Vec<Stored>>,
    read: BTreeMap<RelPath, Option<Metadata>>,
}

#[derive(Debug, Clone)]
struct Stored {
    key: RelPath,
    entry: IndexedFile,
    version: Option<Version>,
}

impl<'a> Closure<'a> {
    pub(super) fn new(store: &'a PageStore<'a>, options: &'a Options, locals: &'a [Local]) -> Self {
        let mut by_project: BTreeMap<&str, Vec<&Local>> = BTreeMap::new();
        for local in locals {
            by_project.entry(&local.project).or_default().push(local);
        }
        let (stored_by_project, read) = (BTreeMap::new(), BTreeMap::new());
        Self { store, options, locals: by_project, stored_by_project, read }
    }

    /// Returns unmet requirements of the directory's packages and of packages in the store that
    /// they require.
    pub(super) fn check(mut self) -> Result<Vec<Unmet>, PublishError> {
        // Yanked packages may have unmet requirements.
        let is_yanked =
            |local: &&&Local| local.yanked().is_some_and(|yanked| yanked.reason().is_some());
        let unyanked = self.locals.values().flatten().filter(|local| !is_yanked(local));
        let mut open: VecDeque<(String, Requirement)> = unyanked
            .flat_map(|local| local.requires.iter().map(|r| (local.file_name.clone(), r.clone())))
            .collect();
        let (mut unmet, mut visited) = (Vec::new(), BTreeSet::new());
        while let Some((package, requirement)) = open.pop_front() {
            let text = requirement.text.split(';').next().unwrap_or_default().trim().to_owned();
            if !visited.insert((package.clone(), text.clone())) {
                continue;
            }
            match self.meet(&requirement)? {
                Ok(further) => {
                    for key in further {
                        let metadata = self.metadata(&key)?;
                        let more = metadata.iter().flat_map(Metadata::requirements).flatten();
                        open.extend(more.map(|r| (key.file_name().to_owned(), r)));
                    }
                }
                Err(alternatives) => unmet.push(Unmet { package, requires: text, alternatives }),
            }
        }
        Ok(unmet)
    }

    /// Packages in the store that meet a requirement, otherwise a description of the alternatives.
    fn meet(
        &mut self,
        requirement: &Requirement,
    ) -> Result<Result<Vec<RelPath>, String>, PublishError> {
        let Some(versions) = &requirement.versions else { return Ok(Ok(Vec::new())) };
        let Options { outside, publishing, .. } = self.options;
        if outside.contains(&requirement.name) || publishing.is_outside(&requirement.name) {
            return Ok(Ok(Vec::new()));
        }
        let fits = |version: &Version| {
            version.as_str().parse().is_ok_and(|version| versions.contains(&version))
        };
        let locals = self.locals.get(&*requirement.name).cloned().unwrap_or_default();
        let local_packages: Vec<&&Local> =
            locals.iter().filter(|local| fits(&local.version)).collect();
        let stored = self.stored(&requirement.name)?;
        let (yanked, stored): (Vec<Stored>, Vec<Stored>) =
            stored.into_iter().partition(|stored| stored.entry.yanked.reason().is_some());
        let fitting = |stored: &&Stored| stored.version.as_ref().is_some_and(fits);
        let newest = stored.iter().filter(fitting).max_by_key(|stored| stored.version.as_ref());
        let matching: Vec<&Stored> = stored
            .iter()
            .filter(|stored| newest.is_some_and(|n| n.version == stored.version))
            .collect();
        if local_packages.is_empty() && matching.is_empty() {
            let yanked = yanked.iter().find(fitting).and_then(|stored| stored.version.as_ref());
            return Ok(Err(match yanked {
                Some(version) => format!("`{}` {version} is yanked", requirement.name),
                None => describe_versions(&requirement.name, &locals, &stored),
            }));
        }
        for extra in &requirement.extras {
            let mut is_offered = local_packages.iter().any(|local| local.extras.contains(extra));
            for package in &matching {
                // Without METADATA, the extras are unknown.
                let metadata = self.metadata(&package.key)?;
                is_offered |= metadata.is_none_or(|m| m.extras().contains(extra));
            }
            if !is_offered {
                return Ok(Err(format!("it has no extra `{extra}`")));
            }
        }
        Ok(Ok(matching.iter().map(|package| package.key.clone()).collect()))
    }

    fn stored(&mut self, project: &str) -> Result<Vec<Stored>, PublishError> {
        if let Some(stored) = self.stored_by_project.get(project) {
            return Ok(stored.clone());
        }
        let mut stored = Vec::new();
        if let Some(shelf) = self.options.layout.shelf(project) {
            let place = shelf.page(project)?;
            let files = read::files(self.store, &place, project)?.0;
            for entry in files.into_iter().flat_map(|files| files.files) {
                let Some((name, version)) = entry.project() else { continue };
                if name == project {
                    let key = place.html.with_file_name(&entry.filename)?;
                    stored.push(Stored { key, entry, version: Some(version) });
                }
            }
        }
        self.stored_by_project.insert(project.to_owned(), stored.clone());
        Ok(stored)
    }

    fn metadata(&mut self, key: &RelPath) -> Result<Option<Metadata>, PublishError> {
        if let Some(read) = self.read.get(key) {
            return Ok(read.clone());
        }
        let stored = self.stored_by_project.values().flatten();
        let has_metadata = stored
            .filter(|package| package.key == *key)
            .any(|package| package.entry.has_metadata());
        let metadata_key = companion_key(key, "metadata")?;
        let page = if has_metadata { object_at(self.store.bucket, &metadata_key)? } else { None };
        let metadata = page.map(|p| Metadata::parse(&String::from_utf8_lossy(&p.bytes)));
        self.read.insert(key.clone(), metadata.clone());
        Ok(metadata)
    }
}

fn describe_versions(project: &str, locals: &[&Local], stored: &[Stored]) -> String {
    let local_versions = locals.iter().map(|local| &local.version);
    let stored_versions = stored.iter().filter_map(|package| package.version.as_ref());
    let mut versions: Vec<&Version> = local_versions.chain(stored_versions).collect();
    versions.sort();
    versions.dedup();
    let last: Vec<&str> = versions.iter().rev().take(3).map(|version| version.as_str()).collect();
    match last.as_slice() {
        [] => format!("neither the directory nor the store contains `{project}`"),
        last => format!("the available versions of `{project}` are {}", last.join(", ")),
    }
}
