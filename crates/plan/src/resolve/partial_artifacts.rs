//! Warnings of artifacts that a build has for only some of its ISAs.

use super::resolved_dist::{Dists, ResolvedDist};
use base::names::Component;
use base::source::{Code, Problem, Problems};
use base::target::Per;
use catalog::{ArtifactId, Catalog};
use manifest::{ArtifactRule, Families, Manifest, Package};

/// Warns of artifacts that some ISAs lack, unless families.kdl excludes the subproject for them.
pub(super) fn check(manifest: &Manifest, catalog: &Catalog, all: &Dists<'_>) -> Problems {
    let mut problems = Problems::new();
    for package in manifest.packages.values() {
        let dists: Vec<&ResolvedDist<'_>> = all
            .of_package(&package.name.value)
            .iter()
            .copied()
            .filter(|dist| {
                *dist.variant.per() == Per::Isa
                    && !dist
                        .variant
                        .as_str()
                        .is_some_and(|t| manifest.families.levels.contains_key(t))
            })
            .collect();
        for rule in package.artifacts.iter().filter(|rule| must_be_for_all_isas(rule)) {
            for component in &rule.components {
                let lacking = lacking(&manifest.families, catalog, &dists, rule, component.value);
                if let Some(isas) = lacking {
                    problems.push(warning(package, rule, component.value, &isas));
                }
            }
        }
    }
    problems
}

/// Returns whether the absence of the artifact for some ISAs needs a reason.
fn must_be_for_all_isas(rule: &ArtifactRule) -> bool {
    // `optional` alone is the reason of every absence; a subproject has a list of ISAs to compare with.
    rule.optional.is_none() || rule.subproject.is_some()
}

fn lacking(
    families: &Families,
    catalog: &Catalog,
    dists: &[&ResolvedDist<'_>],
    rule: &ArtifactRule,
    component: Component,
) -> Option<Vec<String>> {
    let has_artifact = |dist: &ResolvedDist<'_>| {
        let mut artifacts = catalog.artifacts.iter().map(|artifact| &artifact.id);
        let above = dist.variant.as_str().map(|isa| families.above(isa)).unwrap_or_default();
        let fits =
            |id: &ArtifactId| dist.fits(id) || above.contains(&families.target_of(&id.family));
        artifacts.any(|id| id.name == *rule.name && id.component == component && fits(id))
    };
    let (having, lacking): (Vec<&ResolvedDist<'_>>, Vec<_>) =
        dists.iter().copied().partition(|dist| has_artifact(dist));
    let excluded_isas =
        rule.subproject.as_ref().and_then(|part| families.subprojects.get(&part.value));
    let isas = lacking.iter().filter_map(|dist| dist.variant.as_str());
    let isas = isas.filter(|isa| {
        !excluded_isas.is_some_and(|list| list.iter().any(|item| item.as_str() == *isa))
    });
    let isas: Vec<String> = isas.map(str::to_owned).collect();
    (!having.is_empty() && !isas.is_empty()).then_some(isas)
}

fn warning(
    package: &Package,
    rule: &ArtifactRule,
    component: Component,
    isas: &[String],
) -> Problem {
    let (name, isas) = (&rule.name.value, isas.join(", "));
    let message = format!(
        "package `{}` has no files of artifact `{name}` ({component}) for {isas}",
        package.name.value
    );
    let help = match &rule.subproject {
        Some(part) => format!(
            "build the artifact for these ISAs, or add them to `without` of subproject \"{}\" in families.kdl",
            part.value
        ),
        None => "build the artifact for these ISAs, or write in this line optional=\"REASON\", or \
            subproject=\"NAME\" of a `subproject` in families.kdl"
            .to_owned(),
    };
    Problem::warning(Code::MissingArtifact, message)
        .label(&rule.name.place, "other ISAs of this build have it")
        .help(help)
        .of_fact(format!("{} {name} {component}", package.name.value))
}
