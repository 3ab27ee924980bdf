use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::contents::{Area, Contents, File, Package};
use super::difference::Difference;
use super::pair::Pairs;
use plan::Absent;

type Reasons<'a> = HashMap<&'a str, &'a str>;

pub(super) struct Absences<'s, 'a> {
    old: Vec<Reasons<'a>>,
    new: Vec<Reasons<'a>>,
    pairs: &'s Pairs,
}

impl<'s, 'a> Absences<'s, 'a> {
    pub fn new(old: &Contents<'a>, new: &Contents<'a>, pairs: &'s Pairs) -> Self {
        let side_reasons =
            |side: &Contents<'a>| side.packages.iter().map(|p| reasons(p.absent)).collect();
        Self { old: side_reasons(old), new: side_reasons(new), pairs }
    }

    /// Returns the reason why the new package lacks a file of the old one.
    pub(crate) fn reason_in_new(&self, package: usize, file: &File<'_>) -> Option<String> {
        let reasons = &self.new[self.pairs.new_of[package]?];
        Some((*reasons.get(file.path).filter(|_| file.area == Area::Platform)?).to_owned())
    }

    /// Returns the reason why the old package lacked a file of the new one.
    pub(crate) fn reason_in_old(&self, package: usize, file: &File<'_>) -> Option<String> {
        let reasons = &self.old[self.pairs.old_of[package]?];
        let reason = reasons.get(file.path).filter(|_| file.area == Area::Platform)?;
        Some(without_lines(reason).into_owned())
    }
}

fn reasons(absent: Option<&[Absent]>) -> Reasons<'_> {
    absent.into_iter().flatten().map(|a| (a.path.as_str(), a.reason.as_str())).collect()
}

pub(super) fn changes(
    old: &Contents<'_>,
    new: &Contents<'_>,
    pairs: &Pairs,
) -> Vec<(usize, Difference, String)> {
    let mut changes: Vec<(usize, Difference, String)> = Vec::new();
    for (was, is) in pairs.indices() {
        changes.extend(
            of_package(&old.packages[was], &new.packages[is])
                .into_iter()
                .map(|(difference, path)| (is, difference, path)),
        );
    }
    let elsewhere = |now: bool| -> HashSet<(String, String)> {
        let reason = |(_, difference, path): &(usize, Difference, String)| match difference {
            Difference::Absent { reason } if now => Some((reason.clone(), path.clone())),
            Difference::WasAbsent { reason } if !now => Some((reason.clone(), path.clone())),
            _ => None,
        };
        changes.iter().filter_map(reason).collect()
    };
    let (now, before) = (elsewhere(true), elsewhere(false));
    changes.retain(|(_, difference, path)| match difference {
        Difference::Absent { reason } | Difference::WasAbsent { reason } => {
            let key = (reason.clone(), path.clone());
            !(now.contains(&key) && before.contains(&key))
        }
        _ => true,
    });
    name(&mut changes, old, new, pairs);
    changes
}

/// Restores the names in the reason of paths that have it with the same names.
fn name(
    changes: &mut [(usize, Difference, String)],
    old: &Contents<'_>,
    new: &Contents<'_>,
    pairs: &Pairs,
) {
    let reasons_of = |package: usize| {
        let old_absent = pairs.old_of[package].and_then(|index| old.packages[index].absent);
        let new_absent = new.packages[package].absent;
        (all_reasons(old_absent.unwrap_or_default()), all_reasons(new_absent.unwrap_or_default()))
    };
    let packages: BTreeSet<usize> = changes.iter().map(|(package, ..)| *package).collect();
    let reasons: HashMap<usize, _> = packages.into_iter().map(|p| (p, reasons_of(p))).collect();
    let full = |package: usize, difference: &Difference, path: &str| {
        let (old_reasons, new_reasons) = reasons.get(&package)?;
        let reasons = match difference {
            Difference::Absent { .. } => new_reasons.get(path)?,
            Difference::WasAbsent { .. } => old_reasons.get(path)?,
            _ => return None,
        };
        Some(reasons.iter().map(|reason| &**reason).collect::<Vec<_>>().join("; "))
    };
    let mut groups: HashMap<(usize, Difference), BTreeSet<String>> = HashMap::new();
    for (package, difference, path) in &*changes {
        groups
            .entry((*package, difference.clone()))
            .or_default()
            .extend(full(*package, difference, path));
    }
    for (package, difference, _) in changes {
        let Some(names) = groups.get(&(*package, difference.clone())) else { continue };
        if let Difference::Absent { reason } | Difference::WasAbsent { reason } = difference
            && let Some(one) = names.first().filter(|_| names.len() == 1)
        {
            reason.clone_from(one);
        }
    }
}

fn of_package(old: &Package<'_>, new: &Package<'_>) -> Vec<(Difference, String)> {
    let (Some(before), Some(after)) = (old.absent, new.absent) else { return Vec::new() };
    let (old_reasons, new_reasons) = (all_reasons(before), all_reasons(after));
    let mut changes = Vec::new();
    for (path, new) in &new_reasons {
        match old_reasons.get(path) {
            None => changes.push((Difference::Absent { reason: reasons_text(new) }, *path)),
            Some(old) if old != new => {
                changes.push((
                    Difference::AbsentOtherwise { old: reasons_text(old), new: reasons_text(new) },
                    *path,
                ));
            }
            Some(_) => {}
        }
    }
    let vanished = old_reasons.iter().filter(|(path, _)| !new_reasons.contains_key(*path));
    changes.extend(
        vanished.map(|(path, reasons)| {
            (Difference::WasAbsent { reason: reasons_text(reasons) }, *path)
        }),
    );
    if changes.is_empty() {
        return Vec::new();
    }
    let (old_files, new_files) = (platform_files(old), platform_files(new));
    changes.retain(|(difference, path)| match difference {
        Difference::Absent { .. } => !old_files.contains(path),
        Difference::WasAbsent { .. } => !new_files.contains(path),
        _ => true,
    });
    changes.into_iter().map(|(difference, path)| (difference, path.to_owned())).collect()
}

fn platform_files<'a>(package: &Package<'a>) -> HashSet<&'a str> {
    package.files.iter().filter(|f| f.area == Area::Platform).map(|f| f.path).collect()
}

fn all_reasons(absent: &[Absent]) -> BTreeMap<&str, BTreeSet<Cow<'_, str>>> {
    let mut by_path: BTreeMap<&str, BTreeSet<Cow<'_, str>>> = BTreeMap::new();
    for Absent { path, reason, .. } in absent {
        by_path.entry(path.as_str()).or_default().insert(without_lines(reason));
    }
    by_path
}

/// Omits names to group paths with one cause.
fn reasons_text(reasons: &BTreeSet<Cow<'_, str>>) -> String {
    reasons.iter().map(|reason| without_names(reason)).collect::<Vec<_>>().join("; ")
}

/// Line numbers change without meaning. Names in backticks stay.
pub(super) fn without_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(':') {
        return Cow::Borrowed(text);
    }
    let parts = text
        .split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 0 { lineless(part) } else { part.to_owned() });
    Cow::Owned(parts.collect::<Vec<_>>().join("`"))
}

fn lineless(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(':') {
        let after = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = after.len() < rest.len() - at - 1;
        let word = rest[..at].ends_with(char::is_alphanumeric)
            && !after.starts_with(char::is_alphanumeric);
        out.push_str(&rest[..at]);
        if digits && word {
            rest = after;
        } else {
            out.push(':');
            rest = &rest[at + 1..];
        }
    }
    out + rest
}

fn without_names(reason: &str) -> String {
    let parts = reason.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 0 { part } else { "…" }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_names_do_not_count() {
        assert_eq!(without_lines("excluded by packages.kdl:91"), "excluded by packages.kdl");
        assert_eq!(
            without_lines("dangles: no artifact has `a:1`"),
            "dangles: no artifact has `a:1`"
        );
        assert_eq!(
            without_lines("`b` is missing: why (packages.kdl:3); `c`, 1:2x, 7: 8"),
            "`b` is missing: why (packages.kdl); `c`, 1:2x, 7: 8"
        );
        assert_eq!(without_names("another name of `a`; see `b`"), "another name of …; see …");
    }
}
