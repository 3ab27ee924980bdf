use std::collections::BTreeMap;

use super::install_tree::Item;
use super::resolved_dist::ResolvedDist;
use super::select::{Matched, Refusal, Refusals};
use base::names::Component;
use base::source::{Code, Place, Problem};
use base::text::counted;
use catalog::{Artifact, Catalog, EntryKind};
use manifest::{ArtifactRule, Manifest, Package};

const SHOWN: usize = 3;

pub(super) struct Emptied<'a> {
    pub problem: Problem,
    pub files: Vec<Item<'a>>,
}

pub(super) fn check<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    all: &[ResolvedDist<'a>],
    package: &Package,
    matched: &Matched<'_>,
) -> Vec<Emptied<'a>> {
    let mut emptied = Vec::new();
    if !matched.kept_any() {
        return emptied;
    }
    for rule in package.artifacts.iter().filter(|rule| rule.optional.is_none()) {
        let is_emptied =
            |c: Component| matched.took(&rule.name, c) && !matched.keeps(&rule.name, c);
        let keeps = |c: Component| matched.keeps(&rule.name, c);
        let components: Vec<(Component, &Place)> = match rule.components.as_slice() {
            [] if Component::ALL.into_iter().any(keeps) => continue,
            [] => Component::ALL.into_iter().map(|c| (c, &rule.name.place)).collect(),
            named => named.iter().map(|c| (c.value, &c.place)).collect(),
        };
        for (component, place) in components.into_iter().filter(|(c, _)| is_emptied(*c)) {
            let has_component = |a: &&Artifact| a.id.component == component;
            let artifacts: Vec<&Artifact> =
                catalog.named(&rule.name).iter().filter(has_component).collect();
            let refused = refused_files(manifest, all, package, &artifacts);
            if !refused.is_empty() {
                let problem = problem(rule, component, package, place, &refused);
                let files = refused.into_values().flat_map(|(_, files)| files).collect();
                emptied.push(Emptied { problem, files });
            }
        }
    }
    emptied
}

/// Refused files by place of the refusing line.
type RefusedFiles<'a> = BTreeMap<usize, (Refusal<'a>, Vec<Item<'a>>)>;

fn refused_files<'a>(
    manifest: &'a Manifest,
    all: &[ResolvedDist<'a>],
    package: &Package,
    artifacts: &[&'a Artifact],
) -> RefusedFiles<'a> {
    let mut refused = RefusedFiles::new();
    for artifact in artifacts {
        let is_of_package = |dist: &&ResolvedDist<'_>| {
            dist.package.name.value == package.name.value && dist.fits(&artifact.id)
        };
        let Some(dist) = all.iter().find(is_of_package) else { continue };
        let refusals = Refusals::new(manifest, dist, artifact);
        let files = artifact.entries.iter().filter(|e| !matches!(e.kind, EntryKind::Directory));
        for (entry, refusal) in files.filter_map(|entry| Some((entry, refusals.refusal(entry)?))) {
            let place = refusal.place().start();
            let (_, files) = refused.entry(place).or_insert((refusal, Vec::new()));
            files.push(Item { artifact, entry });
        }
    }
    refused
}

fn problem(
    rule: &ArtifactRule,
    component: Component,
    package: &Package,
    place: &Place,
    refused: &RefusedFiles<'_>,
) -> Problem {
    let name = &package.name.value;
    let message = format!(
        "the rules of package `{name}` leave out all files of artifact `{}` \
        `{component}`",
        *rule.name
    );
    let files = refused.values().map(|(_, files)| files.len()).sum();
    let problem = Problem::error(Code::MatchesNothing, message)
        .label(place, format!("all {} left out", counted(files, "file")));
    let problem = refused.values().take(SHOWN).fold(problem, |problem, (refusal, files)| {
        let files = counted(files.len(), "file");
        let text = match refusal {
            Refusal::NotIncluded(_) => format!("this include line matches none of {files}"),
            _ => format!("excludes {files}"),
        };
        problem.label(refusal.place(), text)
    });
    problem.help("change these rules, remove the component, or give a reason: optional=\"…\"")
}
