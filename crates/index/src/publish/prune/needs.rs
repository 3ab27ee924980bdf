use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use pep440_rs::{LocalSegment, Operator, Version, VersionSpecifier, VersionSpecifiers};

use super::inventory::{Inventory, Item};
use super::requirements::Requirements;
use crate::publish::PublishError;
use base::names::{RelPath, Requirement};

/// Ignores markers and extras: the requirements of every system must stay.
pub(super) struct Needs<'a, 'r> {
    requirements: &'r mut Requirements<'a>,
    staying: BTreeSet<&'a RelPath>,
    open: Vec<&'a Item>,
    by_project: BTreeMap<&'a str, Versions<'a>>,
}

/// Unparsable versions are the oldest.
type Versions<'a> = BTreeMap<Option<Version>, Vec<&'a Item>>;

impl<'a, 'r> Needs<'a, 'r> {
    pub(super) fn new(inventory: &'a Inventory, requirements: &'r mut Requirements<'a>) -> Self {
        let mut by_project: BTreeMap<&str, Versions<'_>> = BTreeMap::new();
        for item in inventory.items() {
            let versions = by_project.entry(&item.project).or_default();
            versions.entry(item.version().parse().ok()).or_default().push(item);
        }
        Self { requirements, staying: BTreeSet::new(), open: Vec::new(), by_project }
    }

    pub(super) fn keep(&mut self, item: &'a Item) {
        if self.staying.insert(item.key()) {
            self.open.push(item);
        }
    }

    /// Required packages, each with a requiring file.
    pub(super) fn follow(mut self) -> Result<BTreeMap<&'a RelPath, String>, PublishError> {
        let mut needed = BTreeMap::new();
        while !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            self.requirements.read(&open)?;
            let is_unknown = |item: &&&Item| self.requirements.of_item(item).is_none();
            let unknown: Vec<String> =
                open.iter().filter(is_unknown).map(|item| format!("`{}`", item.key())).collect();
            if !unknown.is_empty() {
                return Err(PublishError::Unknown(unknown));
            }
            for item in &open {
                let requirements = self.requirements.of_item(item).map(<[_]>::to_vec);
                for requirement in requirements.into_iter().flatten() {
                    for package in self.meet(&requirement) {
                        needed.insert(package.key(), item.key().file_name().to_owned());
                        self.keep(package);
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
            self.by_project.values().map(newest_first).collect();
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
        let mut visited: BTreeSet<&RelPath> = files.iter().map(|item| item.key()).collect();
        let mut open = files.to_vec();
        while !open.is_empty() {
            let items = std::mem::take(&mut open);
            self.requirements.read(&items)?;
            for item in items {
                let Some(requirements) = self.requirements.of_item(item) else { return Ok(false) };
                for requirement in requirements {
                    if !self.by_project.contains_key(&*requirement.name) {
                        continue;
                    }
                    let fit = self.newest_that_fits(requirement);
                    if fit.is_empty() {
                        return Ok(false);
                    }
                    open.extend(fit.into_iter().filter(|item| visited.insert(item.key())));
                }
            }
        }
        Ok(true)
    }

    /// The newest version that an installer takes.
    fn newest_that_fits(&self, requirement: &Requirement) -> Vec<&'a Item> {
        let is_pinned = requirement.versions.as_ref().is_some_and(is_pinned);
        let usable = |(_, items): (_, &Vec<&'a Item>)| {
            let is_usable = |item: &&Item| item.is_named && (is_pinned || !item.is_yanked);
            let items: Vec<&Item> = items.iter().copied().filter(is_usable).collect();
            (!items.is_empty()).then_some(items)
        };
        self.fitting(requirement).rev().find_map(usable).unwrap_or_default()
    }

    /// A pinned version, otherwise the newest match, unless a match stays already. Installers see only
    /// packages on pages, and take yanked ones only for pins (PEP 592); others are a last resort.
    fn meet(&self, requirement: &Requirement) -> Vec<&'a Item> {
        let Some(versions) = &requirement.versions else { return Vec::new() };
        let fit = || self.fitting(requirement).map(|(_, items)| items);
        if is_pinned(versions) {
            return fit().flatten().copied().collect();
        }
        let is_usable = |item: &Item| item.is_named && !item.is_yanked;
        let any_fits = |is_match: &dyn Fn(&Item) -> bool| {
            let stays = |item: &&Item| is_match(item) && self.staying.contains(item.key());
            if fit().flatten().copied().any(|item| stays(&item)) {
                return Some(Vec::new());
            }
            fit().rev().find(|items| items.iter().any(|item| is_match(item))).cloned()
        };
        any_fits(&is_usable).or_else(|| any_fits(&|_| true)).unwrap_or_default()
    }

    /// Oldest first.
    fn fitting<'s>(
        &'s self,
        requirement: &'s Requirement,
    ) -> impl DoubleEndedIterator<Item = (&'s Option<Version>, &'s Vec<&'a Item>)> {
        let specifiers = requirement.versions.as_ref();
        let pin = specifiers.and_then(|specifiers| {
            specifiers
                .iter()
                .find(|specifier| *specifier.operator() == Operator::Equal)
                .map(VersionSpecifier::version)
        });
        let start = pin.map_or(Bound::Unbounded, |pin| Bound::Included(Some(pin.clone())));
        // A local version sorts behind its public one, and meets its pin.
        let end = pin.map_or(Bound::Unbounded, |pin| {
            Bound::Included(Some(pin.clone().with_local(vec![LocalSegment::Number(u64::MAX)])))
        });
        let versions = self.by_project.get(&*requirement.name).into_iter();
        let range = versions.flat_map(move |versions| versions.range((start.clone(), end.clone())));
        range.filter(move |(version, _)| match (specifiers, version) {
            (Some(specifiers), Some(version)) => specifiers.contains(version),
            (specifiers, _) => specifiers.is_none(),
        })
    }
}

fn newest_first<'a>(versions: &Versions<'a>) -> Vec<Vec<&'a Item>> {
    let mut sorted: BTreeMap<_, Vec<&Item>> = BTreeMap::new();
    for (version, items) in versions {
        for item in items.iter().copied().filter(|item| item.is_named) {
            let key = (!item.is_yanked, version, item.version());
            sorted.entry(key).or_default().push(item);
        }
    }
    sorted.into_values().rev().collect()
}

fn is_pinned(versions: &VersionSpecifiers) -> bool {
    let pins = [Operator::Equal, Operator::ExactEqual];
    versions.iter().any(|specifier| pins.contains(specifier.operator()))
}
