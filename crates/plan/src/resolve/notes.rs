use std::collections::BTreeSet;

use super::resolved_dist::ResolvedDist;
use super::select::Selection;
use super::targets::{Targets, TargetsOrigin};
use crate::{Member, Step};
use base::target::Per;
use base::text::counted;
use catalog::Catalog;
use manifest::{Manifest, Package};

pub(super) fn catalog(manifest: &Manifest, catalog: &Catalog, targets: &Targets) -> Vec<String> {
    let ignored = catalog.ignored.iter().map(|i| format!("ignored `{}`: {}", i.name, i.reason));
    let are_requested = targets.origin == TargetsOrigin::CommandLine;
    let unrequested =
        are_requested.then(|| targets.left_out(manifest, catalog)).into_iter().flatten();
    let unrequested =
        unrequested.map(|target| format!("artifacts for `{target}` exist, but are not requested"));
    ignored.chain(unrequested).collect()
}

pub(super) fn without_isas(manifest: &Manifest, targets: &Targets) -> Option<String> {
    let by_isa = |p: &&Package| p.distribution().is_some_and(|d| d.per == Per::Isa);
    let names: Vec<String> =
        manifest.packages.values().filter(by_isa).map(|p| format!("`{}`", *p.name)).collect();
    let is_affected = targets.built.is_empty() && !names.is_empty();
    is_affected
        .then(|| format!("no artifact is for an ISA, so package {} is not made", names.join(", ")))
}

pub(super) fn shared(dist: &ResolvedDist<'_>, selection: &Selection<'_>) -> Option<String> {
    let (path, artifacts) = selection.shared.first()?;
    let names: BTreeSet<String> = artifacts.iter().map(|a| format!("`{a}`")).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(" and ");
    let count = counted(selection.shared.len(), "file");
    Some(format!(
        "{}: several artifacts supply {count} with the same content, such as `{path}` by \
         {names}; the package has one copy",
        dist.name
    ))
}

pub(super) fn keep_links(dist: &ResolvedDist<'_>, archive: &[Member]) -> Option<String> {
    let root = format!("{}/", dist.platform_dir);
    let links: BTreeSet<&str> = archive
        .iter()
        .filter(|m| matches!(m.step, Step::Link { .. }))
        .filter_map(|m| m.path.as_str().strip_prefix(&root))
        .collect();
    let missing = dist
        .package
        .keep_links
        .iter()
        .map(|l| &l.path)
        .filter(|keep| !links.contains(keep.as_str()));
    let missing: Vec<String> =
        missing.map(|keep| format!("`{}` ({})", keep.value, keep.place)).collect();
    (!missing.is_empty())
        .then(|| format!("{}: `keep-link` matches no link at {}", dist.name, missing.join(", ")))
}
