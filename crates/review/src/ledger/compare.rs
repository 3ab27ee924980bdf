//! Comparison of sets of packages.

use std::collections::{BTreeMap, BTreeSet};

use super::meaning;
use super::moved::{Joined, Leftover, joined};
use super::package::{File, Package};
use super::pairs::{Pairs, pairs};
use super::{Counts, Difference};
use check::read;
use manifest::LedgerClass;
use wheel::package::ReadError;

/// Counts and differences of all packages.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// By title of the package.
    pub counts: BTreeMap<String, Counts>,
    /// With the distribution of each, as indexes compare it.
    pub differences: Vec<(String, Difference)>,
}

/// Compares all packages.
pub(super) fn sets(theirs: &[Package], ours: &[Package]) -> Result<Compared, ReadError> {
    let Pairs { both, theirs, ours } = pairs(theirs, ours);
    let mut compared = Compared::default();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (old, new) in both {
        compared.facts(old, new);
        let changed = compared.files(old, new);
        compared.contents(old, new, &changed)?;
        let only = |package, other| leftovers(package, Some(other));
        removed.extend(only(old, new));
        added.extend(only(new, old));
    }
    for (side, packages, left) in [("old", theirs, &mut removed), ("new", ours, &mut added)] {
        for package in packages {
            compared.differs(
                package,
                LedgerClass::Package,
                &package.name,
                format!("only on the {side} side"),
            );
            left.extend(leftovers(package, None));
        }
    }
    let Joined { moves, theirs, ours } = joined(removed, added);
    for (from, to) in &moves {
        compared.moved(from, to);
    }
    for (files, class) in [(theirs, LedgerClass::OnlyTheirs), (ours, LedgerClass::OnlyOurs)] {
        for file in &files {
            compared.add_unpaired(file, class);
        }
    }
    Ok(compared)
}

fn leftovers<'p>(package: &'p Package, other: Option<&'p Package>) -> Vec<Leftover<'p>> {
    let is_left = |path: &str| other.is_none_or(|other| !other.files.contains_key(path));
    let files = package.files.iter().filter(|(path, _)| is_left(path));
    let is_in_lone_package = other.is_none();
    files.map(|(path, file)| Leftover { package, path, file, is_in_lone_package }).collect()
}

impl Compared {
    fn count(&mut self, package: &Package) -> &mut Counts {
        let counts = self.counts.entry(package.title.clone()).or_default();
        counts.package.clone_from(&package.title);
        counts
    }

    fn differs(&mut self, package: &Package, class: LedgerClass, name: &str, detail: String) {
        let (title, name) = (package.title.clone(), name.to_owned());
        let counts = self.count(package);
        match class {
            LedgerClass::OnlyTheirs => counts.theirs += 1,
            LedgerClass::OnlyOurs => counts.ours += 1,
            LedgerClass::Different => counts.different += 1,
            LedgerClass::Moved | LedgerClass::Link => counts.moved += 1,
            LedgerClass::Rpath => counts.rpath += 1,
            LedgerClass::Package
            | LedgerClass::Command
            | LedgerClass::Extra
            | LedgerClass::Requirement
            | LedgerClass::Tag
            | LedgerClass::Metadata => counts.facts += 1,
        }
        let difference = Difference { class, package: title, name, detail };
        self.differences.push((package.name.clone(), difference));
    }

    /// Adds a file that only one side has.
    fn add_unpaired(&mut self, file: &Leftover<'_>, class: LedgerClass) {
        if !file.is_in_lone_package {
            self.differs(file.package, class, file.path, String::new());
        }
    }

    /// Adds a file that the other side has elsewhere.
    fn moved(&mut self, from: &Leftover<'_>, to: &Leftover<'_>) {
        let place = if from.package.title == to.package.title {
            format!("→ {}", to.path)
        } else {
            format!("→ {} {}", to.package.title, to.path)
        };
        self.differs(from.package, LedgerClass::Moved, from.path, place);
    }

    fn facts(&mut self, old: &Package, new: &Package) {
        let keys: BTreeSet<_> = old.facts.keys().chain(new.facts.keys()).collect();
        let empty = BTreeSet::new();
        for key in keys {
            let (then, now) =
                (old.facts.get(key).unwrap_or(&empty), new.facts.get(key).unwrap_or(&empty));
            if then != now {
                self.differs(new, key.0, &key.1, values(then, now));
            }
        }
    }

    /// Compares files by digest, and returns the files with different content.
    fn files<'p>(&mut self, old: &'p Package, new: &'p Package) -> BTreeSet<&'p str> {
        let mut changed = BTreeSet::new();
        for (path, then) in &old.files {
            let Some(now) = new.files.get(path) else { continue };
            match (then, now) {
                (File::Link(from), File::Link(to)) if from == to => self.count(new).equal += 1,
                (File::Link(from), File::Link(to)) => {
                    self.differs(new, LedgerClass::Link, path, format!("{from} → {to}"));
                }
                (File::Link(from), File::Bytes { .. }) => {
                    self.differs(new, LedgerClass::Link, path, format!("{from} → a file"));
                }
                (File::Bytes { .. }, File::Link(to)) => {
                    self.differs(new, LedgerClass::Link, path, format!("a file → {to}"));
                }
                (File::Bytes { executable: was, .. }, File::Bytes { executable: is, .. })
                    if was != is =>
                {
                    let detail = if *is { "executable now" } else { "not executable now" };
                    self.differs(new, LedgerClass::Different, path, detail.to_owned());
                }
                (File::Bytes { sum: from, .. }, File::Bytes { sum: to, .. }) if from == to => {
                    self.count(new).equal += 1;
                }
                _ => {
                    changed.insert(path.as_str());
                }
            }
        }
        changed
    }

    fn contents(
        &mut self,
        old: &Package,
        new: &Package,
        paths: &BTreeSet<&str>,
    ) -> Result<(), ReadError> {
        let read = |package: &Package| {
            let members = paths.iter().filter_map(|path| package.member(path));
            read::contents(&package.found, &members.collect())
        };
        let (old_contents, new_contents) = (read(old)?, read(new)?);
        for path in paths {
            let old_content = old.member(path).and_then(|member| old_contents.get(member));
            let new_content = new.member(path).and_then(|member| new_contents.get(member));
            let Some((old_content, new_content)) = old_content.zip(new_content) else { continue };
            match meaning::compared(path, old_content, new_content)? {
                meaning::Compared::Meaning => self.count(new).meaning += 1,
                meaning::Compared::Rpath(detail) => {
                    self.differs(new, LedgerClass::Rpath, path, detail);
                }
                meaning::Compared::Different(detail) => {
                    self.differs(new, LedgerClass::Different, path, detail);
                }
            }
        }
        Ok(())
    }
}

fn values(then: &BTreeSet<String>, now: &BTreeSet<String>) -> String {
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let values: Vec<String> = one.difference(other).map(|value| shortened(value)).collect();
        if values.is_empty() { "none".to_owned() } else { values.join(", ") }
    };
    format!("{} → {}", only(then, now), only(now, then))
}

/// First line of a value, such as a description.
fn shortened(value: &str) -> String {
    let first = value.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let rest = if value.trim() == first.trim() { "" } else { " …" };
    format!("`{}{rest}`", first.trim())
}
