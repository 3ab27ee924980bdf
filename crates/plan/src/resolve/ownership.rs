//! Each installed path must have one owner, among distributions that can be installed together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::links::Filled;
use super::resolved_dist::ResolvedDist;
use crate::{Distribution, Form, Member, Step};
use base::names::{Lookalikes, RelPath, System, folded};
use base::source::{Code, Place, Problem, Problems};
use base::text::counted;

struct Claim<'m, 'a> {
    index: usize,
    by: &'m ResolvedDist<'a>,
    member: &'m Member,
    /// Case-folded to find collisions.
    path: Cow<'m, str>,
}

impl Claim<'_, '_> {
    fn can_meet(&self, other: &Self) -> bool {
        self.index != other.index && self.by.goes_with(other.by)
    }

    fn rivals(&self, other: &Self) -> bool {
        self.can_meet(other) || self.index == other.index && self.member.path == other.member.path
    }

    /// Compares exactly in one package, folded between packages.
    fn is_above(&self, other: &Self) -> bool {
        let below = other.member.path.as_str().strip_prefix(self.member.path.as_str());
        self.can_meet(other)
            || self.index == other.index && below.is_some_and(|rest| rest.starts_with('/'))
    }

    fn source(&self) -> String {
        self.member.step.source().map_or_else(
            || format!("by {}", self.member.rule),
            |s| format!("from `{}`", s.artifact),
        )
    }
}

/// Nearly all paths have one claim.
struct Claims<'c, 'm, 'a> {
    first: HashMap<&'c str, &'c Claim<'m, 'a>>,
    several: BTreeMap<&'c str, Vec<&'c Claim<'m, 'a>>>,
}

impl<'c, 'm, 'a> Claims<'c, 'm, 'a> {
    fn new(all: &'c [Claim<'m, 'a>]) -> Self {
        let (mut first, mut several) = (HashMap::with_capacity(all.len()), BTreeMap::new());
        for claim in all {
            let earlier = *first.entry(&*claim.path).or_insert(claim);
            if !std::ptr::eq(earlier, claim) {
                several.entry(&*claim.path).or_insert_with(|| vec![earlier]).push(claim);
            }
        }
        Self { first, several }
    }

    fn to(&self, path: &str) -> &[&'c Claim<'m, 'a>] {
        let one = || self.first.get(path).map_or(&[][..], std::slice::from_ref);
        self.several.get(path).map_or_else(one, Vec::as_slice)
    }

    fn with_some_below(&self, all: &'c [Claim<'m, 'a>]) -> BTreeSet<&'c str> {
        let mut directories = HashSet::new();
        let mut claimed = BTreeSet::new();
        for claim in all {
            // Their parents are known.
            for directory in
                parents(&claim.path).rev().take_while(|directory| directories.insert(*directory))
            {
                claimed.extend(self.first.contains_key(directory).then_some(directory));
            }
        }
        claimed
    }
}

pub(super) fn check(
    made: &[(ResolvedDist<'_>, Distribution)],
    filled: &[Filled<'_>],
    system: System,
) -> Problems {
    let all = claims(made);
    let claims = Claims::new(&all);
    let mut problems = Problems::new();
    for rivals in claims.several.values().filter(|claims| !never_meet(claims)) {
        let pairs = rivals
            .iter()
            .enumerate()
            .flat_map(|(i, one)| rivals[i + 1..].iter().map(move |other| (one, other)));
        if let Some((one, other)) = pairs.into_iter().find(|(one, other)| one.rivals(other)) {
            problems.push(same_path(one, other, filled));
        }
    }
    problems.extend(alike(&claims, filled, system));
    problems.extend(all_nested(&claims, &all, filled));
    problems
}

fn never_meet(claims: &[&Claim<'_, '_>]) -> bool {
    claims
        .windows(2)
        .all(|pair| pair[0].index != pair[1].index && !pair[0].by.goes_with(pair[1].by))
}

fn all_nested(
    claims: &Claims<'_, '_, '_>,
    all: &[Claim<'_, '_>],
    filled: &[Filled<'_>],
) -> Problems {
    let mut problems = Problems::new();
    let above = claims.with_some_below(all);
    let is_below = |claim: &&Claim<'_, '_>| {
        !above.is_empty() && parents(&claim.path).any(|parent| above.contains(parent))
    };
    let paths: BTreeSet<&str> = all.iter().filter(is_below).map(|claim| &*claim.path).collect();
    let mut seen = BTreeSet::new();
    for path in paths {
        for parent in parents(path).filter(|parent| above.contains(parent)) {
            let pairs = claims
                .to(parent)
                .iter()
                .flat_map(|one| claims.to(path).iter().map(move |other| (one, other)));
            if let Some((one, other)) = pairs.into_iter().find(|(one, other)| one.is_above(other))
                && seen.insert(parent)
            {
                problems.push(nested(one, other, filled));
            }
        }
    }
    problems
}

fn claims<'m, 'a>(made: &'m [(ResolvedDist<'a>, Distribution)]) -> Vec<Claim<'m, 'a>> {
    let wheels =
        made.iter().enumerate().filter(|(_, (_, distribution))| distribution.form == Form::Wheel);
    let members = wheels.flat_map(|(index, (by, distribution))| {
        let archived = distribution.archive.iter().flat_map(|a| &a.members);
        distribution.members.iter().chain(archived).map(move |member| (index, by, member))
    });
    let files = members.filter(|(_, _, member)| member.step != Step::Directory);
    files
        .map(|(index, by, member)| Claim { index, by, member, path: folded(member.path.as_str()) })
        .collect()
}

fn parents(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn same_path(one: &Claim<'_, '_>, other: &Claim<'_, '_>, filled: &[Filled<'_>]) -> Problem {
    let (a, b) = (&one.member.path, &other.member.path);
    let (first, second) = (&one.by.name, &other.by.name);
    let what = if one.index == other.index {
        format!("{first} installs `{a}` twice")
    } else if a == b {
        format!("{first} and {second} both install `{a}`")
    } else {
        let Lookalikes { differ_in, one, other } = Lookalikes::new(a.as_str(), b.as_str());
        format!("{first} installs `{one}` and {second} `{other}`, which differ only in {differ_in}")
    };
    let code = if a == b { Code::TwoOwners } else { Code::CaseClash };
    let help = if one.index == other.index {
        "exclude it, or correct the build"
    } else {
        "exclude it from one of the packages, or take the artifact in only one of them"
    };
    labelled(Problem::error(code, what), one, other, filled).help(help)
}

/// Paths that only differ in case or normalization: Windows loses one of the files.
fn alike(claims: &Claims<'_, '_, '_>, filled: &[Filled<'_>], system: System) -> Problems {
    let mut pairs: BTreeMap<usize, Vec<(&Claim<'_, '_>, &Claim<'_, '_>)>> = BTreeMap::new();
    for rivals in claims.several.values() {
        for (at, one) in rivals.iter().enumerate() {
            let other = rivals[at + 1..]
                .iter()
                .find(|other| other.index == one.index && other.member.path != one.member.path);
            pairs.entry(one.index).or_default().extend(other.map(|other| (*one, *other)));
        }
    }
    let mut problems = Problems::new();
    for (pairs, (one, other)) in pairs.values().filter_map(|pairs| Some((pairs, *pairs.first()?))) {
        let more = if pairs.len() > 1 {
            format!(", and {}", counted(pairs.len() - 1, "more such pair"))
        } else {
            String::new()
        };
        let (a, b) = (one.member.path.as_str(), other.member.path.as_str());
        let told = Lookalikes::new(a, b);
        let what = format!(
            "{} installs `{}` and `{}`, which differ only in {}{more}",
            one.by.name, told.one, told.other, told.differ_in
        );
        let severity = if system == System::Windows { Problem::error } else { Problem::warning };
        problems.push(labelled(severity(Code::CaseClash, what), one, other, filled).help(
            "exclude one, or rename it in the build: some file systems can hold only \
                    one of them",
        ));
    }
    problems
}

fn nested(one: &Claim<'_, '_>, other: &Claim<'_, '_>, filled: &[Filled<'_>]) -> Problem {
    let who = if one.index == other.index { String::new() } else { format!("{} ", other.by.name) };
    let what = format!(
        "{} installs `{}` as a file or link, and {who}`{}` below it",
        one.by.name, one.member.path, other.member.path
    );
    labelled(Problem::error(Code::FileAndDirectory, what), one, other, filled)
        .help("exclude one of them, or correct the build")
}

fn labelled(
    problem: Problem,
    one: &Claim<'_, '_>,
    other: &Claim<'_, '_>,
    filled: &[Filled<'_>],
) -> Problem {
    let (a, b) = (place(one, filled), place(other, filled));
    let says = |claim: &Claim<'_, '_>| format!("{} takes it {}", claim.by.name, claim.source());
    if one.index == other.index && a.to_string() == b.to_string() {
        return problem
            .label(a, format!("takes one {}, and the other {}", one.source(), other.source()));
    }
    if a.to_string() == b.to_string() {
        return problem
            .label(a, format!("{}, and {} {}", says(one), other.by.name, other.source()));
    }
    problem.label(a, says(one)).label(b, says(other))
}

fn place<'p>(claim: &Claim<'p, '_>, filled: &'p [Filled<'_>]) -> &'p Place {
    let owner =
        filled.iter().find(|f| f.dist.name == claim.by.name && f.dist.variant == claim.by.variant);
    let root = format!("{}/", claim.by.platform_dir);
    let path =
        claim.member.path.as_str().strip_prefix(&root).and_then(|p| p.parse::<RelPath>().ok());
    let rule =
        owner.zip(path).and_then(|(f, path)| f.runtime.placed.get(&path)).map(|(_, rule)| *rule);
    rule.unwrap_or(&claim.by.declared.name.place)
}

#[cfg(test)]
mod tests;
