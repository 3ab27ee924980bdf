//! Rules of one path, for `rockpack explain`.

use super::{Choice, MatchedRule, Reason, Rule, Says};
use crate::resolve::entries::EntrySet;
use crate::resolve::install_tree::Item;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::select;
use crate::resolve::select::{RuleMatch, Selected, SelectionTrace, Why};
use crate::resolve::targets::Targets;
use crate::resolve::unowned;
use base::names::RelPath;
use base::source::{Place, Problems};
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, EntryKind};
use manifest::{Glob, Manifest, PackageKind, ScriptTarget};

/// Rules of a package for a path, and their effect.
pub(super) struct PackageRules<'a> {
    pub rules: Vec<MatchedRule>,
    pub choice: Option<Choice>,
    pub problems: Vec<String>,
    pub owned: Vec<Item<'a>>,
}

/// Returns the rules of a package for a path. `at_path` is the catalog of only this path.
pub(super) fn rules_of_package<'a>(
    manifest: &'a Manifest,
    at_path: &'a Catalog,
    dist: &ResolvedDist<'a>,
    path: &RelPath,
) -> PackageRules<'a> {
    let (mut trace, mut problems) = (Trace::default(), Problems::new());
    let selection = match dist.package.kind {
        PackageKind::Runtime | PackageKind::Devel => {
            select::selection(manifest, at_path, dist, &mut trace, &mut problems)
        }
        PackageKind::Selector | PackageKind::Choice => select::Selection::default(),
    };
    trace.rules.extend(rules_with_the_path(dist, path));
    trace.rules.extend(execstack_rules(dist, at_path, path));
    PackageRules {
        rules: trace.rules,
        choice: trace.choice,
        problems: problems.iter().map(ToString::to_string).collect(),
        owned: selection.owned,
    }
}

#[derive(Default)]
struct Trace {
    rules: Vec<MatchedRule>,
    choice: Option<Choice>,
}

impl<'a> SelectionTrace<'a> for Trace {
    fn on_match(&mut self, artifact: &'a ArtifactId, rule_match: RuleMatch<'a>) {
        let (says, place) = match rule_match {
            RuleMatch::Takes(rule) => (Says::Takes, Some(&rule.name.place)),
            RuleMatch::OtherComponents(rule) => (Says::OtherComponents, Some(&rule.name.place)),
            RuleMatch::Inherits(package, rule) => (
                Says::Inherits {
                    package: package.value.to_string(),
                    by: Rule::from_place(&rule.name.place),
                },
                Some(&package.place),
            ),
            RuleMatch::WithoutArtifact(place) => (Says::WithoutArtifact, Some(place)),
            RuleMatch::WithoutComponent(place) => (Says::WithoutComponent, Some(place)),
            RuleMatch::Includes(rule) => (Says::Includes, Some(&rule.glob.place)),
            RuleMatch::NotIncluded => (Says::NotIncluded, None),
            RuleMatch::Excludes(rule) => (Says::Excludes, Some(&rule.glob.place)),
            RuleMatch::Drops(rule) => (Says::Drops(rule.reason.clone()), Some(&rule.glob.place)),
        };
        let matched = MatchedRule {
            artifact: Some(artifact.clone()),
            says,
            rule: place.map(Rule::from_place),
        };
        // An artifact can have a path in several base directories.
        if !self.rules.contains(&matched) {
            self.rules.push(matched);
        }
    }

    // The path to explain can be a directory, and the rule decides about its files.
    fn on_directory_match(&mut self, artifact: &'a ArtifactId, rule_match: RuleMatch<'a>) {
        self.on_match(artifact, rule_match);
    }

    fn choose(&mut self, candidates: &[Selected<'a>], first: &Selected<'a>, why: Why) {
        let losers = candidates.iter().filter(|c| !std::ptr::eq(c.item.entry, first.item.entry));
        let why = match why {
            Why::Alone => Reason::Alone,
            Why::First => Reason::First,
            Why::Executable => Reason::Executable,
            Why::Differ => Reason::Differ,
        };
        self.choice = Some(Choice {
            origin: first.item.origin(),
            why,
            others: losers.map(|c| c.item.origin()).collect(),
        });
    }
}

impl Rule {
    pub(super) fn from_place(place: &Place) -> Self {
        let text = place.source().text();
        let start = text[..place.start()].rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        Self {
            place: place.to_string(),
            text: line.trim().trim_end_matches('{').trim_end().to_owned(),
        }
    }
}

/// Returns the rules that contain the path outside of the selection.
fn rules_with_the_path(dist: &ResolvedDist<'_>, path: &RelPath) -> Vec<MatchedRule> {
    let package = dist.package;
    let rule = |says: Says, place: &Place| MatchedRule {
        artifact: None,
        says,
        rule: Some(Rule::from_place(place)),
    };
    // The literal start is compared first, because compiling a glob is slow. These patterns have no
    // wildcard but `*`.
    let has_prefix =
        |glob: &&str| path.as_str().starts_with(glob.split('*').next().unwrap_or(glob));
    let matches = |glob: &Option<String>| {
        let glob = glob.as_deref().filter(has_prefix).and_then(|g| g.parse::<Glob>().ok());
        glob.is_some_and(|g| g.matches(path))
    };
    let aliases = package.aliases.iter().filter(|alias| *alias.path == *path);
    let keep_links = package.keep_links.iter().filter(|link| *link.path == *path);
    let libraries = package.libraries.iter().filter(|l| matches(&l.so) || matches(&l.dll));
    let scripts = package.scripts.iter().filter(
        |script| matches!(&*script.target, ScriptTarget::Program(program) if program == path),
    );
    let mut rules = Vec::new();
    rules.extend(aliases.map(|alias| rule(Says::Alias, &alias.path.place)));
    rules.extend(keep_links.map(|link| rule(Says::KeepsLink, &link.path.place)));
    rules.extend(
        libraries.map(|library| rule(Says::Finds(library.name.value.clone()), &library.name.place)),
    );
    rules.extend(
        scripts.map(|script| rule(Says::Starts(script.name.value.clone()), &script.name.place)),
    );
    rules
}

fn execstack_rules(dist: &ResolvedDist<'_>, at_path: &Catalog, path: &RelPath) -> Vec<MatchedRule> {
    let mut entries = at_path.artifacts.iter().flat_map(|artifact| &artifact.entries);
    let has_executable_stack = |entry: &CatalogEntry| {
        entry.path == *path && entry.elf().is_some_and(|facts| facts.executable_stack.is_some())
    };
    if !entries.any(has_executable_stack) {
        return Vec::new();
    }
    let rules = dist.package.execstacks.matching(path).map(|(_, rule)| MatchedRule {
        artifact: None,
        says: Says::ClearsStack(rule.reason.clone()),
        rule: Some(Rule::from_place(&rule.glob.place)),
    });
    rules.collect()
}

fn unselected_items<'h>(
    at_path: &'h Catalog,
    owned: &EntrySet<'_>,
) -> impl Iterator<Item = Item<'h>> {
    let items = at_path.artifacts.iter().flat_map(|artifact: &Artifact| {
        artifact.entries.iter().map(move |entry| Item { artifact, entry })
    });
    items.filter(|item| !owned.contains(item) && !matches!(item.entry.kind, EntryKind::Directory))
}

pub(super) fn dropped(
    manifest: &Manifest,
    at_path: &Catalog,
    owned: &EntrySet<'_>,
) -> Vec<MatchedRule> {
    let rules = unselected_items(at_path, owned).filter_map(|item| {
        unowned::dropping(manifest, &item).map(|rule| MatchedRule {
            artifact: Some(item.artifact.id.clone()),
            says: Says::Drops(rule.reason.clone()),
            rule: Some(Rule::from_place(&rule.glob.place)),
        })
    });
    rules.collect()
}

pub(super) fn unowned_artifacts(
    manifest: &Manifest,
    targets: &Targets,
    at_path: &Catalog,
    owned: &EntrySet<'_>,
) -> Vec<ArtifactId> {
    let leftover = unowned::find(manifest, at_path, targets, owned);
    leftover.unowned.into_iter().map(|left| left.item.artifact.id.clone()).collect()
}
