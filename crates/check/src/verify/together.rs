use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::offers::Offers;
use super::rpath::Directories;
use super::symbols::Defined;
use super::{Finding, Package, loading};
use base::names::Form;
use base::names::{Lookalikes, folded};
use base::source::Code;
use binary::systems::PythonTags;

use crate::dlls;

/// Checks packages as a set; equal names are never installed together. `on_system` decides on
/// libraries of users' systems.
pub fn together(packages: &[Package], on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = owners(packages);
    let directories = Directories::new(packages);
    let defined = Defined::new(packages);
    found.extend(loading(packages, on_system));
    let offers = Offers::new(packages);
    for package in packages {
        found.extend(directories.check(package));
        found.extend(defined.check(package));
        let requirements =
            package.requires.iter().filter_map(|requirement| offers.unmet(requirement));
        found.extend(requirements.map(|finding| finding.within(&package.file)));
    }
    found.extend(imports(packages, on_system));
    found
}

/// Compares imports of DLLs.
fn imports(packages: &[Package], on_system: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    if packages.iter().all(|package| package.dlls.is_empty()) {
        return Vec::new();
    }
    let names: BTreeSet<&str> = packages.iter().filter_map(|it| it.name.as_deref()).collect();
    let sets: Vec<_> = packages
        .iter()
        .map(|package| dlls::Package {
            file: &package.file,
            python: PythonTags { python: &package.python.0, abi: &package.python.1 },
            is_whole: dlls::is_whole(&package.requires, &names),
            dlls: &package.dlls,
        })
        .collect();
    let others = packages.iter().flat_map(|p| p.installed.keys().chain(&p.archived));
    let others = others.filter_map(|path| path.rsplit('/').next());
    dlls::findings(&sets, &others.map(str::to_ascii_lowercase).collect(), on_system)
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

/// Returns the first two claims with different names: of many versions of one package, none can
/// meet another.
fn two_names<'c, 'p>(claims: &'c [Claim<'p>]) -> Option<(&'c Claim<'p>, Option<&'c Claim<'p>>)> {
    let one = claims.iter().find(|claim| claim.package.name.is_some())?;
    Some((one, claims.iter().find(|other| one.can_meet(other))))
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
    let (one, Some(other)) = two_names(claims)? else { return None };
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
    let (first, second) = two_names(above)?;
    let of_one = |one| [Some(first), second].into_iter().flatten().map(move |other| (one, other));
    let mut pairs = claims.get(path)?.iter().flat_map(of_one);
    let (one, other) = pairs.find(|(one, other): &(&Claim<'_>, &Claim<'_>)| one.can_meet(other))?;
    let what = format!("path below a file of {}", other.package.file);
    Some(
        Finding::error(Code::FileAndDirectory, what)
            .of(one.path)
            .because(format!("`{}`", other.path))
            .within(&one.package.file),
    )
}
