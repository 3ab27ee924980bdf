//! Wheels of a split wheel's files, by path.

use std::collections::{BTreeMap, BTreeSet};

use base::names::{RelPath, TargetNames};
use manifest::{Families, SplitFiles, SplitRule};

/// Wheels of files by one rule.
pub struct Assignment<'m> {
    rule: &'m SplitRule,
    families: &'m Families,
    names: TargetNames,
    words: BTreeMap<&'m str, &'m str>,
}

/// Wheel of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// The host wheel.
    Host,
    /// Host wheel by a glob of `host`, despite code.
    Kept(Line),
    /// Target's wheel by a glob of `files`.
    Target(String, Line),
}

/// Indices of line and glob.
pub type Line = (usize, usize);

/// Reason for a missing wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misfit {
    /// No line takes its target.
    Unclaimed,
    /// Several targets.
    Several,
    /// A family without a wheel.
    Family,
    /// An ISA that families.kdl lacks.
    Unknown,
}

impl<'m> Assignment<'m> {
    /// Compiles a rule.
    pub fn new(rule: &'m SplitRule, families: &'m Families) -> Self {
        let mut names = families.target_names();
        for word in &rule.words {
            let isas = families.expand(&word.target);
            names.add_word(&word.word, isas.iter().map(base::names::Isa::as_str));
        }
        let words = rule.words.iter().map(|word| (word.word.as_str(), word.target.as_str()));
        Self { rule, families, names, words: words.collect() }
    }

    /// All targets, with the words of the rule.
    pub fn names(&self) -> &TargetNames {
        &self.names
    }

    /// Wheel of the file at `path`.
    ///
    /// # Errors
    ///
    /// If the file belongs to no wheel: the reason, with the targets in its path.
    pub fn home(&self, path: &RelPath) -> Result<Home, (Misfit, String)> {
        let below = match &self.rule.root {
            Some(root) => path.below(root),
            None => Some(path.clone()),
        };
        let host_line =
            taking(&self.rule.keeps, path).or_else(|| taking(&self.rule.keeps, below.as_ref()?));
        if let Some(line) = host_line {
            return Ok(Home::Kept(line));
        }
        let line = below.as_ref().and_then(|below| taking(&self.rule.files, below));
        let targets = self.names.in_path(below.as_ref().unwrap_or(path).as_str());
        if targets.is_empty() {
            return Ok(Home::Host);
        }
        let Some(line) = line else { return Err((Misfit::Unclaimed, targets.join(", "))) };
        let wheels =
            targets.iter().map(|name| self.target(name).map_err(|m| (m, (*name).to_owned())));
        let wheels: BTreeSet<&str> = wheels.collect::<Result<_, _>>()?;
        let mut wheels = wheels.into_iter();
        match (wheels.next(), wheels.next()) {
            (Some(target), None) => Ok(Home::Target(target.to_owned(), line)),
            _ => Err((Misfit::Several, targets.join(", "))),
        }
    }

    fn target<'n>(&'n self, name: &'n str) -> Result<&'n str, Misfit> {
        if let Some(target) = self.words.get(name) {
            return Ok(target);
        }
        let families = self.families;
        if families.levels.contains_key(name) || families.isas.keys().any(|i| i.as_str() == name) {
            return Ok(families.package_of(name));
        }
        let is_family = families.names().any(|family| family == name);
        Err(if is_family { Misfit::Family } else { Misfit::Unknown })
    }
}

/// Targets of members by name; `None` in the host wheel or without a wheel.
pub fn home<'m>(
    rule: &'m SplitRule,
    families: &'m Families,
) -> impl Fn(&str) -> Option<String> + 'm {
    let assignment = Assignment::new(rule, families);
    move |member| match assignment.home(&member.parse().ok()?) {
        Ok(Home::Target(target, _)) => Some(target),
        _ => None,
    }
}

fn taking(lines: &[SplitFiles], path: &RelPath) -> Option<Line> {
    lines.iter().enumerate().find_map(|(line, files)| Some((line, files.taking(path)?)))
}
