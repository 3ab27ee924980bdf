//! Requirements of published packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::page::object_at;
use super::page_store::PageStore;
use super::read;
use super::{Options, PublishError, companion_key};
use crate::simple::Local;
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
    read: BTreeMap<RelPath, Option<Metadata>>,
}

/// Package on a page.
#[derive(Debug, Clone)]
struct Stored {
    key: RelPath,
    version: Version,
    is_yanked: bool,
    has_metadata: bool,
}

/// Requirements by project, with the requiring packages.
type Open = BTreeMap<String, Vec<(String, Requirement)>>;

impl<'a> Closure<'a> {
    pub(super) fn new(store: &'a PageStore<'a>, options: &'a Options, locals: &'a [Local]) -> Self {
        let mut by_project: BTreeMap<&str, Vec<&Local>> = BTreeMap::new();
        for local in locals {
            by_project.entry(&local.project).or_default().push(local);
        }
        Self { store, options, locals: by_project, read: BTreeMap::new() }
    }

    /// Returns unmet requirements of the directory's packages and of packages in the store that
    /// they require.
    pub(super) fn check(mut self) -> Result<Vec<Unmet>, PublishError> {
        // Yanked packages may have unmet requirements.
        let is_yanked =
            |local: &&&Local| local.yanked().is_some_and(|yanked| yanked.reason().is_some());
        let unyanked = self.locals.values().flatten().filter(|local| !is_yanked(local));
        let mut open = Open::new();
        for local in unyanked {
            add(&mut open, &local.file_name, local.requires.iter().cloned());
        }
        let (mut unmet, mut visited) = (Vec::new(), BTreeSet::new());
        // One project at a time: its page lists all nights.
        while let Some((project, requirements)) = open.pop_first() {
            let mut is_new = |(package, requirement): &(String, Requirement)| {
                visited.insert((package.clone(), without_marker(requirement).to_owned()))
            };
            let requirements: Vec<_> = requirements.into_iter().filter(&mut is_new).collect();
            if requirements.iter().all(|(_, requirement)| requirement.versions.is_none()) {
                continue;
            }
            let stored = self.stored(&project)?;
            for (package, requirement) in requirements {
                match self.meet(&requirement, &stored)? {
                    Ok(further) => {
                        for stored in further {
                            let metadata = self.metadata(stored)?;
                            let more = metadata.iter().flat_map(Metadata::requirements).flatten();
                            add(&mut open, stored.key.file_name(), more);
                        }
                    }
                    Err(alternatives) => {
                        let requires = without_marker(&requirement).to_owned();
                        unmet.push(Unmet { package, requires, alternatives });
                    }
                }
            }
        }
        unmet.sort_by(|a, b| (&a.package, &a.requires).cmp(&(&b.package, &b.requires)));
        Ok(unmet)
    }

    /// Packages in the store that meet a requirement, otherwise a description of the alternatives.
    fn meet<'s>(
        &mut self,
        requirement: &Requirement,
        stored: &'s [Stored],
    ) -> Result<Result<Vec<&'s Stored>, String>, PublishError> {
        let Some(versions) = &requirement.versions else { return Ok(Ok(Vec::new())) };
        if self.is_outside(&requirement.name) {
            return Ok(Ok(Vec::new()));
        }
        let fits = |version: &Version| {
            version.as_str().parse().is_ok_and(|version| versions.contains(&version))
        };
        let locals = self.locals.get(&*requirement.name).cloned().unwrap_or_default();
        let local_packages: Vec<&&Local> =
            locals.iter().filter(|local| fits(&local.version)).collect();
        let (yanked, stored): (Vec<&Stored>, Vec<&Stored>) =
            stored.iter().partition(|stored| stored.is_yanked);
        let fitting = |stored: &&&Stored| fits(&stored.version);
        let newest = stored.iter().filter(fitting).max_by_key(|stored| &stored.version);
        let matching: Vec<&Stored> = stored
            .iter()
            .copied()
            .filter(|stored| newest.is_some_and(|n| n.version == stored.version))
            .collect();
        if local_packages.is_empty() && matching.is_empty() {
            return Ok(Err(match yanked.iter().find(fitting) {
                Some(Stored { version, .. }) => {
                    format!("`{}` {version} is yanked", requirement.name)
                }
                None => describe_versions(&requirement.name, &locals, &stored),
            }));
        }
        for extra in &requirement.extras {
            let mut is_offered = local_packages.iter().any(|local| local.extras.contains(extra));
            for package in &matching {
                // Without METADATA, the extras are unknown.
                let metadata = self.metadata(package)?;
                is_offered |= metadata.is_none_or(|m| m.extras().contains(extra));
            }
            if !is_offered {
                return Ok(Err(format!("it has no extra `{extra}`")));
            }
        }
        Ok(Ok(matching))
    }

    fn is_outside(&self, project: &str) -> bool {
        let Options { outside, publishing, .. } = self.options;
        outside.contains(project) || publishing.is_outside(project)
    }

    fn stored(&self, project: &str) -> Result<Vec<Stored>, PublishError> {
        let mut packages = Vec::new();
        if self.is_outside(project) {
            return Ok(packages);
        }
        if let Some(shelf) = self.options.layout.shelf(project) {
            let place = shelf.page(project)?;
            let files = read::files(self.store, &place, project)?.0;
            for entry in files.into_iter().flat_map(|files| files.files) {
                let Some((name, version)) = entry.project() else { continue };
                if name == project {
                    let key = place.html.with_file_name(&entry.filename)?;
                    let is_yanked = entry.yanked.reason().is_some();
                    let has_metadata = entry.has_metadata();
                    packages.push(Stored { key, version, is_yanked, has_metadata });
                }
            }
        }
        Ok(packages)
    }

    fn metadata(&mut self, package: &Stored) -> Result<Option<Metadata>, PublishError> {
        if let Some(read) = self.read.get(&package.key) {
            return Ok(read.clone());
        }
        let key = companion_key(&package.key, "metadata")?;
        let page = if package.has_metadata { object_at(self.store.bucket, &key)? } else { None };
        let metadata = page.map(|p| Metadata::parse(&String::from_utf8_lossy(&p.bytes)));
        self.read.insert(package.key.clone(), metadata.clone());
        Ok(metadata)
    }
}

/// Requirement without its marker.
fn without_marker(requirement: &Requirement) -> &str {
    requirement.text.split(';').next().unwrap_or_default().trim()
}

fn add(open: &mut Open, package: &str, requirements: impl IntoIterator<Item = Requirement>) {
    for requirement in requirements {
        let of_project = open.entry(requirement.name.clone()).or_default();
        of_project.push((package.to_owned(), requirement));
    }
}

fn describe_versions(project: &str, locals: &[&Local], stored: &[&Stored]) -> String {
    let local_versions = locals.iter().map(|local| &local.version);
    let stored_versions = stored.iter().map(|package| &package.version);
    let mut versions: Vec<&Version> = local_versions.chain(stored_versions).collect();
    versions.sort();
    versions.dedup();
    let last: Vec<&str> = versions.iter().rev().take(3).map(|version| version.as_str()).collect();
    match last.as_slice() {
        [] => format!("neither the directory nor the store contains `{project}`"),
        last => format!("the available versions of `{project}` are {}", last.join(", ")),
    }
}
