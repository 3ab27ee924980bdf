use serde::Serialize;

use super::landing::Planned;
use super::{InDistribution, Part, Rule};
use crate::resolve::closure::{Closure, LoadedFile, Need, Resolved};
use crate::{Plan, Step};
use base::names::{DistName, RelPath};
use catalog::{ArtifactId, Catalog};
use manifest::Manifest;

/// A needed library (`DT_NEEDED`).
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Needed {
    /// Name in the file.
    pub library: String,
    /// Result of the search.
    #[serde(flatten)]
    pub found: Whereabouts,
    /// Further files of this name in searched directories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<At>,
}

/// A file of a distribution.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct At {
    /// Distribution.
    pub distribution: DistName,
    /// Path relative to site-packages.
    pub path: RelPath,
}

/// Result of the search.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "resolved", rename_all = "kebab-case")]
pub enum Whereabouts {
    /// File that is always installed together with this one.
    Member(At),
    /// Found only by the search path of a file that loads this one.
    ThroughLoader {
        /// The library.
        #[serde(flatten)]
        library: At,
        /// A file that loads this one.
        loader: At,
    },
    /// File that no requirement installs together with this one.
    Luck(At),
    /// Provided by the system.
    System {
        /// Declaring rule.
        rule: Rule,
    },
    /// Part of Windows or of the interpreter.
    Windows,
    /// Missing, as a rule allows.
    Missing {
        /// Rule.
        rule: Rule,
    },
    /// Missing.
    Unresolved {
        /// Files of this name in directories that are not searched.
        shipped: Vec<At>,
        /// Artifacts that have the library.
        artifacts: Vec<ArtifactId>,
    },
}

/// Adds the needed libraries of each shipped file that loads some.
pub(super) fn add(
    manifest: &Manifest,
    catalog: &Catalog,
    (plan, planned): (&Plan, &Planned<'_>),
    distributions: &mut [InDistribution],
) {
    let loads =
        |step: &Step| matches!(step, Step::Copy { .. } | Step::Relink { .. } | Step::Alias { .. });
    let mut landings = distributions.iter().flat_map(|d| &d.lands);
    if !landings.any(|l| {
        l.part != Part::Licenses && (l.elf.is_some() || matches!(l.member.step, Step::Alias { .. }))
    }) {
        return; // because the closure of a whole plan is expensive
    }
    let closure = Closure::new(manifest, catalog, &plan.distributions);
    for explained in distributions {
        let key = (explained.name.as_str(), explained.variant.as_deref());
        let Some(planned) = planned.get(&key) else {
            continue;
        };
        for landing in
            explained.lands.iter_mut().filter(|l| l.part != Part::Licenses && loads(&l.member.step))
        {
            landing.needs = closure.needs(planned, &landing.member.path).map(needed).collect();
        }
    }
}

fn needed(need: Need<'_>) -> Needed {
    let whereabouts = match need.resolved {
        Resolved::Member(found) => Whereabouts::Member(location(&found)),
        Resolved::ThroughLoader { found, loader } => {
            Whereabouts::ThroughLoader { library: location(&found), loader: location(&loader) }
        }
        Resolved::Luck(found) => Whereabouts::Luck(location(&found)),
        Resolved::System(rule) => Whereabouts::System { rule: Rule::from_place(&rule.name.place) },
        Resolved::Windows => Whereabouts::Windows,
        Resolved::Missing(rule) => {
            Whereabouts::Missing { rule: Rule::from_place(&rule.name.place) }
        }
        Resolved::Unresolved { shipped, artifacts, in_the_way } => Whereabouts::Unresolved {
            shipped: shipped.iter().chain(&in_the_way).map(location).collect(),
            artifacts: artifacts.iter().map(|a| a.artifact.clone()).collect(),
        },
    };
    Needed {
        library: need.library.to_owned(),
        found: whereabouts,
        others: need.others.iter().map(location).collect(),
    }
}

fn location(found: &LoadedFile<'_>) -> At {
    At { distribution: found.distribution.name.clone(), path: found.member.path.clone() }
}
