use super::resolved_dist::ResolvedDist;
use super::targets::Targets;
use crate::{NULL, Provider, Variants, WheelVariant};
use base::names::{NameError, System};
use base::target::{Per, Variant};
use manifest::VariantRule;

pub(super) fn labelled(dist: &ResolvedDist<'_>) -> Option<WheelVariant> {
    let (rule, labelled) = (dist.package.variant.as_ref()?, dist.labelled.as_ref()?);
    let value = labelled.target.as_ref().and_then(Variant::as_str);
    let property = value.map(|value| (&*rule.namespace, &*rule.feature, value));
    let json = empty_variants(rule).with_variant(labelled.label.clone(), property).text();
    Some(WheelVariant { label: labelled.label.clone(), json })
}

/// Text that lists the variants of both systems: an index has one such file per version.
pub(super) fn list(
    targets: &Targets,
    dist: &ResolvedDist<'_>,
) -> Result<Option<String>, NameError> {
    let Some(rule) = dist.package.variant.as_ref().filter(|_| dist.labelled.is_none()) else {
        return Ok(None);
    };
    let published = System::ALL.iter().filter_map(|system| targets.published.get(system));
    let mut variants = empty_variants(rule).with_variant(NULL.parse()?, None);
    for isa in published.flatten() {
        let label = rule.label.fill(&Variant::Of(Per::Isa, isa.clone())).parse()?;
        variants = variants.with_variant(label, Some((&rule.namespace, &rule.feature, isa)));
    }
    Ok(Some(variants.text()))
}

/// Variants with the provider of the rule and without labels.
fn empty_variants(rule: &VariantRule) -> Variants {
    Variants::new(Provider {
        namespace: &rule.namespace,
        requires: rule.provider.as_str(),
        plugin: &rule.plugin,
    })
}
