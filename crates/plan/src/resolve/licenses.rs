//! Licence texts and expression. Each artifact with a file in the package or its devel archive
//! contributes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::describe::{EVERY, is_license, render};
use super::install_tree::Item;
use super::resolved_dist::ResolvedDist;
use super::runtime_data;
use crate::{Distribution, Form, Member, Plan, Step, Templates};
use base::names::{ArtifactName, DistName, RelPath};
use base::source::{Code, Problem};
use catalog::{Catalog, EntryKind};
use manifest::{LicenseExpression, Manifest, Package};

/// Licence of the Python sources in every package.
const SOURCES_LICENSE: &str = env!("CARGO_PKG_LICENSE");

pub(super) type LicenseTexts<'a> = HashMap<&'a ArtifactName, Vec<Item<'a>>>;

pub(super) fn texts<'a>(manifest: &Manifest, catalog: &'a Catalog) -> LicenseTexts<'a> {
    let items = catalog
        .artifacts
        .iter()
        .flat_map(|artifact| artifact.entries.iter().map(move |entry| Item { artifact, entry }));
    let mut texts = LicenseTexts::new();
    for item in items.filter(|item| {
        matches!(item.entry.kind, EntryKind::File { .. })
            && runtime_data::is_license(manifest, item.entry)
    }) {
        texts.entry(&item.artifact.id.name).or_default().push(item);
    }
    texts
}

/// Declared licences; the first of an artifact counts.
pub(super) fn by_artifact(manifest: &Manifest) -> HashMap<&ArtifactName, &LicenseExpression> {
    let mut licenses = HashMap::new();
    for of in &manifest.project.licenses {
        licenses.entry(&of.artifact.value).or_insert(&of.license.value);
    }
    licenses
}

pub(super) fn shipped(distribution: &Distribution) -> BTreeSet<&ArtifactName> {
    let archived = distribution.archive.iter().flat_map(|archive| &archive.members);
    let sources =
        distribution.members.iter().chain(archived).filter_map(|member| member.step.source());
    sources.map(|source| &source.artifact.name).collect()
}

pub(super) fn files(
    texts: &LicenseTexts<'_>,
    templates: &Templates,
    dist: &ResolvedDist<'_>,
    shipped: &BTreeSet<&ArtifactName>,
) -> Vec<Member> {
    let template = templates.get(dist.package.template()).into_iter().flatten();
    let template_texts = template.filter(|(path, _)| is_license(path));
    let mut members: BTreeMap<RelPath, Member> = template_texts
        .map(|(path, text)| (path.clone(), render(path.clone(), text.clone())))
        .collect();
    let texts = shipped.iter().filter_map(|name| texts.get(name)).flatten();
    for item in texts.filter(|item| dist.sees(&item.artifact.id)) {
        let (path, step) = (item.entry.path.clone(), Step::Copy { source: item.origin() });
        let member = Member {
            path: path.clone(),
            step,
            executable: false,
            size: item.entry.size(),
            rule: EVERY.into(),
        };
        members.entry(path).or_insert(member);
    }
    members.into_values().collect()
}

/// Fails if the expression must be composed and an artifact has no licence.
pub(super) fn expression(
    licenses: &HashMap<&ArtifactName, &LicenseExpression>,
    package: &Package,
    shipped: &BTreeSet<&ArtifactName>,
) -> Result<String, Box<Problem>> {
    if let Some(license) = &package.license {
        return Ok(license.value.to_string());
    }
    let license_of = |name: &ArtifactName| licenses.get(name).copied();
    let undeclared: Vec<&str> = shipped
        .iter()
        .filter(|name| license_of(name).is_none())
        .map(|name| name.as_str())
        .collect();
    if let Some(first) = undeclared.first() {
        let problem =
            Problem::error(Code::UndeclaredLicense, format!("the licence of package `{}` is \
                incomplete", package.name.value))
                .label(&package.name.place, format!("no licence is given for {}", undeclared.join(", ")))
                .help(format!("add `license-of \"{first}\" spdx=\"…\"` to `common`, or a `license` line to the package"));
        return Err(Box::new(problem.of_fact(package.name.value.to_string())));
    }
    let own_license: Option<LicenseExpression> = SOURCES_LICENSE.parse().ok();
    let parts = shipped.iter().filter_map(|name| license_of(name)).chain(&own_license);
    Ok(LicenseExpression::all_of(parts).unwrap_or_else(|| SOURCES_LICENSE.to_owned()))
}

/// Artifacts without a licence text, with their wheels.
pub fn without_license_text(plan: &Plan) -> BTreeMap<&ArtifactName, Vec<&DistName>> {
    let mut lacking: BTreeMap<&ArtifactName, Vec<&DistName>> = BTreeMap::new();
    for distribution in plan.distributions.iter().filter(|d| d.form == Form::Wheel) {
        let with_text: BTreeSet<_> = distribution
            .licenses
            .iter()
            .filter_map(|text| text.step.source())
            .map(|s| &s.artifact.name)
            .collect();
        for name in shipped(distribution).difference(&with_text) {
            lacking.entry(name).or_default().push(&distribution.name);
        }
    }
    lacking
}
