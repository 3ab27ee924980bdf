use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::{Operator, Version, VersionSpecifiers};

use super::inventory::{Inventory, Item};
use super::requirements::Requirements;
use crate::publish::PublishError;
use base::names::{RelPath, Requirement};

/// Ignores markers and extras: the requirements of every system must stay.
pub(super) struct Needs<'a, 'r> {
    requirements: &'r mut Requirements<'a>,
    kept: BTreeSet<&'a RelPath>,
    open: Vec<&'a Item>,
    by_project: BTreeMap<&'a str, Vec<&'a Item>>,
}

impl<'a, 'r> Needs<'a, 'r> {
    pub(super) fn new(inventory: &'a Inventory, requirements: &'r mut Requirements<'a>) -> Self {
        let mut by_project: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in inventory.items() {
            by_project.entry(&item.project).or_default().push(item);
        }
        Self { requirements, kept: BTreeSet::new(), open: Vec::new(), by_project }
    }

    pub(super) fn keep(&mut self, item: &'a Item) {
        if self.kept.insert(item.key()) {
            self.open.push(item);
        }
    }

    /// Required packages, each with a requiring file.
    pub(super) fn follow(mut self) -> Result<BTreeMap<&'a RelPath, String>, PublishError> {
        let mut needed = BTreeMap::new();
        while !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            self.requirements.read(&open)?;
            let is_unknown = |item: &&&Item| self.requirements.of(item).is_none();
            let unknown: Vec<String> =
                open.iter().filter(is_unknown).map(|item| format!("`{}`", item.key())).collect();
            if !unknown.is_empty() {
                return Err(PublishError::Unknown(unknown));
            }
            for item in &open {
                let requirements = self.requirements.of(item).map(<[_]>::to_vec);
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

    /// Each project's newest version on a page, not yanked, with all requirements on projects of
    /// the store; without such a version, the newest.
    pub(super) fn newest(&mut self) -> Result<BTreeSet<&'a RelPath>, PublishError> {
        let projects: Vec<Vec<Vec<&'a Item>>> =
            self.by_project.values().map(|items| versions(items)).collect();
        let firsts = projects.iter().filter_map(|versions| versions.first()).flatten();
        self.requirements.read(&firsts.copied().collect::<Vec<_>>())?;
        let mut newest = BTreeSet::new();
        for versions in &projects {
            let mut complete = None;
            for version in versions {
                if self.is_complete(version)? {
                    complete = Some(version);
                    break;
                }
            }
            let files = complete.or(versions.first()).into_iter().flatten();
            newest.extend(files.map(|item| item.key()));
        }
        Ok(newest)
    }

    /// Ignores other projects; follows indirect requirements.
    fn is_complete(&mut self, files: &[&'a Item]) -> Result<bool, PublishError> {
        let mut seen: BTreeSet<&RelPath> = files.iter().map(|item| item.key()).collect();
        let mut open = files.to_vec();
        while !open.is_empty() {
            let items = std::mem::take(&mut open);
            self.requirements.read(&items)?;
            for item in items {
                let Some(requirements) = self.requirements.of(item) else { return Ok(false) };
                for requirement in requirements {
                    if !self.by_project.contains_key(&*requirement.name) {
                        continue;
                    }
                    let fit = self.newest_that_fits(requirement);
                    if fit.is_empty() {
                        return Ok(false);
                    }
                    open.extend(fit.into_iter().filter(|item| seen.insert(item.key())));
                }
            }
        }
        Ok(true)
    }

    fn newest_that_fits(&self, requirement: &Requirement) -> Vec<&'a Item> {
        let items = self.by_project.get(&*requirement.name).into_iter().flatten().copied();
        let parsed = |item: &&Item| item.version().parse::<Version>().ok();
        let fits = |item: &&Item| match (&requirement.versions, parsed(item)) {
            (Some(versions), Some(version)) => versions.contains(&version),
            (None, _) => true,
            (Some(_), None) => false,
        };
        let fit: Vec<&Item> = items.filter(|item| item.is_named && fits(item)).collect();
        let newest = fit.iter().filter_map(parsed).max();
        fit.into_iter().filter(|item| parsed(item) == newest).collect()
    }

    /// Packages to keep for a requirement: a pinned version, otherwise the newest match, unless a
    /// match stays already.
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

fn versions<'a>(items: &[&'a Item]) -> Vec<Vec<&'a Item>> {
    let mut versions: BTreeMap<_, Vec<&Item>> = BTreeMap::new();
    for item in items.iter().filter(|item| item.is_named) {
        // Unparsable versions sort as oldest.
        let version = item.version().parse::<Version>().ok();
        let key = (!item.is_yanked, version, item.version());
        versions.entry(key).or_default().push(item);
    }
    versions.into_values().rev().collect()
}

fn is_pinned(versions: &VersionSpecifiers) -> bool {
    let pins = [Operator::Equal, Operator::ExactEqual];
    versions.iter().any(|specifier| pins.contains(specifier.operator()))
}
