//! Devel tree of builds of projects.

use super::super::resolved_dist::ResolvedDist;
use crate::DevelTree;
use base::target::Per;
use base::version::Version;
use manifest::PackageKind;

/// Returns the tree with the requirements that install it, if the set has a devel package and a selector.
pub(super) fn devel_tree(all: &[ResolvedDist<'_>], version: &Version) -> Option<DevelTree> {
    let devel = all.iter().find(|i| i.package.kind == PackageKind::Devel)?;
    let shares_tree = |i: &&ResolvedDist<'_>| {
        i.directory == devel.directory || i.package.kind == PackageKind::Runtime
    };
    let selector =
        all.iter().filter(shares_tree).find(|i| i.package.kind == PackageKind::Selector)?;
    // A choice installs packages for the user's machine.
    let has_files = |i: &ResolvedDist<'_>| i.package.kind != PackageKind::Choice;
    let is_required = |i: &&ResolvedDist<'_>| {
        *i.variant.per() != Per::Isa && devel.relies_on(i) && shares_tree(i) && has_files(i)
    };
    let mut install: Vec<String> =
        all.iter().filter(is_required).map(|i| format!("{}=={version}", i.name)).collect();
    install.dedup();
    Some(DevelTree { directory: devel.directory.clone(), install, module: selector.module.clone() })
}
