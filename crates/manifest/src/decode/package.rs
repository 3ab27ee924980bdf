//! `package`: its lines, put together.

use super::distribution::{check_modes, check_summary, distribution, extra};
use super::outline::Outline;
use super::scope::Scope;
use super::text::{Choice, Every};
use super::vocabulary;
use super::{Block, Context, Node, index, license, listing, readme, rules, variant};
use crate::python::Requirement;
use crate::reader::either;
use crate::{
    ArtifactRule, Distribution, Environment, ForbidRule, IndexRule, KeepLinkRule, Package,
    PackageKind, PathRule, RequireDistRule, RequireRule, RpathRule, Rules, Template,
};
use base::names::{ArtifactName, PackageName, RelPath};
use base::source::Spanned;
use base::target::Condition;

/// Artifacts of those that are taken: of which also what is for single targets, and which are not after all.
fn named_again<'a>(
    lines: &mut Block<'a>,
    scope: &Scope<'_, 'a>,
) -> (Vec<Spanned<ArtifactName>>, Vec<Spanned<ArtifactName>>) {
    let every = lines.every("every-target-of", |n| Some(scope.every_target_of(n))).concat();
    let without =
        lines.every("without-artifact", |n| scope.name_once(n, "without-artifact", "an artifact"));
    (every, without)
}

/// Reads one `package`. Every line is read before any of them can fail, so that all mistakes show.
pub(super) fn package<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<Package> {
    let name = node.argument::<PackageName>("a name");
    let missing = name.as_ref().map(|_| missing(node)).unwrap_or_default();
    let no_kind = missing.contains(&"kind");
    let kind = if no_kind { node.property("kind") } else { node.required("kind") };
    let kind = kind.map(|k: Spanned<PackageKind>| k.value);
    let when = node.condition();
    let mut lines = node.block();
    let likely = kind.or_else(|| no_kind.then(|| likely(&lines)));
    let scope = Scope::new(context, likely);
    if name.is_some() {
        lines.excuse(&["distribution", "summary", "template"]);
    }
    if let Some(kind) = kind {
        refuse_misplaced(&mut lines, kind);
    }
    let told = lines.count("distribution");
    let distributions = lines.at_least_once("distribution", |n| distribution(n, &scope));
    let summary = lines.once("summary", |n| n.argument::<Template>("a text"));
    let readme = lines.at_most_once("readme", |n| readme::readme(n, context));
    let listing = listing::listing(&mut lines, context.faults);
    let license = license::of_package(&mut lines);
    let template = lines.once("template", |n| n.argument::<RelPath>("a directory"));
    let overlay = lines.at_most_once("overlay", |n| context.package(n, Some(PackageKind::Runtime)));
    let requires = lines.every("requires", |n| scope.required(n));
    let requires_dist = lines.every("requires-dist", |n| Some(scope.requires_dist(n))).concat();
    let extras = lines.every("extra", |n| extra(n, &scope));
    let indexes = lines.every("index", |n| index::index(n, &scope));
    let variant = lines.at_most_once("variant", |n| variant::variant(n, &scope));
    let artifacts_of = lines.at_most_once("artifacts-of", |n| Some(scope.artifacts_of(n)));
    let told_artifacts = lines.count("artifact");
    let artifacts = lines.every("artifact", |n| rules::artifact(n, &scope));
    let (every_target_of, without_artifacts) = named_again(&mut lines, &scope);
    let without_components = lines.every("without-component", |n| rules::component(n, &scope));
    let includes: Rules<PathRule> = rules::paths(&mut lines, &scope, "include");
    let excludes: Rules<PathRule> = rules::paths(&mut lines, &scope, "exclude");
    let forbids: Rules<ForbidRule> = rules::forbids(&mut lines, &scope);
    let rpaths = lines.every("rpath", |n| rules::rpath(n, &scope)).concat();
    let aliases = lines.every("alias", |n| Some(rules::alias(n, &scope))).concat();
    let libraries = lines.every("find-library", |n| Some(rules::library(n, &scope))).concat();
    let scripts = lines.every("script", |n| rules::script(n, &scope)).concat();
    let environment = lines.every("prepend-path", |n| rules::environment(n, &scope));
    let keep_links = lines.every("keep-link", |n| Some(scope.keep_links(n))).concat();
    lines.finish();
    check_names(context, summary.as_ref(), &distributions);
    context.outlines.borrow_mut().extend(name.clone().map(|name| Outline {
        name,
        when,
        kind: likely,
        missing,
        license: license.as_ref().map(|license| license.value.to_string()),
        whole: told > 0 && distributions.len() == told,
        distributions: distributions.clone(),
        overlay: overlay.clone(),
        requires: requires.iter().map(|rule| rule.package.clone()).collect(),
        requires_anywhere: anywhere(&requires, &indexes),
        requires_all: required_in_full(&requires),
        extras: extras.clone(),
        indexes: indexes.clone(),
        variant: variant.clone(),
        searched: searched(&rpaths, &environment),
        template: template.clone(),
        artifacts: artifacts.iter().map(|rule| rule.name.value.clone()).collect(),
        needed: needed(&artifacts),
        all_artifacts: artifacts.len() == told_artifacts,
        artifacts_of: artifacts_of.clone().unwrap_or_default(),
        every_target_of: every_target_of.clone(),
        without_artifacts: without_artifacts.clone(),
    }));
    Some(Package {
        name: name?,
        kind: kind?,
        when,
        distributions,
        summary: summary?.value,
        readme,
        listing,
        license,
        template: template.map(|t| Spanned::new(t.value.into(), t.place))?,
        overlay,
        requires,
        requires_dist,
        extras,
        indexes,
        variant,
        artifacts_of: artifacts_of.unwrap_or_default(),
        artifacts,
        every_target_of,
        without_artifacts,
        without_components,
        includes,
        excludes,
        forbids,
        rpaths,
        aliases,
        libraries,
        scripts,
        environment,
        keep_links,
    })
}

/// Checks the distributions by themselves, and the summary that they share.
fn check_names(
    context: &Context<'_>,
    summary: Option<&Spanned<Template>>,
    distributions: &[Distribution],
) {
    check_modes(context, distributions);
    if let Some(summary) = summary {
        check_summary(context, summary, distributions);
    }
}

/// The packages that are required in some index at least.
fn anywhere(requires: &[RequireRule], indexes: &[IndexRule]) -> Vec<Spanned<PackageName>> {
    let of_indexes = indexes.iter().flat_map(|index| &index.requires);
    requires.iter().chain(of_indexes).map(|rule| rule.package.clone()).collect()
}

/// The packages of which every distribution is required.
fn required_in_full(requires: &[RequireRule]) -> Vec<PackageName> {
    requires.iter().filter(|rule| rule.all).map(|rule| rule.package.value.clone()).collect()
}

/// The artifacts that have to be there.
fn needed(artifacts: &[ArtifactRule]) -> Vec<ArtifactName> {
    let needed = artifacts.iter().filter(|rule| rule.optional.is_none());
    needed.map(|rule| rule.name.value.clone()).collect()
}

/// What is not there of what has to be; all of it is reported at once, with what to write.
fn missing(node: &mut Node<'_>) -> Vec<&'static str> {
    let lines = node.block();
    // Another word can have been written for the kind, which is reported there.
    let kind = !node.has("kind") && node.unknown_properties() == 0;
    let words = ["distribution", "summary", "license", "template"];
    let lacks = words.into_iter().filter(|word| lines.count(word) == 0);
    kind.then_some("kind").into_iter().chain(lacks).collect()
}

/// The kind that a package most likely is, by what it says.
fn likely(lines: &Block<'_>) -> PackageKind {
    let has = |word| lines.count(word) > 0;
    match (has("extra"), has("artifacts-of") || has("keep-link")) {
        (true, _) => PackageKind::Selector,
        (false, true) => PackageKind::Devel,
        (false, false) => PackageKind::Runtime,
    }
}

impl Scope<'_, '_> {
    /// Resolves packages that a line names, each of which may be given once.
    fn resolve_once(
        &self,
        names: &[Spanned<PackageName>],
        line: &'static str,
        kind: Option<PackageKind>,
        when: Condition,
    ) {
        for name in names {
            self.context.resolve(name, kind);
            self.give(line, name.as_str(), when, &name.place);
        }
    }

    fn required(&self, node: &mut Node<'_>) -> Option<RequireRule> {
        let name = node.argument("a package");
        let all = node.property::<Every>("offer").is_some();
        let when = node.condition();
        self.resolve_once(name.as_slice(), "requires", None, when);
        Some(RequireRule { package: name?, all, when })
    }

    fn requires_dist(&self, node: &mut Node<'_>) -> Vec<RequireDistRule> {
        let requirements = node.at_least_one::<Requirement>("a requirement");
        let when = node.condition();
        let rule = |requirement: Spanned<Requirement>| {
            self.give("requires-dist", requirement.as_str(), when, &requirement.place);
            RequireDistRule { requirement, when }
        };
        requirements.into_iter().map(rule).collect()
    }

    fn keep_links(&self, node: &mut Node<'_>) -> Vec<KeepLinkRule> {
        let paths = node.at_least_one::<RelPath>("a path");
        let when = node.condition();
        let rule = |path: Spanned<RelPath>| {
            self.give("keep-link", path.as_str(), when, &path.place);
            KeepLinkRule { path, when }
        };
        paths.into_iter().map(rule).collect()
    }

    fn artifacts_of(&self, node: &mut Node<'_>) -> Vec<Spanned<PackageName>> {
        let names = node.at_least_one("a package");
        self.resolve_once(&names, "artifacts-of", Some(PackageKind::Runtime), Condition::default());
        names
    }
}

fn searched(rpaths: &[RpathRule], environment: &[Environment]) -> Vec<Spanned<PackageName>> {
    let directories = environment.iter().flat_map(|e| &e.directories);
    rpaths.iter().chain(directories).map(|rule| rule.package.clone()).collect()
}

/// What else says what a misplaced line was meant to say.
fn instead(name: &str, kind: PackageKind) -> Option<&'static str> {
    (name == "exclude" && kind == PackageKind::Devel).then_some(
        "; to leave files out of every package, write `drop \"GLOB\" everywhere=#true \
         reason=\"WHY\"` at the top of the file",
    )
}

/// Reports the lines that mean nothing in a package of this kind.
fn refuse_misplaced(lines: &mut Block<'_>, kind: PackageKind) {
    for word in vocabulary::PACKAGE {
        if !word.kinds.contains(&kind) {
            let homes = either(word.kinds.iter().map(|k| k.word()));
            let message = format!("means nothing in a {} package", kind.word());
            let help = format!("`{}` belongs in a package of kind {homes}", word.name);
            let help = help + instead(word.name, kind).unwrap_or_default();
            lines.refuse(word.name, &message, &help);
        }
    }
}
