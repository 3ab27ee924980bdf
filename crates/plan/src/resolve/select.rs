use std::collections::{BTreeMap, BTreeSet};

use super::install_tree::Item;
use super::resolved_dist::ResolvedDist;
use crate::Absent;
use base::names::{ArtifactName, Component, RelPath};
use base::source::{Code, Place, Problem, Problems};
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, EntryKind};
use manifest::{ArtifactRule, DropRule, Glob, Manifest, Package, PackageKind, PathRule, Rules};

mod refusal;
mod trace;

pub(super) use refusal::{Refusal, Refusals};
pub(super) use trace::{RuleMatch, SelectionTrace, Why};

#[derive(Debug, Clone, Copy)]
pub(super) struct Selected<'a> {
    pub item: Item<'a>,
    pub rule: &'a Place,
}

#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    pub files: BTreeMap<&'a RelPath, Selected<'a>>,
    pub directories: BTreeMap<&'a RelPath, Selected<'a>>,
    pub shared: Vec<(&'a RelPath, Vec<ArtifactId>)>,
    /// Excluding rule, and rule that would take the path.
    pub excluded: BTreeMap<&'a RelPath, (&'a Place, &'a Place)>,
    /// Entries that count as taken, with copies of shared paths.
    pub owned: Vec<Item<'a>>,
}

impl Selection<'_> {
    pub fn absent(&self) -> impl Iterator<Item = Absent> {
        self.excluded.iter().map(|(path, (exclude, rule))| Absent {
            path: (*path).clone(),
            reason: format!("excluded by {exclude}"),
            rule: rule.shown(),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Matched<'a> {
    artifacts: BTreeSet<(&'a ArtifactName, Component)>,
    kept: BTreeSet<(&'a ArtifactName, Component)>,
    /// Addresses of the rules.
    globs: BTreeSet<usize>,
}

impl Matched<'_> {
    pub fn merge(&mut self, other: Self) {
        self.artifacts.extend(other.artifacts);
        self.kept.extend(other.kept);
        self.globs.extend(other.globs);
    }

    pub fn took(&self, name: &ArtifactName, component: Component) -> bool {
        self.artifacts.contains(&(name, component))
    }

    /// A file remained after includes, excludes and drops.
    pub fn keeps(&self, name: &ArtifactName, component: Component) -> bool {
        self.kept.contains(&(name, component))
    }

    pub(crate) fn kept_any(&self) -> bool {
        !self.kept.is_empty()
    }

    pub fn used(&self, rule: &PathRule) -> bool {
        self.globs.contains(&std::ptr::from_ref(rule).addr())
    }
}

impl<'a> SelectionTrace<'a> for Matched<'a> {
    fn on_match(&mut self, _: &'a ArtifactId, rule_match: RuleMatch<'a>) {
        if let RuleMatch::Includes(rule) | RuleMatch::Excludes(rule) = rule_match {
            self.globs.insert(std::ptr::from_ref(rule).addr());
        }
    }

    fn admit(&mut self, artifact: &'a ArtifactId) {
        self.artifacts.insert((&artifact.name, artifact.component));
    }

    fn keep(&mut self, artifact: &'a ArtifactId) {
        self.kept.insert((&artifact.name, artifact.component));
    }
}

pub(super) fn selection<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    dist: &ResolvedDist<'a>,
    trace: &mut impl SelectionTrace<'a>,
    problems: &mut Problems,
) -> Selection<'a> {
    choose_entries(candidates(manifest, catalog, dist, trace), dist, trace, problems)
}

pub(super) fn takes_artifact<'a>(
    manifest: &'a Manifest,
    dist: &ResolvedDist<'a>,
    id: &'a ArtifactId,
    trace: &mut impl SelectionTrace<'a>,
) -> bool {
    let takes = rule_of(manifest, dist.package, id, trace).is_some();
    if takes {
        trace.admit(id);
    }
    takes
}

/// Returns the line by which the package takes the artifact.
pub(super) fn line_of<'a>(
    manifest: &'a Manifest,
    package: &'a Package,
    id: &'a ArtifactId,
) -> Option<&'a Place> {
    rule_of(manifest, package, id, &mut Matched::default())
}

fn rule_of<'a>(
    manifest: &'a Manifest,
    package: &'a Package,
    id: &'a ArtifactId,
    trace: &mut impl SelectionTrace<'a>,
) -> Option<&'a Place> {
    match package.kind {
        PackageKind::Selector | PackageKind::Choice => None,
        PackageKind::Runtime => named(package, id, trace),
        PackageKind::Devel => {
            let rule = inherited(manifest, package, id, trace);
            rule.filter(|_| !is_left_out(package, id, trace))
        }
    }
}

pub(super) fn in_scope(rule: &DropRule, artifact: &Artifact) -> bool {
    is_about(rule.artifact.as_ref(), rule.component, artifact)
}

pub(super) fn is_about(
    name: Option<&ArtifactName>,
    component: Option<Component>,
    artifact: &Artifact,
) -> bool {
    name.is_none_or(|name| *name == artifact.id.name)
        && component.is_none_or(|c| c == artifact.id.component)
}

fn candidates<'a, T: SelectionTrace<'a>>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    dist: &ResolvedDist<'a>,
    trace: &mut T,
) -> Candidates<'a> {
    let mut candidates = Candidates::default();
    let named = names(manifest, dist.package).into_iter().flat_map(|name| catalog.named(name));
    for artifact in named.filter(|a| dist.fits(&a.id)) {
        if let Some(rule) = rule_of(manifest, dist.package, &artifact.id, trace) {
            let narrowing = Narrowing::new(manifest, dist.package, artifact);
            add_candidates(artifact, rule, &narrowing, trace, &mut candidates);
        }
    }
    candidates
}

fn names<'a>(manifest: &'a Manifest, package: &'a Package) -> BTreeSet<&'a ArtifactName> {
    let inherited =
        package.artifacts_of.iter().filter_map(|name| manifest.packages.get(&name.value));
    let rules = inherited.chain([package]).flat_map(|package| &package.artifacts);
    rules.map(|rule| &rule.name.value).collect()
}

fn named<'a>(
    package: &'a Package,
    id: &'a ArtifactId,
    trace: &mut impl SelectionTrace<'a>,
) -> Option<&'a Place> {
    let mut place = None;
    for rule in package.artifacts.iter().filter(|r| *r.name == id.name) {
        let takes = rule.components.iter().any(|c| **c == id.component);
        trace.on_match(
            id,
            if takes { RuleMatch::Takes(rule) } else { RuleMatch::OtherComponents(rule) },
        );
        place = place.or(takes.then_some(&rule.name.place));
    }
    place
}

/// Rule for messages: the own or last inherited one.
fn inherited<'a>(
    manifest: &'a Manifest,
    package: &'a Package,
    id: &'a ArtifactId,
    trace: &mut impl SelectionTrace<'a>,
) -> Option<&'a Place> {
    let fits = |rule: &&ArtifactRule| *rule.name == id.name;
    let mut place = None;
    for of in &package.artifacts_of {
        for rule in manifest
            .packages
            .get(&of.value)
            .into_iter()
            .flat_map(|other| &other.artifacts)
            .filter(fits)
        {
            trace.on_match(id, RuleMatch::Inherits(of, rule));
            place = Some(&of.place);
        }
    }
    for rule in package.artifacts.iter().filter(fits) {
        trace.on_match(id, RuleMatch::Takes(rule));
        place = Some(&rule.name.place);
    }
    place
}

fn is_left_out<'a>(
    package: &'a Package,
    id: &'a ArtifactId,
    trace: &mut impl SelectionTrace<'a>,
) -> bool {
    let artifact = package.without_artifacts.iter().find(|a| ***a == id.name);
    let component = package.without_components.iter().find(|c| *c.component == id.component);
    if let Some(rule) = artifact {
        trace.on_match(id, RuleMatch::WithoutArtifact(&rule.place));
    }
    if let Some(rule) = component {
        trace.on_match(id, RuleMatch::WithoutComponent(&rule.component.place));
    }
    artifact.is_some() || component.is_some()
}

/// Entries that the rules of a package select, before one of each path is chosen.
#[derive(Default)]
struct Candidates<'a> {
    /// In the order of artifacts, each sorted by path.
    files: Vec<Selected<'a>>,
    directories: BTreeMap<&'a RelPath, Selected<'a>>,
    excluded: BTreeMap<&'a RelPath, (&'a Place, &'a Place)>,
}

fn add_candidates<'a>(
    artifact: &'a Artifact,
    rule: &'a Place,
    narrowing: &Narrowing<'a>,
    trace: &mut impl SelectionTrace<'a>,
    candidates: &mut Candidates<'a>,
) {
    trace.admit(&artifact.id);
    let mut keeps = false;
    for entry in &artifact.entries {
        let item = Item { artifact, entry };
        let is_directory = matches!(entry.kind, EntryKind::Directory);
        let narrowed = narrowing.narrow(entry, |rule_match| {
            if is_directory {
                trace.on_directory_match(&artifact.id, rule_match);
            } else {
                trace.on_match(&artifact.id, rule_match);
            }
        });
        match narrowed {
            Narrowed::In(_) if is_directory => {
                _ = candidates.directories.entry(&entry.path).or_insert(Selected { item, rule });
            }
            Narrowed::In(place) => {
                keeps = true;
                let selected = Selected { item, rule: place.unwrap_or(rule) };
                candidates.files.push(selected);
            }
            Narrowed::Excluded(exclude) if !is_directory => {
                _ = candidates.excluded.entry(&entry.path).or_insert((exclude, rule));
            }
            Narrowed::Excluded(_) | Narrowed::NotIncluded => {}
        }
    }
    if keeps {
        trace.keep(&artifact.id);
    }
}

enum Narrowed<'a> {
    In(Option<&'a Place>),
    Excluded(&'a Place),
    NotIncluded,
}

struct Narrowing<'a> {
    package: &'a Package,
    artifact: &'a Artifact,
    drops: &'a Rules<DropRule>,
}

impl<'a> Narrowing<'a> {
    fn new(manifest: &'a Manifest, package: &'a Package, artifact: &'a Artifact) -> Self {
        Self { package, artifact, drops: &manifest.drops }
    }

    fn narrow(
        &self,
        entry: &CatalogEntry,
        mut on_match: impl FnMut(RuleMatch<'a>),
    ) -> Narrowed<'a> {
        let mut fits = |rules: &'a Rules<PathRule>,
                        rule_match: fn(&'a PathRule) -> RuleMatch<'a>| {
            let mut first = None;
            let fits = |r: &&PathRule| matches(&r.glob, entry);
            for rule in rules.possible(entry.path.as_str()).map(|(_, rule)| rule).filter(fits) {
                on_match(rule_match(rule));
                first = first.or(Some(&rule.glob.place));
            }
            first
        };
        let included = fits(&self.package.includes, RuleMatch::Includes);
        let excluded = fits(&self.package.excludes, RuleMatch::Excludes);
        match (excluded, included) {
            (Some(place), _) => Narrowed::Excluded(place),
            (None, None) if !self.package.includes.is_empty() => {
                on_match(RuleMatch::NotIncluded);
                Narrowed::NotIncluded
            }
            (None, place) => self.unless_dropped(entry, place, on_match),
        }
    }

    fn unless_dropped(
        &self,
        entry: &CatalogEntry,
        include: Option<&'a Place>,
        mut on_match: impl FnMut(RuleMatch<'a>),
    ) -> Narrowed<'a> {
        // Other `drop` lines are only for files that no package takes.
        let applies = |rule: &&DropRule| rule.everywhere && in_scope(rule, self.artifact);
        let mut drops = self.drops.possible(entry.path.as_str()).map(|(_, rule)| rule);
        let Some(rule) = drops.find(|rule| applies(rule) && matches(&rule.glob, entry)) else {
            return Narrowed::In(include);
        };
        on_match(RuleMatch::Drops(rule));
        Narrowed::Excluded(&rule.glob.place)
    }
}

/// Directories match by their whole content.
pub(super) fn matches(glob: &Glob, entry: &CatalogEntry) -> bool {
    match entry.kind {
        EntryKind::Directory => glob.matches_tree(&entry.path),
        EntryKind::File { .. } | EntryKind::Symlink { .. } => glob.matches(&entry.path),
    }
}

/// Chooses one entry for each path. Reports different files of one path.
fn choose_entries<'a>(
    mut entries: Candidates<'a>,
    dist: &ResolvedDist<'a>,
    trace: &mut impl SelectionTrace<'a>,
    problems: &mut Problems,
) -> Selection<'a> {
    let mut selection = Selection {
        directories: entries.directories,
        excluded: entries.excluded,
        ..Selection::default()
    };
    let path_of = |selected: &Selected<'a>| &selected.item.entry.path;
    entries.files.sort_by(|a, b| path_of(a).cmp(path_of(b)));
    let mut files = Vec::with_capacity(entries.files.len());
    for candidates in entries.files.chunk_by(|a, b| path_of(a) == path_of(b)) {
        let path = path_of(&candidates[0]);
        // Artifacts are in the order of their names, which must not decide whether a file is executable.
        let executable = candidates.iter().find(|c| c.item.entry.is_executable());
        let Some(first) = executable.or(candidates.first()).copied() else { continue };
        let why = if let Some(other) =
            candidates.iter().find(|c| !is_same_content(first.item.entry, c.item.entry))
        {
            problems.push(conflict(dist, path, &first, other));
            Why::Differ
        } else if candidates.len() == 1 {
            Why::Alone
        } else {
            selection
                .shared
                .push((path, candidates.iter().map(|c| c.item.artifact.id.clone()).collect()));
            if candidates.iter().all(|c| c.item.entry.is_executable()) || executable.is_none() {
                Why::First
            } else {
                Why::Executable
            }
        };
        trace.choose(candidates, &first, why);
        // The path is excluded in another artifact only.
        selection.excluded.remove(path);
        selection.owned.extend(candidates.iter().map(|c| c.item));
        files.push((path, first));
    }
    selection.files = files.into_iter().collect();
    selection
}

fn is_same_content(one: &CatalogEntry, other: &CatalogEntry) -> bool {
    match (&one.kind, &other.kind) {
        (EntryKind::File { size: a, .. }, EntryKind::File { size: b, .. }) => {
            std::ptr::eq(one, other) || a == b && one.sha256.is_some() && one.sha256 == other.sha256
        }
        (EntryKind::Symlink { target: a }, EntryKind::Symlink { target: b }) => a == b,
        _ => false,
    }
}

fn conflict(
    dist: &ResolvedDist<'_>,
    path: &RelPath,
    one: &Selected<'_>,
    other: &Selected<'_>,
) -> Problem {
    let (a, b) = (&one.item.artifact.id, &other.item.artifact.id);
    if a == b {
        let (from, and) = (&one.item.entry.base, &other.item.entry.base);
        let message = format!(
            "artifact `{a}` supplies `{path}` of {} from `{from}` and from `{and}` with different content",
            dist.name
        );
        return Problem::error(Code::PathConflict, message)
            .label(one.rule, "both taken here")
            .of_fact(format!("{a} {path}"))
            .help("correct the build that installs it twice");
    }
    let problem = Problem::error(
        Code::PathConflict,
        format!(
            "artifacts `{a}` and `{b}` supply `{path}` of {} with different content",
            dist.name
        ),
    );
    let problem = if one.rule.to_string() == other.rule.to_string() {
        problem.label(one.rule, format!("takes it from `{a}` and from `{b}`"))
    } else {
        problem
            .label(one.rule, format!("takes it from `{a}`"))
            .label(other.rule, format!("takes it from `{b}`"))
    };
    let problem = problem.of_fact(format!("{a} {b} {path}"));
    problem.help(
        "exclude it from one of the artifacts, or correct the build that installs it \
        twice",
    )
}

#[cfg(test)]
mod tests;
