//! Kept targets, and the parts of packages that are for others.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Change;
use super::error::PromoteError;
use base::names::{Requirement, normalized};
use base::source::nearest;
use manifest::{Manifest, Pick};

#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Kept targets; `None` keeps all.
    kept: Option<BTreeSet<String>>,
    /// Levels above the kept targets: packages of targets require theirs.
    above: BTreeSet<String>,
    extras: BTreeMap<String, String>,
    distributions: BTreeMap<String, String>,
    /// ISAs, without families.
    isas: BTreeSet<String>,
    /// ISAs and families.
    names: BTreeSet<String>,
}

impl Targets {
    pub fn new(manifest: &Manifest, keep: &[String]) -> Self {
        let isas = manifest.families.isas.keys().map(ToString::to_string).collect();
        let names = manifest.families.names().map(str::to_owned).collect();
        let distributions = manifest
            .distribution_names()
            .into_iter()
            .filter_map(|(name, target)| Some((name, target?)));
        let targets = (!keep.is_empty()).then(|| keep.iter().cloned().collect());
        let above = keep.iter().flat_map(|target| manifest.families.above(target));
        Self {
            kept: targets,
            above: above.map(str::to_owned).collect(),
            extras: extras(manifest),
            distributions: distributions.collect(),
            isas,
            names,
        }
    }

    /// Adds the distributions that only an extra for one target requires.
    pub fn learn(&mut self, requirements: &[Requirement]) {
        for requirement in requirements {
            let mut targets = requirement.of_extras.iter().filter_map(|e| self.extras.get(e));
            if let Some(target) = targets.next().cloned() {
                self.distributions.entry(requirement.name.clone()).or_insert(target);
            }
        }
    }

    pub fn target_of(&self, name: &str) -> Option<&str> {
        self.distributions.get(name).map(String::as_str)
    }

    /// Target like [`Self::target_of`]; builds split by family have a directory for each.
    pub fn of_package<'p>(&'p self, name: &str, directory: Option<&'p str>) -> Option<&'p str> {
        self.target_of(name)
            .or_else(|| directory.filter(|directory| self.names.contains(*directory)))
    }

    /// Returns whether a text is the name of an ISA or a family.
    pub fn is_name(&self, text: &str) -> bool {
        self.isas.contains(text) || self.names.contains(text)
    }

    pub fn drops(&self, target: &str) -> bool {
        let is_kept =
            |kept: &BTreeSet<String>| kept.contains(target) || self.above.contains(target);
        self.kept.as_ref().is_some_and(|kept| !is_kept(kept))
    }

    /// The first kept target: an ISA before a family.
    pub fn first<'t>(&self, targets: impl Iterator<Item = &'t str>) -> Option<&'t str> {
        let remaining: Vec<&str> = targets.filter(|target| !self.drops(target)).collect();
        remaining.iter().find(|target| self.is_isa(target)).or_else(|| remaining.first()).copied()
    }

    /// ISA names have three digits or more.
    fn is_isa(&self, target: &str) -> bool {
        let digits = target.chars().filter(char::is_ascii_digit).count();
        self.isas.contains(target) || digits >= 3 && !target.contains('-')
    }

    /// Returns kept targets without a package; fails if all are.
    pub fn check(
        &self,
        manifest: &Manifest,
        have: &BTreeSet<String>,
    ) -> Result<Vec<String>, PromoteError> {
        let Some(kept) = &self.kept else { return Ok(Vec::new()) };
        let names = || manifest.families.names().chain(have.iter().map(String::as_str));
        let (present, absent): (Vec<&String>, Vec<&String>) =
            kept.iter().partition(|target| have.contains(*target));
        let listed = || have.iter().cloned().collect();
        if let Some(target) = absent.iter().find(|target| !names().any(|name| name == **target)) {
            let near = nearest(target, names()).map(str::to_owned);
            return Err(PromoteError::UnknownTarget {
                target: (*target).clone(),
                near,
                have: listed(),
            });
        }
        if present.is_empty() {
            return Err(PromoteError::NoOverlap {
                kept: kept.iter().cloned().collect(),
                have: listed(),
            });
        }
        Ok(absent.into_iter().cloned().collect())
    }

    /// Returns the parts to remove. Fails if the package is for several targets, and none is kept.
    pub(crate) fn pruning(
        &self,
        requirements: &[Requirement],
        extras: &[String],
    ) -> Result<Pruning, PromoteError> {
        let targets = self.targets_of(requirements, extras);
        let Some(kept) = self.kept.as_ref().filter(|_| targets.len() > 1) else {
            return Ok(Pruning::default());
        };
        let Some(first) = self.first(targets.iter().copied()) else {
            let have = targets.iter().map(|target| (*target).to_owned()).collect();
            return Err(PromoteError::NoOverlap { kept: kept.iter().cloned().collect(), have });
        };
        let goes = |extra: &&String| self.extras.get(*extra).is_some_and(|t| self.drops(t));
        let mut pruning = Pruning {
            extras: extras.iter().filter(goes).cloned().collect(),
            distributions: self
                .distributions
                .iter()
                .filter(|(_, t)| self.drops(t))
                .map(|(n, _)| n.clone())
                .collect(),
            ..Pruning::default()
        };
        // An extra for one target of several points to the default target.
        let required_by = |extra: &String| {
            let mut matching = requirements
                .iter()
                .filter(|r| r.of_extras.contains(extra))
                .filter(|r| self.target_of(&r.name).is_some());
            matching.next().filter(|_| matching.next().is_none())
        };
        let untargeted = extras.iter().filter(|extra| !self.extras.contains_key(*extra));
        let pointers = untargeted.filter_map(|extra| Some((extra.clone(), required_by(extra)?)));
        let pointers =
            pointers.filter(|(_, to)| self.target_of(&to.name).is_some_and(|t| self.drops(t)));
        let default = requirements.iter().find(|requirement| {
            let mut extra_targets = requirement.of_extras.iter().filter_map(|e| self.extras.get(e));
            extra_targets.any(|target| target == first)
                && self.target_of(&requirement.name) == Some(first)
        });
        if let Some(default) = default {
            pruning.pointers =
                pointers.map(|(extra, _)| (extra, name(&default.text).to_owned())).collect();
        }
        Ok(pruning)
    }

    /// Targets of a package by its extras, otherwise by its requirements.
    fn targets_of<'t>(&'t self, requirements: &[Requirement], extras: &[String]) -> Vec<&'t str> {
        let by_extra = extras.iter().filter_map(|extra| self.extras.get(extra));
        let mut targets: Vec<&str> = by_extra.map(String::as_str).collect();
        if targets.is_empty() {
            let always = requirements.iter().filter(|r| r.of_extras.is_empty());
            let required: BTreeSet<&str> = always.filter_map(|r| self.target_of(&r.name)).collect();
            targets.extend(required);
        }
        targets
    }
}

fn name(requirement: &str) -> &str {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = requirement.find(|c| !in_name(c)).unwrap_or(requirement.len());
    &requirement[..end]
}

fn extras(manifest: &Manifest) -> BTreeMap<String, String> {
    let mut extras = BTreeMap::new();
    for package in manifest.packages.values() {
        for extra in package.extras.iter().filter(|extra| extra.pick == Pick::Each) {
            let offered = manifest.packages.get(&extra.package.value);
            let distributions = offered.into_iter().flat_map(|package| &package.distributions);
            for per in distributions.map(|d| &d.per).filter(|per| per.is_by_gpu()) {
                for variant in per.variants(&manifest.families) {
                    let name = normalized(&extra.name.fill(&variant));
                    extras.extend(name.zip(variant.as_str().map(str::to_owned)));
                }
            }
        }
    }
    extras
}

#[derive(Debug, Default)]
pub(super) struct Pruning {
    extras: BTreeSet<String>,
    distributions: BTreeSet<String>,
    /// Extras that pointed to a removed target, with the new distribution.
    pointers: BTreeMap<String, String>,
    /// Changed lines of a readme; `None` for a removed line.
    lines: BTreeMap<String, Option<String>>,
}

impl Pruning {
    pub(crate) fn of_lines(lines: BTreeMap<String, Option<String>>) -> Self {
        Self { lines, ..Self::default() }
    }

    #[must_use]
    pub(crate) fn and_lines(self, other: Self) -> Self {
        Self { lines: other.lines, ..self }
    }

    pub(crate) fn drops_extra(&self, extra: &str) -> bool {
        normalized(extra).is_some_and(|extra| self.extras.contains(&extra))
    }

    /// The new requirement; `None` if it is removed.
    pub fn requirement(&self, text: &str) -> Option<String> {
        let unchanged = || Some(text.to_owned());
        if self.distributions.is_empty() {
            return unchanged();
        }
        let Ok(requirement) = text.parse::<Requirement>() else { return unchanged() };
        if requirement.of_extras.iter().any(|extra| self.extras.contains(extra)) {
            return None;
        }
        if !self.distributions.contains(&requirement.name) {
            return unchanged();
        }
        let pointer = requirement.of_extras.iter().find_map(|extra| self.pointers.get(extra))?;
        Some(format!("{pointer}{}", &text[name(text).len()..]))
    }

    pub fn readme(&self, member: &str, text: &str) -> (String, Vec<Change>) {
        let (mut out, mut changes) = (String::with_capacity(text.len()), Vec::new());
        for line in text.split_inclusive('\n') {
            let plain = line.trim_end_matches('\n');
            match self.lines.get(plain) {
                None => out += line,
                Some(None) => changes.push(Change::removal(member, "Description", plain)),
                Some(Some(new)) => {
                    out.extend([new, "\n"]);
                    changes.push(Change::new(member, "Description", plain, new));
                }
            }
        }
        (out, changes)
    }
}
