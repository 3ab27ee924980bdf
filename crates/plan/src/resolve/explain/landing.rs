use std::collections::{BTreeMap, HashMap};

use super::rules::PackageRules;
use super::{Below, InDistribution, Landing, Part};
use crate::resolve::resolved_dist::ResolvedDist;
use crate::title;
use crate::{Distribution, Member, Plan, Step};
use base::names::RelPath;
use binary::elf::ElfFacts;
use catalog::{Catalog, SourcePath};

pub(super) type Planned<'p> = HashMap<(&'p str, Option<&'p str>), &'p Distribution>;

pub(super) fn planned(plan: &Plan) -> Planned<'_> {
    let mut planned = Planned::new();
    for distribution in &plan.distributions {
        let key = (distribution.name.as_str(), distribution.variant.as_deref());
        planned.entry(key).or_insert(distribution);
    }
    planned
}

pub(super) fn distribution(
    planned: &Planned<'_>,
    catalog: &Catalog,
    dist: &ResolvedDist<'_>,
    rules: PackageRules<'_>,
    path: &RelPath,
) -> InDistribution {
    let variant = dist.variant.as_str().map(str::to_owned);
    let planned = planned.get(&(dist.name.as_str(), variant.as_deref())).copied();
    let absent =
        planned.iter().flat_map(|d| &d.absent).filter(|a| a.path == *path).cloned().collect();
    InDistribution {
        package: dist.package.name.value.clone(),
        name: dist.name.clone(),
        variant,
        directory: dist.directory.clone(),
        rules: rules.rules,
        choice: rules.choice,
        problems: rules.problems,
        lands: planned.map(|d| landings(d, catalog, path)).unwrap_or_default(),
        absent,
        below: planned.filter(|d| !at_path(d, path)).and_then(|d| below(d, path)),
    }
}

fn parts(distribution: &Distribution) -> impl Iterator<Item = (Part, &Member)> {
    let files = distribution.members.iter().map(|m| (Part::Files, m));
    let licenses = distribution.licenses.iter().map(|m| (Part::Licenses, m));
    let archive = distribution.archive.iter().flat_map(|a| &a.members).map(|m| (Part::Archive, m));
    files.chain(licenses).chain(archive)
}

fn landings(distribution: &Distribution, catalog: &Catalog, path: &RelPath) -> Vec<Landing> {
    let is_at_path =
        |member: &Member| installed(distribution, member) == path.as_str() || member.path == *path;
    let is_from_path =
        |member: &Member| member.step.source().is_some_and(|source| source.path == *path);
    let members =
        parts(distribution).filter(|(_, member)| is_at_path(member) || is_from_path(member));
    let landing = |(part, member): (Part, &Member)| Landing {
        part,
        member: member.clone(),
        elf: member.step.source().and_then(|s| elf(catalog, s)),
        needs: Vec::new(),
    };
    members.map(landing).collect()
}

fn at_path(distribution: &Distribution, path: &RelPath) -> bool {
    parts(distribution).any(|(_, member)| {
        member.step != Step::Directory && installed(distribution, member) == path.as_str()
    })
}

fn installed<'m>(distribution: &Distribution, member: &'m Member) -> &'m str {
    let path = member.path.as_str();
    let below = distribution
        .platform_dir
        .as_ref()
        .and_then(|dir| path.strip_prefix(dir.as_str())?.strip_prefix('/'));
    below.unwrap_or(path)
}

fn elf(catalog: &Catalog, origin: &SourcePath) -> Option<ElfFacts> {
    let artifact = catalog.artifacts.iter().find(|a| a.id == origin.artifact)?;
    artifact.entries.iter().find(|e| e.path == origin.path && e.base == origin.base)?.elf().cloned()
}

fn below(distribution: &Distribution, path: &RelPath) -> Option<Below> {
    let prefix = format!("{path}/");
    let mut below = Below::default();
    for (_, member) in parts(distribution).filter(|(part, _)| *part != Part::Licenses) {
        if member.step != Step::Directory && installed(distribution, member).starts_with(&prefix) {
            below.files += 1;
            below.size += member.size;
        }
    }
    (below.files > 0).then_some(below)
}

pub(super) fn by_path(plan: &Plan) -> BTreeMap<RelPath, Vec<(String, String)>> {
    let mut by_path: BTreeMap<RelPath, Vec<(String, String)>> = BTreeMap::new();
    for distribution in &plan.distributions {
        for (part, member) in parts(distribution) {
            let step = if part == Part::Licenses { "licence text" } else { member.step.name() };
            if let Ok(path) = installed(distribution, member).parse() {
                by_path.entry(path).or_default().push((title(distribution), step.to_owned()));
            }
        }
    }
    by_path
}
