//! Packages of a set that an earlier night published with the same content.

use std::collections::{BTreeMap, BTreeSet};

use base::names::{Form, Requirement};
use plan::{Distribution, EarlierPackage, Plan};
use record::Published;
use record::content::PackageContent;

/// Decision about a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The package is built.
    New {
        /// Content digest; `None` for an sdist and for equal names.
        content: Option<String>,
        reason: String,
    },
    /// Package of an earlier night.
    Earlier(EarlierPackage),
}

/// Decides about each distribution of the complete `plan`; `contents` are in its order. `published`
/// has the newest earlier packages by normalized name.
///
/// A package is new if its content is, or its requirements exclude a package of the set.
pub fn verdicts(
    plan: &Plan,
    contents: &[Option<PackageContent>],
    published: &BTreeMap<String, Published>,
) -> Vec<Verdict> {
    let mut reasons: Vec<Option<String>> = plan
        .distributions
        .iter()
        .zip(contents)
        .map(|(distribution, content)| reason(plan, distribution, content.as_ref(), published))
        .collect();
    while let Some((index, reason)) = excluded(plan, &reasons, published) {
        reasons[index] = Some(reason);
    }
    let decisions = plan.distributions.iter().zip(contents).zip(reasons);
    decisions
        .map(|((distribution, content), reason)| {
            let name = distribution.name.normalized();
            let digest = content
                .as_ref()
                .filter(|_| is_alone(plan, distribution))
                .map(PackageContent::digest);
            match (reason, published.get(&name), digest) {
                (None, Some(earlier), Some(content)) => Verdict::Earlier(EarlierPackage {
                    name: distribution.name.clone(),
                    version: earlier.version.clone(),
                    file: earlier.file.clone(),
                    size: earlier.size,
                    content,
                }),
                (reason, _, content) => {
                    Verdict::New { content, reason: reason.unwrap_or_default() }
                }
            }
        })
        .collect()
}

fn reason(
    plan: &Plan,
    distribution: &Distribution,
    content: Option<&PackageContent>,
    published: &BTreeMap<String, Published>,
) -> Option<String> {
    if !is_of_one_package(distribution) {
        return Some("it selects the packages of this set".to_owned());
    }
    let Some(content) = content else {
        return Some("its archive is compressed with xz".to_owned());
    };
    if !is_alone(plan, distribution) {
        return Some("several packages have this name".to_owned());
    }
    let Some(earlier) = published.get(&distribution.name.normalized()) else {
        return Some("no earlier package is known".to_owned());
    };
    let difference = content.difference(&earlier.content)?;
    Some(format!("{difference} since {}", earlier.version))
}

fn is_alone(plan: &Plan, distribution: &Distribution) -> bool {
    plan.distributions.iter().filter(|candidate| candidate.name == distribution.name).count() == 1
}

/// False for packages without files, which only require others.
fn is_of_one_package(distribution: &Distribution) -> bool {
    distribution.form == Form::Wheel && distribution.platform_dir.is_some()
}

/// The first earlier package whose requirements exclude another package of the set.
fn excluded(
    plan: &Plan,
    reasons: &[Option<String>],
    published: &BTreeMap<String, Published>,
) -> Option<(usize, String)> {
    let names = plan.distributions.iter().map(|distribution| distribution.name.normalized());
    let earlier: BTreeSet<String> = names
        .clone()
        .zip(reasons)
        .filter(|(_, reason)| reason.is_none())
        .map(|(name, _)| name)
        .collect();
    let version = |name: &str| {
        let published_version = || published.get(name).map(|earlier| &earlier.version);
        if earlier.contains(name) {
            published_version().unwrap_or(&plan.version)
        } else {
            &plan.version
        }
    };
    names.enumerate().filter(|(index, _)| reasons[*index].is_none()).find_map(|(index, name)| {
        let pins = published.get(&name)?.content.pins();
        let excluded = pins.iter().find_map(|text| {
            let requirement: Requirement = text.parse().ok()?;
            let accepts = requirement.versions.as_ref()?;
            let candidate = version(&requirement.name);
            let accepts =
                candidate.as_str().parse().is_ok_and(|candidate| accepts.contains(&candidate));
            (!accepts).then(|| format!("it requires {text}, and {candidate} is in the set"))
        })?;
        Some((index, excluded))
    })
}
