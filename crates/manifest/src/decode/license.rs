//! Licences of artifacts that no package takes.

use std::collections::HashSet;

use super::Faults;
use crate::{LicenseOf, Package};
use base::names::ArtifactName;
use base::source::{Code, Problem, nearest};

/// Reports terms of an artifact that no package takes, most likely a misspelt name.
pub(super) fn check(faults: &Faults, licenses: &[LicenseOf], packages: &[Package]) {
    if packages.is_empty() || packages.iter().any(|package| !package.has_all_artifacts()) {
        return;
    }
    let artifacts =
        || packages.iter().flat_map(|package| &package.artifacts).map(|rule| &rule.name.value);
    let names: HashSet<&ArtifactName> = artifacts().collect();
    for license in licenses.iter().filter(|license| !names.contains(&license.artifact.value)) {
        let name = &license.artifact;
        let hint = nearest(name.as_str(), artifacts().map(ArtifactName::as_str))
            .map(|n| format!("; did you mean `{n}`?"))
            .unwrap_or_default();
        let problem = Problem::error(
            Code::IdleLicense,
            format!("`license-of` names artifact `{}`, which no package takes", name.value),
        );
        faults.report(
            problem
                .label(&name.place, format!("no package uses this licence{hint}"))
                .help("correct the name, or remove the line"),
        );
    }
}
