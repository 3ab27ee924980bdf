use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Distribution, Member, Plan};
use base::names::{ArtifactName, DistName, RelPath};
use base::source::{Code, Problem, Problems};
use base::version::Version;
use manifest::{Manifest, Package, PackageKind, RequireRule};

/// Facts about earlier packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Since {
    /// Versions of earlier packages, by normalized name.
    pub versions: BTreeMap<String, Version>,
    /// SHA-256 of files that a package must match, by its normalized name.
    pub compatible: BTreeMap<String, String>,
}

/// A package that an earlier night published, and that this set refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EarlierPackage {
    /// Name on the index.
    pub name: DistName,
    /// Version of the earlier night.
    pub version: Version,
    /// File name.
    pub file: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// SHA-256 of its content, without its own version.
    pub content: String,
}

/// True if other versions of the required package suffice, within [`Since::compatible`].
pub(crate) fn is_compatible(package: &Package, rule: &RequireRule) -> bool {
    let is_over = || package.overlay.as_ref().is_some_and(|it| it.value == rule.package.value);
    package.kind == PackageKind::Runtime && (rule.compatible.is_some() || is_over())
}

/// Files of required packages that each package of the complete `plan` must match, by normalized
/// name.
///
/// # Errors
///
/// For patterns without a match.
pub fn matched<'p>(
    manifest: &Manifest,
    plan: &'p Plan,
) -> Result<BTreeMap<String, Vec<&'p Member>>, Problems> {
    let (mut matched, mut problems) = (BTreeMap::new(), Problems::new());
    for distribution in &plan.distributions {
        let Some(package) = manifest.packages.get(&distribution.package) else { continue };
        let rules = package.requires.iter().filter(|rule| is_compatible(package, rule));
        for rule in rules {
            let required = plan.distributions.iter().filter(|other| {
                other.package == rule.package.value
                    && (other.variant.is_none() || other.variant == distribution.variant)
            });
            let files: Vec<&Member> =
                required.flat_map(|other| files(distribution, rule, other)).collect();
            if let Some(glob) = rule.compatible.as_ref().filter(|_| files.is_empty()) {
                let message = format!("no file of `{}` matches", rule.package.value);
                let problem = Problem::error(Code::MatchesNothing, message);
                let problem = problem.label(&glob.place, "of this pattern");
                problems.push(problem.help("write installed paths, such as lib/libNAME.so*"));
            }
            let members: &mut Vec<&Member> =
                matched.entry(distribution.name.normalized()).or_default();
            members.extend(files);
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(matched) }
}

fn files<'p>(own: &Distribution, rule: &RequireRule, other: &'p Distribution) -> Vec<&'p Member> {
    let artifact = |member: &Member| member.step.source().map(|it| it.artifact.name.clone());
    let artifacts: BTreeSet<ArtifactName> = own.all_members().filter_map(artifact).collect();
    let below = other.platform_dir.as_ref().map(RelPath::from);
    let is_meant = |member: &&Member| match &rule.compatible {
        None => artifact(member).is_some_and(|name| artifacts.contains(&name)),
        Some(glob) => {
            let path = below.as_ref().and_then(|below| member.path.below(below));
            member.step.source().is_some() && path.is_some_and(|path| glob.matches(&path))
        }
    };
    other.members.iter().filter(is_meant).collect()
}
