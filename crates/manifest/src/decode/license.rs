//! `license` and `license-of`: the terms that packages and artifacts are under.

use super::outline::Outline;
use super::{Block, Context, Faults, Node};
use crate::{LicenseError, LicenseExpression, LicenseOf, reader::Reason};
use base::names::ArtifactName;
use base::source::{Code, Problem, Spanned, nearest};
use base::target::Condition;

/// Reads the licence of a package. Whether it needs one, its artifacts say.
pub(super) fn of_package(lines: &mut Block<'_>) -> Option<Spanned<LicenseExpression>> {
    lines.at_most_once("license", |n| n.argument::<LicenseExpression>("an SPDX expression"))
}

pub(super) fn of_artifact<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<LicenseOf> {
    let artifact = node.argument::<ArtifactName>("an artifact");
    let license = node.required::<LicenseExpression>("spdx");
    if let Some(artifact) = &artifact {
        context.give("license-of", artifact.as_str(), Condition::default(), &artifact.place);
    }
    Some(LicenseOf { artifact: artifact?, license: license? })
}

/// Terms of an artifact that no package takes are most likely a misspelt name's.
pub(super) fn check(faults: &Faults, licenses: &[LicenseOf], outlines: &[Outline]) {
    if outlines.is_empty() || outlines.iter().any(|outline| !outline.all_artifacts) {
        return;
    }
    let taken = || outlines.iter().flat_map(|outline| &outline.artifacts);
    for license in
        licenses.iter().filter(|license| !taken().any(|name| *name == license.artifact.value))
    {
        let name = &license.artifact;
        let hint = nearest(name.as_str(), taken().map(ArtifactName::as_str))
            .map(|n| format!("; did you mean `{n}`?"))
            .unwrap_or_default();
        let problem = Problem::error(
            Code::IdleLicense,
            format!("no package takes artifact `{}`", name.value),
        );
        faults.report(
            problem
                .label(&name.place, format!("its terms say nothing of any package{hint}"))
                .help("correct the name, or remove the line"),
        );
    }
}

impl Reason for LicenseError {
    fn message(&self) -> String {
        format!("`{}` is not an SPDX licence expression", self.text)
    }

    fn label(&self) -> String {
        self.reason.clone()
    }

    fn help(&self) -> Option<String> {
        Some(self.remedy.clone())
    }
}
