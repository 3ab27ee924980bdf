//! The wheel for a file, by its path.

use std::collections::{BTreeMap, BTreeSet};

use base::names::{RelPath, TargetNames};
use manifest::{Families, SplitFiles, SplitRule};

/// Rule for the files of a wheel.
pub(super) struct Assignment<'m> {
    rule: &'m SplitRule,
    families: &'m Families,
    names: TargetNames,
    words: BTreeMap<&'m str, &'m str>,
}

/// Wheel of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Home {
    /// Into the host wheel.
    Host,
    /// The host wheel, also for a file with device code: by this glob of `host`.
    Kept(Line),
    /// Into the wheel of a target, by this glob of `files`.
    Target(String, Line),
}

/// A glob: of which line, and its place there.
pub(super) type Line = (usize, usize);

/// Reason why a path names no wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Misfit {
    /// It names a target, and no line takes it.
    Unclaimed,
    /// It names several targets.
    Several,
    /// It names a family, of which no wheel is.
    Family,
    /// It names an ISA that families.kdl does not have.
    Unknown,
}

impl<'m> Assignment<'m> {
    pub fn new(rule: &'m SplitRule, families: &'m Families) -> Self {
        let mut names = families.target_names();
        for word in &rule.words {
            let isas = families.expand(&word.target);
            names.add_word(&word.word, isas.iter().map(base::names::Isa::as_str));
        }
        let words = rule.words.iter().map(|word| (word.word.as_str(), word.target.as_str()));
        Self { rule, families, names, words: words.collect() }
    }

    /// The targets there are, with the words of the rule.
    pub fn names(&self) -> &TargetNames {
        &self.names
    }

    /// Returns the wheel for the file at `path`, or the reason against each, with the targets that the path names.
    pub fn home(&self, path: &RelPath) -> Result<Home, (Misfit, String)> {
        let below = match &self.rule.root {
            Some(root) => path.below(root),
            None => Some(path.clone()),
        };
        let kept =
            taking(&self.rule.keeps, path).or_else(|| taking(&self.rule.keeps, below.as_ref()?));
        if let Some(line) = kept {
            return Ok(Home::Kept(line));
        }
        let line = below.as_ref().and_then(|below| taking(&self.rule.files, below));
        let told = self.names.in_path(below.as_ref().unwrap_or(path).as_str());
        if told.is_empty() {
            return Ok(Home::Host);
        }
        let Some(line) = line else { return Err((Misfit::Unclaimed, told.join(", "))) };
        let targets =
            told.iter().map(|name| self.target(name).map_err(|m| (m, (*name).to_owned())));
        let targets: BTreeSet<&str> = targets.collect::<Result<_, _>>()?;
        let mut targets = targets.into_iter();
        match (targets.next(), targets.next()) {
            (Some(target), None) => Ok(Home::Target(target.to_owned(), line)),
            _ => Err((Misfit::Several, told.join(", "))),
        }
    }

    /// The ISA or the level of the wheel that has the files of the target `name`.
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

/// The first glob of these lines that matches.
fn taking(lines: &[SplitFiles], path: &RelPath) -> Option<Line> {
    lines.iter().enumerate().find_map(|(line, files)| Some((line, files.taking(path)?)))
}
