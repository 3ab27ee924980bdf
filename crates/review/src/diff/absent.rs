use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::contents::{Area, Contents, File, Package};
use super::difference::Difference;
use super::pair::Pairs;
use plan::Absent;

/// Reasons by path; a path can have several, as in [`all_reasons`].
type Reasons<'a> = HashMap<&'a str, BTreeSet<&'a str>>;

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
        let reasons = reasons.get(file.path).filter(|_| file.area == Area::Platform)?;
        Some(joined(reasons))
    }

    /// Returns the reason why the old package lacked a file of the new one.
    pub(crate) fn reason_in_old(&self, package: usize, file: &File<'_>) -> Option<String> {
        let reasons = &self.old[self.pairs.old_of[package]?];
        let reasons = reasons.get(file.path).filter(|_| file.area == Area::Platform)?;
        // The old manifest's lines are not in the new one.
        let reasons: BTreeSet<Cow<'_, str>> =
            reasons.iter().map(|reason| without_lines(reason)).collect();
        Some(joined(&reasons))
    }
}

fn reasons(absent: Option<&[Absent]>) -> Reasons<'_> {
    let mut reasons = Reasons::new();
    for Absent { path, reason, .. } in absent.into_iter().flatten() {
        reasons.entry(path.as_str()).or_default().insert(reason.as_str());
    }
    reasons
}

pub(super) fn changes(
    old: &Contents<'_>,
    new: &Contents<'_>,
    pairs: &Pairs,
) -> Vec<(usize, Difference, String)> {
    let mut changes: Vec<(usize, Difference, String)> = Vec::new();
    for (old_index, new_index) in pairs.indices() {
        changes.extend(
            of_package(&old.packages[old_index], &new.packages[new_index])
                .into_iter()
                .map(|(difference, path)| (new_index, difference, path)),
        );
    }
    // A path that is absent in another package than before, for the same reason, has moved: this is
    // no difference.
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
    restore_names(&mut changes, old, new, pairs);
    changes
}

/// Puts the names in backticks back, if all paths of a group have the same ones: paths of a package
/// are in one group if their reasons are equal without names. Reasons that differ only in names
/// always get them.
fn restore_names(
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
    let with_names = |package: usize, difference: &Difference, path: &str| {
        let (old_reasons, new_reasons) = reasons.get(&package)?;
        let [old, new] = [old_reasons, new_reasons].map(|reasons| Some(joined(reasons.get(path)?)));
        Some(match difference {
            Difference::Absent { .. } => Difference::Absent { reason: new? },
            Difference::WasAbsent { .. } => Difference::WasAbsent { reason: old? },
            Difference::AbsentOtherwise { .. } => {
                Difference::AbsentOtherwise { old: old?, new: new? }
            }
            _ => return None,
        })
    };
    let mut groups: HashMap<(usize, Difference), HashSet<Difference>> = HashMap::new();
    for (package, difference, path) in &*changes {
        groups
            .entry((*package, difference.clone()))
            .or_default()
            .extend(with_names(*package, difference, path));
    }
    for (package, difference, path) in changes {
        let only_names_differ =
            matches!(difference, Difference::AbsentOtherwise { old, new } if old == new);
        let group = groups.get(&(*package, difference.clone()));
        if (only_names_differ || group.is_some_and(|group| group.len() == 1))
            && let Some(with_names) = with_names(*package, difference, path)
        {
            *difference = with_names;
        }
    }
}

fn joined(reasons: &BTreeSet<impl AsRef<str>>) -> String {
    reasons.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("; ")
}

fn of_package(old: &Package<'_>, new: &Package<'_>) -> Vec<(Difference, String)> {
    let (Some(before), Some(after)) = (old.absent, new.absent) else { return Vec::new() };
    let (old_reasons, new_reasons) = (all_reasons(before), all_reasons(after));
    let mut changes = Vec::new();
    for (path, new) in &new_reasons {
        match old_reasons.get(path) {
            None => changes.push((Difference::Absent { reason: grouping_text(new) }, *path)),
            Some(old) if old != new => {
                changes.push((
                    Difference::AbsentOtherwise {
                        old: grouping_text(old),
                        new: grouping_text(new),
                    },
                    *path,
                ));
            }
            Some(_) => {}
        }
    }
    let vanished = old_reasons.iter().filter(|(path, _)| !new_reasons.contains_key(*path));
    changes.extend(
        vanished.map(|(path, reasons)| {
            (Difference::WasAbsent { reason: grouping_text(reasons) }, *path)
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

/// Key for groups of paths with one cause: the reasons without names.
fn grouping_text(reasons: &BTreeSet<Cow<'_, str>>) -> String {
    reasons.iter().map(|reason| without_names(reason)).collect::<Vec<_>>().join("; ")
}

/// Removes line numbers, which change without meaning, except in backticks.
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
