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
        for rule in package.artifacts.iter().filter(|rule| is_told(rule)) {
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

fn is_told(rule: &ArtifactRule) -> bool {
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
    let (with, without): (Vec<&ResolvedDist<'_>>, Vec<_>) =
        dists.iter().copied().partition(|dist| has_artifact(dist));
    let left_out = rule.subproject.as_ref().and_then(|part| families.subprojects.get(&part.value));
    let isas = without.iter().filter_map(|dist| dist.variant.as_str());
    let isas = isas.filter(|isa| !left_out.is_some_and(|l| l.iter().any(|i| i.as_str() == *isa)));
    let isas: Vec<String> = isas.map(str::to_owned).collect();
    (!with.is_empty() && !isas.is_empty()).then_some(isas)
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
            "build it for them too, or add them in families.kdl to `without` of subproject \"{}\"",
            part.value
        ),
        None => "build it for them too, or give a reason: optional=\"…\", or subproject=\"…\" \
            with a `subproject` of families.kdl"
            .to_owned(),
    };
    Problem::warning(Code::MissingArtifact, message)
        .label(&rule.name.place, "other ISAs of this build have it")
        .help(help)
        .of_fact(format!("{} {name} {component}", package.name.value))
}
