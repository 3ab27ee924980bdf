use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ArtifactId;
use base::names::{ArtifactName, Component, Mode, PackageName, System};
use base::source::Problems;

/// Rules that decide which artifacts packages need. The planner has them; a store without a listing asks for them.
pub trait Demand: Sync {
    /// The needed part of `existing`.
    fn needed(&self, existing: &[ArtifactId]) -> Needed;

    /// All artifacts that packages of the requested targets could take; `None` if no target is requested.
    fn possible(&self) -> Option<Vec<ArtifactId>>;
}

/// Needed and missing artifacts.
#[derive(Debug)]
pub struct Needed {
    /// Possible modes; `artifacts` covers all.
    pub modes: Vec<Mode>,
    /// System of the packages.
    pub system: System,
    /// Needed artifacts with the packages that take them; none if only a rule must match.
    pub artifacts: BTreeMap<ArtifactId, BTreeSet<PackageName>>,
    /// Missing components.
    pub missing: Vec<Missing>,
    /// All problems.
    pub problems: Problems,
}

/// A required artifact that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Missing {
    /// Name.
    pub artifact: ArtifactName,
    /// Component; `None` if any one would suffice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<Component>,
    /// Package that takes it.
    pub package: PackageName,
    /// Rule: `packages.kdl:12`.
    pub rule: String,
}
