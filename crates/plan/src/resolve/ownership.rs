//! Each installed path must have one owner, among distributions that can be installed together.

use std::collections::BTreeMap;

use super::links::Filled;
use super::resolved_dist::ResolvedDist;
use crate::{Distribution, Form, Member, Step};
use base::names::{Lookalikes, RelPath, System};
use base::source::{Code, Place, Problem, Problems};
use base::text::counted;
use check::ClashKind;

/// Planned file at an installed path.
struct Claim<'m, 'a> {
    index: usize,
    by: &'m ResolvedDist<'a>,
    member: &'m Member,
}

impl Claim<'_, '_> {
    fn source(&self) -> String {
        self.member.step.source().map_or_else(
            || format!("by {}", self.member.rule),
            |s| format!("from `{}`", s.artifact),
        )
    }
}

/// Judges paths like installed packages (`check`), and names the lines that take the files.
pub(super) fn check(
    made: &[(ResolvedDist<'_>, Distribution)],
    filled: &[Filled<'_>],
    system: System,
) -> Problems {
    let claims = claims(made);
    let paths: Vec<check::Claim<'_>> = claims
        .iter()
        .map(|claim| check::Claim {
            owner: claim.index,
            scheme: check::Scheme::Site,
            path: claim.member.path.as_str(),
        })
        .collect();
    let clashes = check::clashes(&paths, &|one, other| made[one].0.goes_with(&made[other].0));
    let mut problems = Problems::new();
    let mut alike: BTreeMap<usize, Vec<[&Claim<'_, '_>; 2]>> = BTreeMap::new();
    for check::Clash { kind, one, other } in clashes {
        let [one, other] = [one, other].map(|number| &claims[number]);
        match kind {
            ClashKind::Below => problems.push(nested(one, other, filled)),
            ClashKind::Alike if one.index == other.index => {
                alike.entry(one.index).or_default().push([one, other]);
            }
            ClashKind::Same | ClashKind::Alike => problems.push(same_path(one, other, filled)),
        }
    }
    problems.extend(self::alike(&alike, filled, system));
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
    files.map(|(index, by, member)| Claim { index, by, member }).collect()
}

fn same_path(one: &Claim<'_, '_>, other: &Claim<'_, '_>, filled: &[Filled<'_>]) -> Problem {
    let (a, b) = (&one.member.path, &other.member.path);
    let (first, second) = (&one.by.name, &other.by.name);
    let message = if one.index == other.index {
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
    labelled(Problem::error(code, message), one, other, filled).help(help)
}

/// Paths that only differ in case or normalization: Windows loses one of the files.
fn alike(
    pairs: &BTreeMap<usize, Vec<[&Claim<'_, '_>; 2]>>,
    filled: &[Filled<'_>],
    system: System,
) -> Problems {
    let mut problems = Problems::new();
    for (pairs, [one, other]) in pairs.values().filter_map(|pairs| Some((pairs, *pairs.first()?))) {
        let more = if pairs.len() > 1 {
            format!(", and {}", counted(pairs.len() - 1, "more such pair"))
        } else {
            String::new()
        };
        let (a, b) = (one.member.path.as_str(), other.member.path.as_str());
        let lookalikes = Lookalikes::new(a, b);
        let message = format!(
            "{} installs `{}` and `{}`, which differ only in {}{more}",
            one.by.name, lookalikes.one, lookalikes.other, lookalikes.differ_in
        );
        let severity = if system == System::Windows { Problem::error } else { Problem::warning };
        problems.push(labelled(severity(Code::CaseClash, message), one, other, filled).help(
            "exclude one, or rename it in the build: some file systems can hold only \
                    one of them",
        ));
    }
    problems
}

fn nested(one: &Claim<'_, '_>, other: &Claim<'_, '_>, filled: &[Filled<'_>]) -> Problem {
    let other_package =
        if one.index == other.index { String::new() } else { format!("{} ", other.by.name) };
    let message = format!(
        "{} installs `{}` as a file or link, and {other_package}`{}` below it",
        one.by.name, one.member.path, other.member.path
    );
    labelled(Problem::error(Code::FileAndDirectory, message), one, other, filled)
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
