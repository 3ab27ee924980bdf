use std::borrow::Cow;
use std::collections::BTreeMap;

use super::dlls::Names;
use super::rpath::Directories;
use super::symbols::Defined;
use super::{Finding, Package, loading};
use crate::package::Requirement;
use base::names::Form;
use base::names::{Lookalikes, folded};
use base::source::Code;

/// Checks packages as a set; equal names are never installed together. `on_system` decides on
/// libraries of users' systems.
pub fn together(packages: &[Package], on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = owners(packages);
    let (directories, names) = (Directories::new(packages), Names::new(packages));
    let defined = Defined::new(packages);
    found.extend(loading(packages, on_system));
    for package in packages {
        found.extend(directories.check(package));
        found.extend(defined.check(package));
        found.extend(names.check(package, on_system));
        let requirements =
            package.requires.iter().filter_map(|requirement| unmet(packages, requirement));
        found.extend(requirements.map(|finding| finding.within(&package.file)));
    }
    found
}

const FEW: usize = 4;

struct Claim<'p> {
    package: &'p Package,
    path: &'p str,
}

impl Claim<'_> {
    fn can_meet(&self, other: &Self) -> bool {
        self.package.name.is_some()
            && other.package.name.is_some()
            && self.package.name != other.package.name
    }
}

type Claims<'p> = BTreeMap<Cow<'p, str>, Vec<Claim<'p>>>;

/// Reports paths of two packages, also in different case, and files in place of directories.
fn owners(packages: &[Package]) -> Vec<Finding> {
    let mut claims: Claims<'_> = BTreeMap::new();
    for package in packages.iter().filter(|package| package.form == Form::Wheel) {
        for path in package.installed.keys() {
            let claims = claims.entry(folded(path)).or_default();
            let own = claims.iter().rev().take_while(|claim| std::ptr::eq(claim.package, package));
            if own.take(FEW).count() < FEW {
                claims.push(Claim { package, path });
            }
        }
    }
    let rivals =
        claims.values().filter(|claims| claims.len() > 1).filter_map(|claims| rivals(claims));
    rivals.chain(claims.keys().filter_map(|path| nested(&claims, path))).collect()
}

fn rivals(claims: &[Claim<'_>]) -> Option<Finding> {
    let pairs = claims
        .iter()
        .enumerate()
        .flat_map(|(at, one)| claims[at + 1..].iter().map(move |other| (one, other)));
    let (one, other) = pairs.into_iter().find(|(one, other)| one.can_meet(other))?;
    let finding = if one.path == other.path {
        Finding::error(Code::TwoOwners, format!("same path as in {}", other.package.file))
    } else {
        let told = Lookalikes::new(one.path, other.path);
        let by = &other.package.file;
        let what = format!("path that differs only in {} from a path of {by}", told.differ_in);
        let finding = Finding::error(Code::CaseClash, what).because(format!("`{}`", told.other));
        return Some(finding.of(&told.one).within(&one.package.file));
    };
    Some(finding.of(one.path).within(&one.package.file))
}

fn nested(claims: &Claims<'_>, path: &str) -> Option<Finding> {
    let above = path.match_indices('/').find_map(|(at, _)| claims.get(&path[..at]))?;
    let pairs =
        claims.get(path)?.iter().flat_map(|one| above.iter().map(move |other| (one, other)));
    let (one, other) = pairs.into_iter().find(|(one, other)| one.can_meet(other))?;
    let what = format!("path below a file of {}", other.package.file);
    Some(
        Finding::error(Code::FileAndDirectory, what)
            .of(one.path)
            .because(format!("`{}`", other.path))
            .within(&one.package.file),
    )
}

fn unmet(packages: &[Package], requirement: &Requirement) -> Option<Finding> {
    let named: Vec<&Package> = packages
        .iter()
        .filter(|package| package.name.as_ref() == Some(&requirement.name))
        .collect();
    if named.is_empty() {
        return None;
    }
    let fitting: Vec<&&Package> =
        named.iter().filter(|package| fits(package, requirement)).collect();
    if fitting.is_empty() {
        let there: Vec<String> = named
            .iter()
            .filter_map(|package| package.version.as_ref())
            .map(ToString::to_string)
            .collect();
        let what = format!(
            "it requires `{}`, but the set has {} {}",
            requirement.text,
            requirement.name,
            there.join(" and ")
        );
        return Some(Finding::error(Code::UnmetRequirement, what));
    }
    let extra = requirement
        .extras
        .iter()
        .find(|extra| !fitting.iter().any(|package| package.extras.contains(*extra)))?;
    Some(Finding::error(
        Code::UnmetExtra,
        format!(
            "it requires `{}`, but {} has no extra `{extra}`",
            requirement.text, requirement.name
        ),
    ))
}

fn fits(package: &Package, requirement: &Requirement) -> bool {
    let Some(versions) = &requirement.versions else { return true };
    let version = package
        .version
        .as_ref()
        .and_then(|version| version.as_str().parse::<pep440_rs::Version>().ok());
    version.is_none_or(|version| versions.contains(&version))
}
